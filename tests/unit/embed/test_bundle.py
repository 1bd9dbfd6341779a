"""The files of the models: found, checked, and unpacked where they are not real files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import indelible_models
from indelible.embed import OnnxEmbedder, StaticEmbedder
from indelible.embed.bundle import Bundle, cache_folder
from indelible.errors import IntegrityFailure, MissingExtra, ModelError, ModelNotFound

STATIC_FILES = ("manifest.json", "tokenizer.json", "static-bge-256.npz")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the static model."""
    for name in STATIC_FILES:
        shutil.copyfile(str(indelible_models.path(name)), tmp_path / name)
    return tmp_path


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_folder_of_ones_own_works_like_the_installed_package(folder: Path) -> None:
    assert StaticEmbedder(folder).embed_query("a").tobytes() == StaticEmbedder().embed_query("a").tobytes()


@pytest.mark.parametrize("name", ["tokenizer.json", "static-bge-256.npz"])
def test_one_wrong_bit_is_an_integrity_failure(folder: Path, name: str) -> None:
    flip_a_bit(folder / name)
    with pytest.raises(IntegrityFailure, match=f"{name} is damaged.*sha256.*reinstall"):
        StaticEmbedder(folder).embed_query("a")


def test_a_file_cut_short_is_an_integrity_failure(folder: Path) -> None:
    weights = indelible_models.path("bge-256.onnx").read_bytes()
    (folder / "bge-256.onnx").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(IntegrityFailure, match=r"bge-256.onnx is damaged"):
        OnnxEmbedder(folder).embed_query("a")


@pytest.mark.parametrize("name", STATIC_FILES)
def test_a_missing_file_is_model_not_found(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelNotFound, match=f"no file .*{name}"):
        StaticEmbedder(folder).embed_query("a")


def test_a_missing_folder_is_model_not_found(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        OnnxEmbedder(tmp_path / "nowhere").embed_documents(["a", "b"])


def test_a_folder_in_place_of_a_file_is_model_not_found(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").mkdir()
    with pytest.raises(ModelNotFound, match="cannot be read"):
        StaticEmbedder(folder).embed_query("a")


@pytest.mark.parametrize(
    "manifest", ["", "{", "[]", "null", '{"files": 3}', '{"files": {}}', '{"files": {"tokenizer.json": {}}}', "\ud800"]
)
def test_a_damaged_manifest_is_an_integrity_failure(folder: Path, manifest: str) -> None:
    (folder / "manifest.json").write_text(manifest, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(IntegrityFailure, match=r"manifest.json does not describe tokenizer.json"):
        StaticEmbedder(folder).embed_query("a")


def describe(folder: Path, name: str, data: bytes) -> None:
    """Put a file into the folder and its checksum into the manifest."""
    (folder / name).write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", ["tokenizer.json", "static-bge-256.npz", "bge-256.onnx"])
def test_a_well_described_file_of_another_kind_is_a_model_error(folder: Path, name: str) -> None:
    describe(folder, name, b"neither a tokenizer nor a table nor a graph")
    with pytest.raises(ModelError, match="cannot") as caught:
        (OnnxEmbedder if name.endswith("onnx") else StaticEmbedder)(folder).embed_query("a")
    assert caught.value.__cause__ is not None


def test_a_package_that_lacks_a_file_is_model_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def path(name: str = "") -> Path:
        raise FileNotFoundError(name)

    monkeypatch.setattr(indelible_models, "path", path)
    with pytest.raises(ModelNotFound, match=r"indelible-models has no manifest.json"):
        StaticEmbedder().embed_query("a")


def test_a_missing_package_is_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "indelible_models", None)
    with pytest.raises(MissingExtra, match=r'pip install "indelible\[embed\]"'):
        Bundle().file("tokenizer.json")


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package whose files lie in a zip archive, and an empty cache."""
    path = tmp_path / "models.zip"
    note = b"a small file " * 1000
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("data/note.txt", note)
        out.writestr("data/lie.txt", b"something else")
        sums = {name: {"sha256": hashlib.sha256(note).hexdigest()} for name in ("note.txt", "lie.txt", "gone.txt")}
        out.writestr("data/manifest.json", json.dumps({"files": sums}))
    monkeypatch.setattr(indelible_models, "path", lambda name="": zipfile.Path(path) / "data" / name)
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    return path


def test_a_file_in_an_archive_is_unpacked_once_into_the_cache(archive: Path) -> None:
    """S86: unpacked once, checksummed, into the platform's cache."""
    first = Bundle().file("note.txt")
    assert first.read_bytes() == b"a small file " * 1000
    assert first.is_relative_to(cache_folder())
    changed = first.stat().st_mtime_ns
    assert Bundle().file("note.txt") == first
    assert first.stat().st_mtime_ns == changed
    assert [entry.name for entry in first.parent.iterdir()] == [first.name], "no half-made file is left"


def test_a_damaged_copy_in_the_cache_is_made_anew(archive: Path) -> None:
    copy = Bundle().file("note.txt")
    flip_a_bit(copy)
    assert Bundle().file("note.txt").read_bytes() == b"a small file " * 1000


def test_what_the_archive_holds_is_checked(archive: Path) -> None:
    with pytest.raises(IntegrityFailure, match=r"lie.txt is damaged"):
        Bundle().file("lie.txt")
    with pytest.raises(ModelNotFound, match=r"gone.txt"):
        Bundle().file("gone.txt")
    assert list((cache_folder() / "models").iterdir()) == []


def test_a_broken_archive_is_an_integrity_failure(archive: Path) -> None:
    data = bytearray(archive.read_bytes())
    data[60:70] = b"\xff" * 10  # inside the compressed note
    archive.write_bytes(data)
    with pytest.raises(IntegrityFailure, match="cannot be read out of its archive"):
        Bundle().file("note.txt")


def test_a_cache_that_cannot_be_written_says_so(archive: Path) -> None:
    cache_folder().parent.mkdir(parents=True, exist_ok=True)
    cache_folder().write_text("a file where the folder should be")
    with pytest.raises(ModelNotFound, match="cannot be unpacked into the cache"):
        Bundle().file("note.txt")


def test_the_real_package_works_when_imported_from_a_zip(tmp_path: Path, run: Callable[..., str]) -> None:
    package = Path(str(indelible_models.path())).parent
    with zipfile.ZipFile(tmp_path / "models.zip", "w") as out:
        out.write(package / "__init__.py", "indelible_models/__init__.py")
        for name in STATIC_FILES:
            out.write(package / "data" / name, f"indelible_models/data/{name}")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from indelible.embed import StaticEmbedder\n"
        "print(StaticEmbedder().embed_query('a').tobytes().hex())\n"
        "import indelible_models; print(indelible_models.__file__)"
    )
    vector, place = run(program, str(tmp_path / "models.zip")).split()
    assert "models.zip" in place
    assert vector == StaticEmbedder().embed_query("a").tobytes().hex()
    assert len(list((tmp_path / "cache").rglob("*-static-bge-256.npz"))) == 1


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these have other places")
@pytest.mark.parametrize(
    ("given", "expected"), [("/var/tmp/x", "/var/tmp/x"), ("", "~/.cache"), ("relative", "~/.cache"), (None, "~/.cache")]
)
def test_the_cache_follows_the_xdg_rules(monkeypatch: pytest.MonkeyPatch, given: str | None, expected: str) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert cache_folder() == Path(os.path.expanduser(expected)) / "indelible"
