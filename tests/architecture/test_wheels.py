"""The distributions as users get them: built, and each installed alone in a clean virtual environment."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT

pytestmark = [pytest.mark.wheel, pytest.mark.slow]


@dataclass(frozen=True)
class Dist:
    """A distribution of this repository: where its sources are, and the names it has on an index and in an import."""

    folder: Path
    name: str
    package: str

    @property
    def sources(self) -> Path:
        return self.folder / "src" / self.package


CORE = Dist(ROOT / "packages" / "core", "indelible", "indelible")
MODELS = Dist(ROOT / "models", "indelible-models", "indelible_models")
RERANKER = Dist(ROOT / "models-rerank", "indelible-reranker", "indelible_reranker")
LANGCHAIN = Dist(ROOT / "packages" / "langchain", "langchain-indelible", "langchain_indelible")
LLAMAINDEX = Dist(ROOT / "packages" / "llamaindex", "llama-index-indelible", "llama_index_indelible")
DISTS = [CORE, MODELS, RERANKER, LANGCHAIN, LLAMAINDEX]
each_dist = pytest.mark.parametrize("dist", DISTS, ids=lambda dist: dist.name)


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command in the environment of a user: nothing of the checkout on the import path. Give what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and an empty folder to run programs in."""

    folder: Path

    def script(self, name: str) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / name

    def python(self, program: str, cwd: Path) -> str:
        return run(self.script("python"), "-I", "-c", program, cwd=cwd)


def make_environment(folder: Path, *requirements: str) -> Environment:
    """A new environment with these and what they need from the index, by the pip that runs the tests (it may be newer and faster)."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    environment = Environment(folder)
    run(sys.executable, "-m", "pip", "--python", environment.script("python"), "install", "--quiet", *requirements, cwd=folder.parent)
    return environment


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel of each distribution by its name, built from its sdist, which lies beside it."""
    out = tmp_path_factory.mktemp("dist")
    for dist in DISTS:
        run(sys.executable, "-m", "build", "--outdir", out, dist.folder, cwd=ROOT)
    return {dist.name: next(out.glob(f"{dist.package}-*.whl")) for dist in DISTS}


