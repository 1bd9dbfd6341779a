"""What was found, as tables to read and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.quality.metrics import DEPTH, NAMES, Interval, bootstrap, paired
from benchmarks.quality.stores import PRIORS
from benchmarks.quality.ways import BM25, HYBRID, RERANKED, SEMANTIC, SPACES, WORDS, Results

WITH_INTERVAL = ("any@5", "recall@10", "nDCG@10")
"""The measures that decide; the others are printed without their intervals, which the file has."""


def comparisons(results: Results) -> Iterator[tuple[str, str, Interval]]:
    """Differences of two ways on the same questions, where both were asked: what is compared, by which measure, by how much."""
    values = results.values
    if {WORDS, SEMANTIC} <= values.keys():
        for measure in WITH_INTERVAL:
            better = max((WORDS, SEMANTIC), key=lambda way: float(values[way][measure].mean()))
            yield from _difference(results, HYBRID, better, measure, f"{HYBRID} - better channel ({better})")
    for way in values:
        if way.startswith("reciprocal"):
            yield from _difference(results, HYBRID, way, "nDCG@10")
    for way in RERANKED:
        yield from _difference(results, way, HYBRID, "nDCG@10")
    yield from _difference(results, HYBRID, BM25, "recall@10")
    yield from _difference(results, BM25, SPACES, "recall@10")
    for mode in (HYBRID, SEMANTIC):
        for prior in PRIORS:
            yield from _difference(results, f"{mode} + {prior}", mode, f"recall@{DEPTH}")
        for way in values:
            if way.startswith(f"{mode}, context"):
                yield from _difference(results, way, mode, "nDCG@10")
        yield from _difference(results, mode, f"{mode}, no windows", "nDCG@10")


def _difference(results: Results, one: str, other: str, measure: str, what: str = "") -> Iterator[tuple[str, str, Interval]]:
    values = results.values
    if one in values and other in values:
        yield what or f"{one} - {other}", measure, paired(values[one][measure], values[other][measure])


def show(console: Console, results: Results) -> None:
    """Print a set's two tables."""
    asked = results.asked
    title = f"{asked.name}: {len(asked.documents)} documents, {len(asked.questions)} questions"
    table = Table(title=f"{title}; percent, with 95 % bootstrap intervals", title_justify="left")
    table.add_column("way", no_wrap=True)
    for name in NAMES:
        table.add_column(name, justify="right", no_wrap=True)
    for way, values in results.values.items():
        cells = [with_interval(bootstrap(values[name])) if name in WITH_INTERVAL else f"{values[name].mean():.1f}" for name in NAMES]
        table.add_row(way, *map(Text, cells), style="bold" if way == HYBRID else None)
    console.print(table)
    table = Table(title=f"{asked.name}: differences in points, question by question", title_justify="left")
    table.add_column("what")
    table.add_column("measure")
    table.add_column("difference", justify="right", no_wrap=True)
    for what, measure, interval in comparisons(results):
        table.add_row(what, measure, Text(with_interval(interval, sign="+")))
    console.print(table)
    for line in _delays(results.milliseconds):
        console.print(line, markup=False)


def _delays(milliseconds: dict[str, float]) -> Iterator[str]:
    """What a second look costs; of a machine that may have had other things to do."""
    for way in RERANKED:
        if way in milliseconds and HYBRID in milliseconds:
            extra = milliseconds[way] - milliseconds[HYBRID]
            yield f"{way}: {extra:.0f} ms a question more than {HYBRID} ({milliseconds[HYBRID]:.1f} ms), medians of one run"


def with_interval(interval: Interval, *, sign: str = "") -> str:
    """A number with its interval."""
    mean, low, high = (f"{number:{sign}.1f}" for number in interval)
    return f"{mean} [{low}, {high}]"


def as_json(results: Results) -> dict[str, Any]:
    """Everything, without the numbers of single questions."""
    return {
        "set": results.asked.name,
        "documents": len(results.asked.documents),
        "questions": len(results.asked.questions),
        "peers": results.versions,
        "milliseconds": results.milliseconds,
        "ways": {way: {name: bootstrap(values[name])._asdict() for name in NAMES} for way, values in results.values.items()},
        "differences": [{"what": what, "measure": measure, **interval._asdict()} for what, measure, interval in comparisons(results)],
    }


def markdown(written: dict[str, Any]) -> str:
    """A set of the file as the tables of the readme."""
    lines = [f"**{written['set']}**, {written['documents']} documents, {written['questions']} questions", ""]
    lines += [f"| way | {' | '.join(NAMES)} |", f"|{'---|' * (len(NAMES) + 1)}"]
    for way, values in written["ways"].items():
        cells = [with_interval(Interval(**values[name])) if name in WITH_INTERVAL else f"{values[name]['mean']:.1f}" for name in NAMES]
        lines.append(f"| {way} | {' | '.join(cells)} |")
    lines += ["", "| difference in points | measure | |", "|---|---|---|"]
    for item in written["differences"]:
        interval = Interval(item["mean"], item["low"], item["high"])
        lines.append(f"| {item['what']} | {item['measure']} | {with_interval(interval, sign='+')} |")
    delays = list(_delays(written.get("milliseconds", {})))
    if delays:
        lines += ["", "; ".join(delays) + "."]
    return "\n".join(lines)
