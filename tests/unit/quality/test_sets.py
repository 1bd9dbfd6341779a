"""Sets are read as their formats say."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.sets import Question, discover, read_folder, read_locomo, read_memorybank

DATA = os.environ.get("INDELIBLE_DATA")


def write_lines(path: Path, *lines: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    "judgements",
    ["q1\td1\nq1\td3\n", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq1\td3\t1\n", "q1\t0\td1\t1\nq1\t0\td2\t0\nq1\t0\td3\t1\n"],
)
def test_judgements_in_two_three_or_four_columns(tmp_path: Path, judgements: str) -> None:
    """The same answers each time: a grade of 0 is none, a header is no judgement."""
    write_lines(tmp_path / "corpus.jsonl", *({"_id": f"d{number}", "text": f"text {number}"} for number in (1, 2, 3)))
    write_lines(tmp_path / "queries.jsonl", {"_id": "q1", "text": "which?"}, {"_id": "q2", "text": "unanswered?"})
    (tmp_path / "qrels.tsv").write_text(judgements, encoding="utf-8")
    found = read_folder(tmp_path)
    assert [document.id for document in found.documents] == ["d1", "d2", "d3"]
    assert found.questions == [Question("q1", "which?", {"d1": 1.0, "d3": 1.0})]
    assert not found.has_sessions
    assert not found.has_dates


def test_titles_dates_grades_and_abstentions(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "corpus.jsonl", {"docid": 7, "title": "Tea", "text": "is warm", "date": "2023/04/10 (Mon) 14:47", "role": "user"}
    )
    write_lines(
        tmp_path / "queries_clean.jsonl",
        {"qid": "a", "text": "tea?", "date": "2023-05-01"},
        {"qid": "b", "text": "no tea?", "abstention": True},
    )
    (tmp_path / "qrels.tsv").write_text("a\t0\t7\t2\nb\t0\t7\t1\na\t0\tgone\t1\n", encoding="utf-8")
    found = read_folder(tmp_path)
    (document,), (question,) = found.documents, found.questions
    assert (document.id, document.text, document.role, str(document.date)[:10]) == ("7", "Tea\nis warm", "user", "2023-04-10")
    assert (question.id, question.relevant, str(question.date)[:10]) == ("a", {"7": 2.0}, "2023-05-01")


def test_a_corpus_needs_questions_and_ids(tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", {"_id": "d", "text": "t"})
    (tmp_path / "qrels.tsv").write_text("q\td\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no queries"):
        read_folder(tmp_path)
    write_lines(tmp_path / "corpus.jsonl", {"number": "d", "text": "t"})
    with pytest.raises(ValueError, match="needs one of"):
        read_folder(tmp_path)


def test_locomo(tmp_path: Path) -> None:
    """Sessions in the order of their numbers, evidence in one cell or many, nothing of category 5."""
    turns = {number: [{"speaker": "Ann", "dia_id": f"D{number}:1", "text": f"said {number}"}] for number in (2, 10)}
    turns[2].append({"speaker": "Bob", "dia_id": "D2:2", "text": "look", "blip_caption": "a dog"})
    sample = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "session_10": turns[10],
            "session_10_date_time": "1:56 pm on 8 May, 2023",
            "session_2": turns[2],
            "session_2_date_time": "unknown",
        },
        "qa": [
            {"question": "What?", "evidence": ["D2:1; D10:1"], "category": 1},
            {"question": "Never?", "evidence": ["D2:1"], "category": 5},
            {"question": "Where?", "evidence": ["D9:9"], "category": 2},
            {"question": "When?", "evidence": [], "category": 2},
        ],
    }
    path = tmp_path / "locomo1.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    (found,) = discover(tmp_path)
    assert found == read_locomo(path)
    assert [(document.id, document.text) for document in found.documents] == [
        ("conv-1/D2:1", "Ann: said 2"),
        ("conv-1/D2:2", "Bob: look (shows a dog)"),
        ("conv-1/D10:1", "Ann: said 10"),
    ]
    assert [str(document.date)[:10] for document in found.documents] == ["None", "None", "2023-05-08"]
    assert found.has_sessions
    assert [question.relevant for question in found.questions] == [{"conv-1/D2:1": 1.0, "conv-1/D10:1": 1.0}]
    assert {question.group for question in found.questions} == {"conv-1"} == {document.group for document in found.documents}


def locomo_turn(session: int, number: int, text: str, **more: Any) -> dict[str, Any]:
    return {"speaker": "Ann" if number % 2 else "Bob", "dia_id": f"D{session}:{number}", "text": text, **more}


def test_a_file_of_locomo_in_its_real_shape(tmp_path: Path) -> None:
    """Everything that the published file has: its keys, pictures, dates of sessions that are not there, and slips in its evidence."""
    picture = {"img_url": ["https://example.org/1.jpg"], "blip_caption": "a photo of a dog", "query": "dog", "re-download": True}
    first = {
        "sample_id": "conv-26",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [locomo_turn(1, 1, "Hey Bob!"), locomo_turn(1, 2, "", **picture), locomo_turn(1, 3, "Nice.\nWhose?")],
            "session_2_date_time": "12:09 am on 13 September, 2023",
            "session_2": [locomo_turn(2, number, f"turn {number}") for number in range(1, 12)],
            "session_30_date_time": "10:31 am on 1 February, 2024",
            "session_30": [locomo_turn(30, 5, "late")],
            "session_31_date_time": "9:00 am on 2 February, 2024",
        },
        "event_summary": {"events_session_1": {"Ann": [], "Bob": ["gets a dog"], "date": "8 May, 2023"}},
        "observation": {"session_1_observation": {"Bob": [["Bob has a dog.", "D1:2"]]}},
        "session_summary": {"session_1_summary": "They talk about a dog."},
        "qa": [
            {"question": "Since when?", "answer": 2022, "evidence": ["D1:2"], "category": 2},
            {"question": "Which two?", "answer": "both", "evidence": ["D1:1; D2:10", "D2:11"], "category": 1},
            {"question": "Which three?", "answer": "all", "evidence": ["D1:1 D2:2 D2:3"], "category": 1},
            {"question": "A colon too many?", "answer": "yes", "evidence": ["D:2:11"], "category": 4},
            {"question": "A zero in front?", "answer": "yes", "evidence": ["D30:05"], "category": 2},
            {"question": "Not a turn?", "answer": "no", "evidence": ["D"], "category": 3},
            {"question": "No such turn beside one?", "answer": "no", "evidence": ["D2:99", "D2:1"], "category": 3},
            {"question": "None?", "answer": "no", "evidence": [], "category": 3},
            {"question": "What of Ann's dog?", "evidence": ["D1:2"], "category": 5, "adversarial_answer": "a dog"},
        ],
    }
    second = {
        "sample_id": "conv-30",
        "conversation": {"speaker_a": "Ann", "speaker_b": "Bob", "session_1": [locomo_turn(1, 1, "Another talk")]},
        "qa": [{"question": "Which?", "answer": "another", "evidence": ["D1:1"], "category": 4}],
    }
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps([first, second], ensure_ascii=False), encoding="utf-8")
    (found,) = discover(tmp_path)
    assert found.name == "locomo10"
    assert len(found.documents) == 3 + 11 + 1 + 1
    assert len({document.id for document in found.documents}) == len(found.documents)
    shown = found.documents[1]
    assert (shown.id, shown.text, shown.role) == ("conv-26/D1:2", "Bob:  (shows a photo of a dog)", "Bob")
    days = {document.session: None if document.date is None else document.date.date().isoformat() for document in found.documents}
    assert days == {
        "conv-26/session_1": "2023-05-08",
        "conv-26/session_2": "2023-09-13",
        "conv-26/session_30": "2024-02-01",
        "conv-30/session_1": None,
    }
    assert {question.text: [turn.rpartition("/")[2] for turn in question.relevant] for question in found.questions} == {
        "Since when?": ["D1:2"],
        "Which two?": ["D1:1", "D2:10", "D2:11"],
        "Which three?": ["D1:1", "D2:2", "D2:3"],
        "A colon too many?": ["D2:11"],
        "A zero in front?": ["D30:5"],
        "No such turn beside one?": ["D2:1"],
        "Which?": ["D1:1"],
    }
    assert all(turn.startswith(f"{question.group}/") for question in found.questions for turn in question.relevant)
    assert [question.id for question in found.questions][-2:] == ["conv-26/6", "conv-30/0"]


def test_memorybank_and_its_judgements(tmp_path: Path) -> None:
    """Turns in pairs, a session a day; the judgements that come with the benchmark name turns that are there."""
    chat = {"Emily": {"history": {"2023-04-30": [{"query": f"q{n}", "response": f"r{n}"} for n in range(4)]}}}
    (tmp_path / "memory_bank_en.json").write_text(json.dumps(chat), encoding="utf-8")
    write_lines(tmp_path / "probing_questions_en.jsonl", {"Emily": ["Which film?", "Which novel?"]})
    found = read_memorybank(tmp_path, "en")
    assert [(document.text, document.role) for document in found.documents[:2]] == [("q0", "user"), ("r0", "assistant")]
    assert {document.session for document in found.documents} == {"en/0/2023-04-30"}
    assert [(question.text, list(question.relevant)) for question in found.questions] == [("Which film?", ["en/0/2023-04-30/3/q"])]


@pytest.mark.skipif(DATA is None, reason="INDELIBLE_DATA names no folder of evaluation data")
def test_every_set_that_is_there_is_whole() -> None:
    """Each question of each set is answered by documents of its own group."""
    for asked in discover(Path(DATA or "")):
        groups = {document.id: document.group for document in asked.documents}
        assert len(groups) == len(asked.documents) > 0
        assert len(asked.questions) > 50
        assert all(groups[document] == question.group for question in asked.questions for document in question.relevant)
