"""Sets of documents, questions, and judgements of what answers them, read from a folder that is given."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

JUDGED = Path(__file__).parent / "memorybank_judgements.tsv"
"""Which turns answer MemoryBank's probing questions. The set comes without judgements; these were made by reading its English
conversations, before any ranking was seen, and hold for the Chinese ones, which say the same turn by turn."""
MEMORYBANK = "memorybank"
LANGUAGES = {"en": "English", "cn": "Chinese"}
_DATE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
_LOCOMO_DATE = re.compile(r"(\d{1,2}) (\w+),? (\d{4})")
_TURN = re.compile(r"D:?(\d+):0*(\d+)")
"""Of evidence in LoCoMo, where a colon too many and a zero in front occur; its turns are called as in ``D30:5``."""


@dataclass(frozen=True, slots=True)
class Document:
    """A turn of a conversation, or a passage.

    Attributes:
        id: unique in its set.
        text: what is searched.
        group: whose it is: questions ask within one group; ``""`` where there is one index for all.
        session: the conversation it is a turn of, in whose order the set has it; ``""`` where it stands alone.
        date: when it was said.
        role: who said it.
    """

    id: str
    text: str
    group: str = ""
    session: str = ""
    date: datetime | None = None
    role: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with the documents that answer it and how well."""

    id: str
    text: str
    relevant: dict[str, float]
    group: str = ""
    date: datetime | None = None


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Documents and questions about them."""

    name: str
    documents: list[Document]
    questions: list[Question] = field(default_factory=list)

    @property
    def has_sessions(self) -> bool:
        """Whether its documents are turns of whole conversations."""
        return any(document.session for document in self.documents)

    @property
    def has_dates(self) -> bool:
        """Whether it is known when they were said."""
        return any(document.date for document in self.documents)


def discover(data: Path) -> Iterator[QuestionSet]:
    """Every set in a folder: the folder itself, or what lies below it, by name.

    Raises:
        ValueError: a file is not as its format says.
    """
    for folder in (data, *sorted(path for path in data.iterdir() if path.is_dir())):
        if (folder / "corpus.jsonl").is_file():
            yield read_folder(folder)
        for language in LANGUAGES:
            if (folder / f"memory_bank_{language}.json").is_file():
                yield read_memorybank(folder, language)
        for path in sorted(folder.glob("*locomo*.json")):
            yield read_locomo(path)


def read_folder(folder: Path) -> QuestionSet:
    """A folder of ``corpus.jsonl``, ``queries*.jsonl`` and ``qrels.tsv``.

    A line of the corpus has an ``id`` (or ``_id``, ``docid``), a ``text`` and perhaps a ``title``, ``role`` and ``date``; a line of the
    queries an ``id`` (or ``_id``, ``qid``), a ``text`` and perhaps a ``date`` and ``abstention``, which leaves it out. A judgement has the
    question and the document, or a grade after them, or TREC's four columns; a grade of 0 or less says that it does not answer.
    """
    documents = [
        Document(
            _first(line, "id", "_id", "docid"),
            "\n".join(part for part in (line.get("title"), line["text"]) if part),
            date=_date(line.get("date")),
            role=line.get("role") or "",
        )
        for line in _lines(folder / "corpus.jsonl")
    ]
    there = {document.id for document in documents}
    relevant: dict[str, dict[str, float]] = defaultdict(dict)
    for question, document, grade in _judgements(folder / "qrels.tsv"):
        if grade > 0 and document in there:
            relevant[question][document] = grade
    files = sorted(folder.glob("queries*.jsonl"))
    if not files:
        raise ValueError(f"{folder} has a corpus and no queries*.jsonl")
    asked = [(_first(line, "id", "_id", "qid"), line) for line in _lines(files[0]) if not line.get("abstention")]
    questions = [Question(id, line["text"], relevant[id], date=_date(line.get("date"))) for id, line in asked if relevant.get(id)]
    return QuestionSet(folder.name, documents, questions)


def _judgements(path: Path) -> Iterator[tuple[str, str, float]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) == 2:
            yield cells[0], cells[1].strip(), 1.0
        elif len(cells) == 3 and _is_number(cells[2]):  # the header of BEIR says "score" there
            yield cells[0], cells[1], float(cells[2])
        elif len(cells) == 4:
            yield cells[0], cells[2], float(cells[3])


def read_memorybank(folder: Path, language: str) -> QuestionSet:
    """MemoryBank (Zhong and others, 2023): the chats of 15 made-up users, two turns an exchange, a session a day, and questions."""
    chats = json.loads((folder / f"memory_bank_{language}.json").read_text(encoding="utf-8"))
    documents = []
    for user, chat in enumerate(chats.values()):
        for day, exchanges in chat["history"].items():
            for number, exchange in enumerate(exchanges):
                for letter, name, role in (("q", "query", "user"), ("r", "response", "assistant")):
                    id = f"{language}/{user}/{day}/{number}/{letter}"
                    documents.append(Document(id, exchange[name], f"{language}/{user}", f"{language}/{user}/{day}", _date(day), role))
    there = {document.id for document in documents}
    answers: dict[str, dict[str, float]] = defaultdict(dict)
    for question, document, _ in _judgements(JUDGED):
        if (id := f"{language}/{document}") in there:
            answers[question][id] = 1.0
    questions = []
    for user, line in enumerate(_lines(folder / f"probing_questions_{language}.jsonl")):
        for number, text in enumerate(next(iter(line.values()))):
            # One question is about a day that only the Chinese chats have.
            if f"{user}/{number}" in answers:
                questions.append(Question(f"{language}/{user}/{number}", text, answers[f"{user}/{number}"], f"{language}/{user}"))
    return QuestionSet(f"{MEMORYBANK}, {LANGUAGES[language]}", documents, questions)


def read_locomo(path: Path) -> QuestionSet:
    """A file as LoCoMo has it (Maharana and others, 2024): long conversations in sessions, questions with the turns that are evidence.

    Questions of category 5, which nothing answers, are left out.
    """
    documents, questions = [], []
    for number, sample in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        group = str(sample.get("sample_id", number))
        talk = sample["conversation"]
        sessions = sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
        for session in sessions:
            said = _locomo_date(talk.get(f"{session}_date_time"))
            for turn in talk[session]:
                text = f"{turn['speaker']}: {turn['text']}"
                if turn.get("blip_caption"):
                    text += f" (shows {turn['blip_caption']})"
                documents.append(Document(f"{group}/{turn['dia_id']}", text, group, f"{group}/{session}", said, turn["speaker"]))
        there = {document.id for document in documents}
        for asked, question in enumerate(sample["qa"]):
            named = (turn for cell in question.get("evidence", ()) for turn in _TURN.findall(str(cell)))
            evidence = [f"{group}/D{session}:{turn}" for session, turn in named]
            answers = {turn: 1.0 for turn in evidence if turn in there}
            if answers and question.get("category") != 5:
                questions.append(Question(f"{group}/{asked}", str(question["question"]), answers, group))
    return QuestionSet(path.stem, documents, questions)


def _locomo_date(text: object) -> datetime | None:
    found = _LOCOMO_DATE.search(str(text))
    if found is None:
        return None
    return datetime.strptime(f"{found[1]} {found[2]} {found[3]}", "%d %B %Y").replace(tzinfo=UTC)


def _date(text: object) -> datetime | None:
    found = _DATE.match(str(text))
    return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC) if found else None


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.strip()]


def _first(line: dict[str, Any], *names: str) -> str:
    for name in names:
        if name in line:
            return str(line[name])
    raise ValueError(f"a line needs one of {', '.join(names)}, it has {', '.join(line)}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
