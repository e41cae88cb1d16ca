"""Files of JSON lines, plain or gzip: read with a progress bar, written whole or not at all."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
import tomllib
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec
from tqdm import tqdm

from monitor.errors import ConfigurationError, InvalidInput

LINE_BYTES = 64 * 1024 * 1024
GZIP_MAGIC = b"\x1f\x8b"


def lines(path: Path, *, progress: bool = False) -> Iterator[tuple[int, bytes]]:
    """Line numbers from 1 with the non-blank lines, stripped.

    With `progress`, a bar over the file's bytes runs on standard error when that is a terminal.
    Raises InvalidInput that names the file when it cannot be read or a line has no end in sight.
    """
    with _opened(path) as (raw, text), _bar(path, shown=progress) as bar:
        yield from _lines(raw, text, bar, path, 0)


def payloads(path: Path, *, progress: bool = False) -> Iterator[tuple[int, bytes]]:
    """As `lines`, and a file that is one document over many lines, or no text, as one payload.

    A file is lines when its first or second one is a JSON object or list. A pipe is read once.
    Raises InvalidInput also for such a document beyond LINE_BYTES.
    """
    with _opened(path) as (raw, text), _bar(path, shown=progress) as bar:
        opening: list[bytes] = []
        told: list[tuple[int, bytes]] = []
        while len(told) < 2 and (line := _line(text, path, len(opening) + 1)):
            opening.append(line)
            if stripped := line.strip():
                told.append((len(opening), stripped))
                if _is_json(stripped):
                    yield from told
                    yield from _lines(raw, text, bar, path, len(opening))
                    return
        if told:
            yield 1, _whole(opening, text, path)


def _lines(
    raw: IO[bytes],
    text: IO[bytes],
    bar: tqdm,  # type: ignore[type-arg]
    path: Path,
    number: int,
) -> Iterator[tuple[int, bytes]]:
    while line := _line(text, path, number + 1):
        number += 1
        if raw.seekable():
            bar.update(raw.tell() - bar.n)
        if stripped := line.strip():
            yield number, stripped


def _whole(opening: list[bytes], text: IO[bytes], path: Path) -> bytes:
    try:
        whole = b"".join([*opening, text.read(LINE_BYTES + 1)])
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path}: cannot be read: {error}") from None
    if len(whole) > LINE_BYTES:
        raise InvalidInput(f"{path}: one document of more than {LINE_BYTES} bytes; split it")
    return whole


def _is_json(line: bytes) -> bool:
    """Whether a line is a whole document of its own, and no line of one, such as `{`."""
    if line[:1] not in (b"{", b"["):
        return False
    try:
        return bool(msgspec.json.decode(line))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def read(path: Path) -> bytes:
    """The whole file, inflated when it is gzip. Raises InvalidInput that names the file."""
    with _opened(path) as (_, text):
        try:
            return text.read().removeprefix(BOM_UTF8)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidInput(f"{path}: cannot be read: {error}") from None


def table_of(path: Path) -> dict[str, Any]:
    """What a TOML file, or a JSON file by its ending, holds.

    Raises ConfigurationError that names the file and the place of the fault.
    """
    text = read(path)
    try:
        if path.suffix == ".json":
            return msgspec.json.decode(text, type=dict[str, Any])
        return tomllib.loads(text.decode("utf-8"))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: {error}; the operator must mend it") from None


def distinct(inputs: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Raise ConfigurationError when an output would take an input's or another output's place."""
    taken = {os.path.realpath(path): path for path in inputs}
    for path in outputs:
        place = os.path.realpath(path)
        if place in taken and not (path.exists() and not path.is_file()):
            raise ConfigurationError(f"{path}: is named twice; an output needs a place of its own")
        taken[place] = path


def require_place(path: Path, setting: str) -> None:
    """Raise ConfigurationError when a file of this path could not be written."""
    folder = path.parent
    if path.is_dir():
        raise ConfigurationError(f"{setting}: {path} is a folder")
    if not folder.is_dir():
        raise ConfigurationError(f"{setting}: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ConfigurationError(f"{setting}: {path} cannot be written")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the path's place when the block ends well, and leaves no trace when not.

    A path that is no regular file, such as a pipe or a device, is written to directly. Raises
    InvalidInput that names the path when it cannot be written.
    """
    try:
        with _direct(path) if path.exists() and not path.is_file() else _swapped(path) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written: {error.strerror}") from None


@contextmanager
def _direct(path: Path) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        yield file


@contextmanager
def _swapped(path: Path) -> Iterator[IO[bytes]]:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _line(text: IO[bytes], path: Path, number: int) -> bytes:
    try:
        line = text.readline(LINE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path}, line {number}: cannot be read: {error}") from None
    if len(line) > LINE_BYTES:
        raise InvalidInput(f"{path}, line {number}: longer than {LINE_BYTES} bytes")
    return line.removeprefix(BOM_UTF8) if number == 1 else line


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    try:
        raw = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be opened: {error.strerror}") from None
    with raw:
        magic = raw.peek(2)[:2]
        if magic == GZIP_MAGIC:
            with gzip.GzipFile(fileobj=raw, mode="rb") as text:
                yield raw, text  # type: ignore[misc]
        else:
            yield raw, raw


def _bar(path: Path, *, shown: bool) -> tqdm:  # type: ignore[type-arg]
    size = path.stat().st_size if path.is_file() else None
    return tqdm(
        total=size,
        unit="B",
        unit_scale=True,
        desc=path.name,
        disable=None if shown else True,
        file=sys.stderr,
        leave=False,
    )