@pytest.fixture(scope="module")
def core_alone(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """What `pip install indelible` makes."""
    return make_environment(tmp_path_factory.mktemp("core") / "venv", str(built["indelible"]))


@pytest.fixture(scope="module")
def models_alone(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """What `pip install indelible-models` makes."""
    return make_environment(tmp_path_factory.mktemp("models") / "venv", str(built["indelible-models"]))


@pytest.fixture(scope="module")
def embedding(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """What `pip install indelible[embed]` makes. Both wheels are named, so that no release of the index can stand in for ours."""
    return make_environment(tmp_path_factory.mktemp("embed") / "venv", str(built["indelible-models"]), f"{built['indelible']}[embed]")


@pytest.fixture(scope="module")
def reranking(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """What `pip install indelible[rerank]` makes."""
    return make_environment(tmp_path_factory.mktemp("rerank") / "venv", str(built["indelible-reranker"]), f"{built['indelible']}[rerank]")


@pytest.fixture(scope="module")
def langchain_alone(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """What `pip install langchain-indelible` makes."""
    return make_environment(tmp_path_factory.mktemp("langchain") / "venv", str(built["indelible"]), str(built["langchain-indelible"]))


@pytest.fixture(scope="module")
def llamaindex_alone(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """What `pip install llama-index-indelible` makes."""
    return make_environment(tmp_path_factory.mktemp("llamaindex") / "venv", str(built["indelible"]), str(built["llama-index-indelible"]))


@each_dist
def test_a_wheel_has_all_its_sources_and_nothing_else(dist: Dist, built: dict[str, Path]) -> None:
    """Every file beside the modules is in it (py.typed, SQL, weights), and no test, cache or stray folder."""
    sources = {
        f"{dist.package}/{path.relative_to(dist.sources).as_posix()}"
        for path in dist.sources.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(built[dist.name]) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
    assert f"{dist.package}/py.typed" in sources
    assert {name for name in names if ".dist-info/" not in name} == sources
    assert any(re.fullmatch(rf"{dist.package}-[^/]+\.dist-info/licenses/LICENSE", name) for name in names)


@each_dist
def test_an_sdist_has_what_a_packager_needs(dist: Dist, built: dict[str, Path]) -> None:
    """Sources, licence, readme and changelog are in it; that the wheel can be made from it the build has shown."""
    archive = next(built[dist.name].parent.glob(f"{dist.package}-*.tar.gz"))
    with tarfile.open(archive) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", f"src/{dist.package}/__init__.py"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


@each_dist
def test_the_metadata_are_complete(dist: Dist, built: dict[str, Path]) -> None:
    """Name, licence, the least Python and a description are stated."""
    with zipfile.ZipFile(built[dist.name]) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(wheel.read(name))
    assert metadata["Name"] == dist.name
    assert metadata["Requires-Python"] == ">=3.11"
    assert "MIT" in metadata["License-Expression"]
    assert metadata["Summary"]
    assert len(str(metadata.get_payload())) > 200


@pytest.mark.parametrize(("extra", "models_of_it"), [("embed", "indelible-models"), ("rerank", "indelible-reranker")])
def test_an_extra_asks_for_our_models_in_our_range(built: dict[str, Path], extra: str, models_of_it: str) -> None:
    """`indelible[embed]` takes the models of the same minor version, `indelible[rerank]` its own, and core alone none."""
    with zipfile.ZipFile(built["indelible"]) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        wanted = email.message_from_bytes(wheel.read(name)).get_all("Requires-Dist") or []
    models = [requirement for requirement in wanted if requirement.startswith(models_of_it)]
    major, minor = built["indelible"].name.split("-")[1].split(".")[:2]
    assert len(models) == 1
    assert f"extra == '{extra}'" in models[0]
    assert f">={major}.{minor}" in models[0]
    assert f"<{major}.{int(minor) + 1}" in models[0]


@pytest.mark.parametrize(
    ("dist", "fixture"),
    [
        (CORE, "core_alone"),
        (MODELS, "models_alone"),
        (RERANKER, "reranking"),
        (LANGCHAIN, "langchain_alone"),
        (LLAMAINDEX, "llamaindex_alone"),
    ],
    ids=["indelible", "indelible-models", "indelible-reranker", "langchain-indelible", "llama-index-indelible"],
)
def test_the_version_is_stated_once(dist: Dist, fixture: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """`__version__` and the installed metadata say the same."""
    environment: Environment = request.getfixturevalue(fixture)
    environment.python(
        f"import importlib.metadata, {dist.package} as package\nassert package.__version__ == importlib.metadata.version({dist.name!r})",
        tmp_path,
    )


def test_core_alone_remembers_and_finds_by_words(core_alone: Environment, tmp_path: Path) -> None:
    """Without the extra: key/value memory, facts, history and keyword search work, and no model is there."""
    core_alone.python(
        """
import importlib.util
assert importlib.util.find_spec("indelible_models") is None and importlib.util.find_spec("onnxruntime") is None

from indelible import MemoryStore, PersistentMemory

kept = PersistentMemory("kept", path="kept.db")
kept.remember("colour", "green")
kept.remember("colour", "blue")
assert kept.recall("colour") == "blue" and kept.as_of("colour", 1) == "green" and len(kept.history("colour")) == 2

store = MemoryStore("facts.db")
fact = store.remember("the kettle is green")
store.remember("the window is open")
assert [hit.content for hit in store.search("kettle")] == ["the kettle is green"]
assert len(store.history(fact.id)) == 1
store.close()
""",
        tmp_path,
    )


def test_core_alone_says_which_extra_is_missing(core_alone: Environment, tmp_path: Path) -> None:
    """Semantic recall without a model is an error that names what to install."""
    core_alone.python(
        """
from indelible import MemoryStore
from indelible.errors import MissingExtra

store = MemoryStore("facts.db")
store.remember("the kettle is green")
try:
    store.recall("what colour is the kettle?")
except MissingExtra as error:
    assert "indelible[embed]" in str(error), error
else:
    raise AssertionError("recalled without a model")
""",
        tmp_path,
    )


def test_core_alone_has_its_command(core_alone: Environment, tmp_path: Path) -> None:
    """The command line starts and knows its version."""
    assert "remember" in run(core_alone.script("indelible"), "--help", cwd=tmp_path)


def test_models_alone_give_path_and_manifest(models_alone: Environment, tmp_path: Path) -> None:
    """Each file is where the package says, as the manifest describes it, and nothing else is installed."""
    models_alone.python(
        """
import hashlib, importlib.util, json
assert importlib.util.find_spec("indelible") is None and importlib.util.find_spec("numpy") is None

import indelible_models

manifest = json.loads(indelible_models.path("manifest.json").read_text("utf-8"))
assert manifest["models"] and manifest["files"]
for name, facts in manifest["files"].items():
    data = indelible_models.path(name).read_bytes()
    assert len(data) == facts["bytes"] and hashlib.sha256(data).hexdigest() == facts["sha256"], name
for model in manifest["models"].values():
    assert model["weights"] in manifest["files"] and model["tokenizer"] in manifest["files"]
""",
        tmp_path,
    )


def test_both_together_recall_by_meaning(embedding: Environment, tmp_path: Path) -> None:
    """With the extra, a question finds the fact that shares no word with it."""
    embedding.python(
        """
from indelible import MemoryStore

store = MemoryStore("facts.db")
store.remember("The cat sleeps on the warm windowsill")
store.remember("Quarterly revenue grew by nine percent")
store.remember("Trains to Oslo leave at noon")
hits = store.recall("how is our business doing financially?")
assert [hit.content for hit in hits][0] == "Quarterly revenue grew by nine percent", hits
assert -1 <= hits[-1].score <= hits[0].score <= 1
store.close()
""",
        tmp_path,
    )


def test_the_reranker_needs_no_other_extra(reranking: Environment, tmp_path: Path) -> None:
    """With `indelible[rerank]` alone, what was found by words is put in the order of its answers."""
    reranking.python(
        """
import importlib.util
assert importlib.util.find_spec("indelible_models") is None

from indelible import MemoryStore

store = MemoryStore("facts.db")
busy, answer = "Name, name, name: the cat food has a new name and cat owners like the name", "The cat's name is Turing"
store.remember(busy)
store.remember(answer)
assert [hit.content for hit in store.recall("cat name", mode="keyword")] == [busy, answer]
assert [hit.content for hit in store.recall("cat name", mode="keyword", rerank=True)] == [answer, busy]
store.close()
""",
        tmp_path,
    )


def test_langchain_alone_has_a_store(langchain_alone: Environment, tmp_path: Path) -> None:
    """Neither langchain nor langgraph has to be there for the store of LangGraph, and no model for keys, filters and history."""
    langchain_alone.python(
        """
import importlib.util
assert importlib.util.find_spec("langchain") is None and importlib.util.find_spec("onnxruntime") is None

from langchain_indelible import IndelibleStore

with IndelibleStore("items.db") as store:
    store.put(("users", "ada"), "drink", {"text": "tea"})
    store.put(("users", "ada"), "drink", {"text": "coffee"})
    assert [item.value for item in store.search(("users",), filter={"text": "coffee"})] == [{"text": "coffee"}]
    assert [change.item.value["text"] for change in store.history(("users", "ada"), "drink")] == ["tea", "coffee"]
""",
        tmp_path,
    )


def test_the_readme_program_prints_what_it_says(core_alone: Environment, tmp_path: Path) -> None:
    """The program of the package's readme runs on a bare install, and its output is the one shown."""
    readme = (CORE.folder / "README.md").read_text(encoding="utf-8")
    program, output = (re.search(rf"^```{language}\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE) for language in ("python", "text"))
    assert program
    assert output
    assert core_alone.python(program[1], tmp_path) == output[1]


def test_llamaindex_alone_runs_its_readme(llamaindex_alone: Environment, tmp_path: Path) -> None:
    """Without any other framework or model: the program of its readme runs, and its output is the one shown."""
    readme = (LLAMAINDEX.folder / "README.md").read_text(encoding="utf-8")
    program, output = (re.search(rf"^```{language}\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE) for language in ("python", "text"))
    assert program
    assert output
    assert llamaindex_alone.python(program[1], tmp_path) == output[1]
