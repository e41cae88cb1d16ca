"""Files of JSON lines: plain or gzip in, whole or not at all out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from monitor.errors import ConfigurationError, InvalidInput
from monitor.roles.files import distinct, lines, read, replacing


def test_plain_and_gzip_files_give_the_same_numbered_lines(tmp_path):
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_bytes(b'{"a": 1}\n\n  {"b": 2}\n')
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    expected = [(1, b'{"a": 1}'), (3, b'{"b": 2}')]
    assert list(lines(plain)) == expected
    assert list(lines(packed)) == expected
    assert read(packed) == plain.read_bytes()


def test_a_missing_file_is_named():
    with pytest.raises(InvalidInput, match="cannot be opened"):
        list(lines(Path("/nowhere/x.jsonl")))


def test_a_truncated_gzip_file_names_the_line_where_it_breaks(tmp_path):
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 5000)[:-20])
    with pytest.raises(InvalidInput, match=r"cut\.jsonl\.gz, line \d+: cannot be read"):
        list(lines(path))


def test_output_replaces_the_old_file_only_when_all_went_well(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old\n")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old\n", [path])
    with replacing(path) as file:
        file.write(b"new\n")
    assert path.read_bytes() == b"new\n"


def test_an_output_named_gz_is_packed(tmp_path):
    path = tmp_path / "out.jsonl.gz"
    with replacing(path) as file:
        file.write(b"line\n")
    assert gzip.decompress(path.read_bytes()) == b"line\n"


def test_an_output_in_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"), replacing(tmp_path / "no" / "x"):
        pass


def test_a_folder_or_a_full_device_as_output_is_one_clear_error(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"), replacing(tmp_path):
        pass

    def fill() -> None:
        with replacing(Path("/dev/full")) as file:
            file.write(b"line\n" * 10_000)
            file.flush()

    with pytest.raises(InvalidInput, match="/dev/full: cannot be written"):
        fill()


def test_an_output_that_is_an_input_or_another_output_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n")
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(ConfigurationError, match="named twice"):
        distinct([path], [tmp_path / "link"])
    with pytest.raises(ConfigurationError, match="named twice"):
        distinct([path], [tmp_path / "out", tmp_path / "out"])
    distinct([path], [Path("/dev/null"), Path("/dev/null")])
