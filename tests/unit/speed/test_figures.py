"""The arithmetic of the speed benchmark, and its table."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.speed.engine import LIMIT, reciprocal_ranks
from benchmarks.speed.engines import INT8, OURS, PEERS, PHYSICAL
from benchmarks.speed.figures import cell, ratios, right
from benchmarks.speed.measure import FILLING, FIRST_OF_ALL, FRESH, MANY, ONE
from benchmarks.speed.plots import STYLES, Line, file_name, label, series
from benchmarks.speed.rows import ROWS
from benchmarks.speed.table import columns, lines, markdown, multiple, notes, number, shown

ROW: dict[str, dict[str, Any]] = {
    OURS: {"p50": 2.0, "p95": 3.0, "n": 10},
    PHYSICAL: {"p50": 0.5, "p95": 1.0, "n": 10},
    INT8: {"p50": 0.05, "p95": 0.1, "n": 10, "recall": 0.99},
    "chroma": {"p50": 0.1, "p95": 0.2, "n": 10, "aside": "unranked"},
    "lancedb": {"p50": 4.0, "p95": 4.0, "n": 10, "recall": 0.9},
    "sqlite-vec": {"p50": 1.0, "p95": 6.0, "n": 10},
    "langgraph": {"reason": "no words"},
}
WRITTEN: dict[str, Any] = {
    "size": 1000,
    "users": 10,
    "versions": dict.fromkeys(ROW, "1"),
    "skipped": {"other": "not installed"},
    "rows": {"recall": ROW, "as of": {OURS: {"p50": 1.0, "p95": 1.0, "n": 5, "to_now": 1.25}}},
    "parts": {OURS: {"vectors": 512.0, "log": 100.0, "rest": 0.1}},
}


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_p95_is_no_less_than_p50(numbers: list[float]) -> None:
    found = cell(numbers, unit="bytes")
    assert min(numbers) <= found["p50"] <= max(numbers)
    assert found["p95"] >= found["p50"] or len(numbers) == 2
    assert found["n"] == len(numbers)
    assert found["unit"] == "bytes"


def test_the_best_peer_is_neither_ours_nor_bare_nor_aside() -> None:
    """And may be another one at p95."""
    assert ratios(ROW, "p50", OURS, PHYSICAL, INT8) == ("sqlite-vec", 2.0, 4.0, 40.0)
    assert ratios(ROW, "p95", OURS, PHYSICAL, INT8) == ("lancedb", 0.75, 3.0, 30.0)


def test_without_ours_or_without_peers_there_is_no_ratio() -> None:
    nothing = (None, None, None, None)
    assert ratios({"lancedb": ROW["lancedb"], INT8: ROW[INT8]}, "p50", OURS, PHYSICAL, INT8) == ("lancedb", None, None, None)
    assert ratios({OURS: ROW[OURS]}, "p50", OURS, PHYSICAL, INT8) == nothing
    assert ratios({OURS: ROW[OURS], PHYSICAL: {"p50": 0.0, "n": 1}}, "p50", OURS, PHYSICAL, INT8) == nothing


def test_right_answers_are_counted_whatever_their_order() -> None:
    assert right([[3, 2, 1]], [[1, 2, 3]]) == 1
    assert right([[1, 9], [9, 8]], [[1, 2], [3, 4]]) == 0.25
    assert right([[]], [[]]) == 1
    assert right([[1]], [[1], [2]]) == 1


def test_reciprocal_ranks_take_the_best_of_both() -> None:
    one = [(number, str(number)) for number in range(20)]
    assert reciprocal_ranks([one, one]) == one[:LIMIT]
    assert reciprocal_ranks([[(1, "a"), (2, "b")], [(3, "c"), (2, "b")]])[0] == (2, "b")
    assert reciprocal_ranks([[], []]) == []


def test_a_row_of_the_table() -> None:
    heads, (first, second) = columns(WRITTEN), lines(WRITTEN)
    assert len(heads) == len(first) == len(second)
    by_head = dict(zip(heads, first, strict=True))
    assert by_head[OURS] == "2 / 3"
    assert by_head["chroma"] == "(0.1 / 0.2)"
    assert by_head["langgraph"] == "-"
    assert by_head["to the best peer"] == "2.00 / 0.75 (sqlite-vec)"
    assert by_head["to the int8 pass"] == "40"
    assert by_head["recall@10 below 1"] == "int8 0.99, lancedb 0.9"
    assert INT8 not in heads, "its figure is in a note"
    assert dict(zip(heads, second, strict=True))["to the best peer"] == "1.25 to now"


def test_a_file_without_an_int8_pass_has_no_such_column() -> None:
    before = {**WRITTEN, "versions": {name: "1" for name in ROW if name != INT8}, "rows": {"recall": {OURS: ROW[OURS]}}}
    assert "to the int8 pass" not in columns(before)
    assert [len(cells) for cells in lines(before)] == [len(columns(before))]


def test_what_is_not_of_this_run_or_no_store_is_told() -> None:
    found = notes({**WRITTEN, "kept": {OURS: "2026-01-02", "lancedb": "2026-01-02", "chroma": "2026-01-01"}})
    assert f"{INT8}: 0.05 / 0.1 ms in recall, the pass alone by 1; approximate, and a reference only" in found
    assert f"filled on 2026-01-02 and kept since, figures of filling included: {OURS}, lancedb" in found
    assert "filled on 2026-01-01 and kept since, figures of filling included: chroma" in found


def test_what_is_left_out_says_why() -> None:
    found = notes(WRITTEN)
    assert "other: skipped, not installed" in found
    assert "langgraph is left out in recall: no words" in found
    assert "chroma is in brackets in recall: unranked" in found
    assert f"{OURS}, bytes a record: vectors 512, log 100" in found
    assert all(note in markdown(WRITTEN) for note in found)


def test_numbers_have_three_digits() -> None:
    assert [number(value) for value in (1234.5, 12.345, 0.012345)] == ["1,234", "12.3", "0.0123"]
    assert multiple(1.234, None, 45.6) == "1.23 / 46"
    assert shown(None) == "-"
    assert shown({"p50": 5.0, "p95": 5.0, "n": 1}) == "5"


def test_pictures_have_a_line_per_store_by_size() -> None:
    runs = [
        {"size": size, "users": 10, "rows": {"recall, one user": {OURS: cell([float(size)]), "chroma": {"reason": "x"}}}}
        for size in (20, 10)
    ]
    assert series(runs) == {"recall, one user": {Line(OURS, 10): [(10, 10.0, 10.0), (20, 20.0, 20.0)]}}
    runs[0]["users"] = 5
    assert set(series(runs)["recall, one user"]) == {Line(OURS, 5), Line(OURS, 10)}
    assert series([WRITTEN])["recall"].keys() >= {Line("chroma", 10, aside=True), Line(INT8, 10)}


def test_lines_are_named_as_the_table_names_them() -> None:
    assert label(Line("chroma", 1000, aside=True), several=False) == "(chroma)"
    assert label(Line(OURS, 1000), several=True) == f"{OURS}, 1,000 users"


def test_every_row_has_a_picture_of_its_own_and_every_store_a_style() -> None:
    """The names of files are made of the row alone."""
    rows = [*ROWS, *FIRST_OF_ALL, FILLING, FRESH, MANY, ONE]
    assert file_name("filter 1 %, by lot") == "speed-filter-1-by-lot.png"
    assert len({file_name(what) for what in rows}) == len(rows)
    assert STYLES.keys() == {OURS, PHYSICAL, INT8, *PEERS}
    assert max(STYLES, key=lambda name: STYLES[name].width) == OURS
    assert len({style.marker for style in STYLES.values()}) == len(STYLES)


def test_peers_are_all_but_three() -> None:
    assert not {OURS, PHYSICAL, INT8} & set(PEERS)
    assert len(PEERS) == 4
