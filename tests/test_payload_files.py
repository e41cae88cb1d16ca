"""Files of recorded payloads: lines, whole documents, pipes."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path

import pytest

from monitor.errors import ConfigurationError, InvalidInput
from monitor.roles import files
from monitor.roles.files import payloads, table_of


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b" \n\n", []),
        (b'{"a": 1}\n\n[2]\n', [(1, b'{"a": 1}'), (3, b"[2]")]),
        (b'no json\n{"a": 1}\nno json\n', [(1, b"no json"), (2, b'{"a": 1}'), (3, b"no json")]),
        (b'{"a": 1}', [(1, b'{"a": 1}')]),
        (b'{\n  "a": [1]\n}\n', [(1, b'{\n  "a": [1]\n}\n')]),
        (b"[\n  1,\n  2\n]", [(1, b"[\n  1,\n  2\n]")]),
        (b"\n\x0a\x07 bytes\nmore", [(1, b"\n\x0a\x07 bytes\nmore")]),
    ],
)
def test_a_file_is_lines_or_one_document(
    content: bytes, expected: list[tuple[int, bytes]], tmp_path: Path
) -> None:
    plain, packed = tmp_path / "file", tmp_path / "file.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    assert list(payloads(plain)) == expected
    assert list(payloads(packed)) == expected


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    document = json.dumps({"a": [1, 2]}, indent=2).encode()
    writer = threading.Thread(target=pipe.write_bytes, args=(document,))
    writer.start()
    try:
        assert list(payloads(pipe)) == [(1, document)]
    finally:
        writer.join()


def test_a_document_without_an_end_in_sight_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LINE_BYTES", 100)
    path = tmp_path / "file.json"
    path.write_text(json.dumps([1] * 100, indent=1))
    with pytest.raises(InvalidInput, match="more than 100 bytes"):
        list(payloads(path))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.toml", 'x = "y"\n[t]\nz = 1\n', {"x": "y", "t": {"z": 1}}),
        ("a.json", '{"x": "y"}', {"x": "y"}),
    ],
)
def test_a_table_is_toml_or_json(
    name: str, content: str, expected: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert table_of(path) == expected


@pytest.mark.parametrize(
    ("name", "content"), [("a.toml", b"x ="), ("a.json", b"[1]"), ("a.toml", b"\xff")]
)
def test_what_is_no_table_is_the_operators_to_mend(
    name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=name):
        table_of(path)
