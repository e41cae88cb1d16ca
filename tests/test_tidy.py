"""The house style, as far as a program can hold it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path
    for top in ("monitor", "adapters", "grafana", "tests")
    for path in (ROOT / top).rglob("*.py")
)
PROSE = [
    *(ROOT / name for name in ("Makefile", "README.md", "pyproject.toml", ".ci/run")),
    *sorted(path for path in (ROOT / "deploy").rglob("*") if path.is_file()),
]
HOSTS = {
    "commands",
    "ledger",
    "backends",
    "roles",
    "config.py",
    "chosen.py",
    "wiring.py",
    "wiring",
    "entry_points.py",
    "cli.py",
}

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
VAGUE_MODULES = {"utils", "util", "helpers", "helper", "common", "misc", "data", "base", "manager"}
VAGUE_CLASS = re.compile(r"(Base|Manager|Helper|Utils?)$|^(Base|Abstract)[A-Z]")
VAGUE_FUNCTION = re.compile(r"^_?(get|process|handle)(_|$)|^_?(data|helper|utils?)$")
GIVEN_FROM_OUTSIDE = {
    "handle_starttag",
    "handle_endtag",
    "handle_data",
    "get_weather",
    "get_model_name",
}
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
TICKET = re.compile(r"(?i)\b(issue|ticket|bug|pull request)\s*#?\d+|(?<![\w&])#\d+\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|root|home|Users)/\w")
URL = re.compile(r"(?i)\bhttps?://([^\s/\"'`<>()\[\]\\{}:,]+|\[[0-9a-f:]+\])")
KNOWN_HOST = re.compile(
    r"(localhost|127(\.\d+){3}|0\.0\.0\.0|169\.254\.169\.254|\[::1?\]"
    r"|([\w.-]+\.)?(example|test|invalid|localhost)|([\w-]+\.)?example\.(com|org|net)"
    r"|json-schema\.org|opentelemetry\.io|www\.apache\.org|([\w-]+\.)*svc(\.cluster\.local)?)"
)


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def comments_and_docstrings(path: Path) -> Iterator[str]:
    """What a file says to its readers, without the text that it works on."""
    tree = tree_of(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def offenders(paths: Iterable[Path], fault: Callable[[Path], object]) -> dict[str, object]:
    """What is wrong with which file."""
    found = {str(path.relative_to(ROOT)): fault(path) for path in paths}
    return {path: what for path, what in found.items() if what}


def test_a_file_fits_on_a_readers_desk():
    def too_long(path: Path) -> int:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        return lines if lines > MAX_FILE_LINES else 0

    assert offenders(SOURCES, too_long) == {}


def test_a_function_fits_on_a_screen():
    def too_long(path: Path) -> dict[str, int]:
        lengths = {f.name: (f.end_lineno or 0) - f.lineno + 1 for f in functions(tree_of(path))}
        return {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES}

    assert offenders(SOURCES, too_long) == {}


def test_a_file_states_its_job_in_its_first_line():
    def unstated(path: Path) -> str | None:
        first = (ast.get_docstring(tree_of(path)) or "no docstring").splitlines()[0]
        return None if first.endswith((".", ":", "?")) else first

    assert offenders(SOURCES, unstated) == {}


def test_a_file_with_code_postpones_annotations():
    def eager(path: Path) -> bool:
        code = tree_of(path).body[1:]
        return bool(code) and getattr(code[0], "module", None) != "__future__"

    assert offenders(SOURCES, eager) == {}


def test_names_say_what_a_thing_is():
    def vague(path: Path) -> set[str]:
        tree = tree_of(path)
        classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        return (
            ({path.stem} & VAGUE_MODULES)
            | {name for name in classes if VAGUE_CLASS.search(name)}
            | {f.name for f in functions(tree) if VAGUE_FUNCTION.search(f.name)}
        ) - GIVEN_FROM_OUTSIDE

    assert offenders(SOURCES, vague) == {}


def test_comments_give_reasons_and_not_tickets():
    def tickets(path: Path) -> list[str]:
        said = "\n".join(comments_and_docstrings(path))
        return [match[0] for match in TICKET.finditer(said)]

    assert offenders(SOURCES, tickets) == {}


def test_nothing_is_left_unfinished_or_tied_to_one_machine():
    def tied(path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8")
        return [match[0] for rule in (UNFINISHED, MACHINE_PATH) for match in rule.finditer(text)]

    assert offenders(SOURCES + PROSE, tied) == {}


def test_addresses_are_loopback_examples_or_standards():
    def unknown(path: Path) -> set[str]:
        hosts = {host.lower() for host in URL.findall(path.read_text(encoding="utf-8"))}
        return {host for host in hosts if not KNOWN_HOST.fullmatch(host)}

    assert offenders(SOURCES + PROSE, unknown) == {}


def test_the_core_opens_no_file_and_prints_nothing():
    def calls(path: Path) -> set[str]:
        called = {
            node.func.id
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        return called & {"open", "print", "input", "eval", "exec", "__import__"}

    core = [path for path in SOURCES if path.relative_to(ROOT).parts[0] == "monitor"]
    pure = [path for path in core if path.relative_to(ROOT).parts[1] not in HOSTS]
    assert offenders(pure, calls) == {}
