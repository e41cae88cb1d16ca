"""What `inspect` shows of a file: whole pages against golden ones, and what must not be on them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from assembly_builders import fake_evaluate
from framework_documents import AGENTCORE, GENERIC, LANGGRAPH
from hypothesis import given
from hypothesis import strategies as st
from otlp_building import JSON

from monitor.comparison.ladder import Ladder
from monitor.entry_points import load_adapter
from monitor.errors import InvalidInput
from monitor.evaluator import Evaluator
from monitor.pipeline import Pipeline
from monitor.ports import Decoded
from monitor.references.contracts import ToolContracts
from monitor.roles.inspecting.files import inspect
from monitor.roles.inspecting.inspection import Seen
from monitor.roles.inspecting.text import lines_of, shown

DATA = Path(__file__).parent / "data"
OTLP = ("otlp.traces", "otlp.logs")


def seen(paths: Sequence[Path], formats: Sequence[str] = OTLP) -> Seen:
    evaluator = Evaluator([], ToolContracts([]), Ladder())
    decoders = [load_adapter(name)() for name in formats]
    return inspect(paths, decoders, evaluator.evaluate, lambda keep: Pipeline(keep, {}))


def written(folder: Path, document: Any, name: str = "file.json", **how: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(document, **how), encoding="utf-8")
    return path


def assert_golden(name: str, lines: Sequence[str]) -> None:
    text = "\n".join(lines) + "\n"
    path = DATA / "golden" / f"inspect_{name}.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


HOSTILE = {
    "messages": [
        {"role": "user", "content": 'a "quote", \x1b[31mred\x07 \u202e and\na line' + "x" * 300},
        {"role": "assistant", "content": "never mind"},
    ],
    "tool_calls": [
        {"name": "wipe\x1b[2J", "arguments": "no json", "error": "refused\x1b]0;title\x07"},
        {"name": "look"},
    ],
}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("pydantic_ai", "pydantic_ai_fmt5.pb"),
        ("strands_latest", "captured/strands_1.62_latest.pb.gz"),
        ("content_off", "captured/google_adk_2.13_content_off.pb.gz"),
    ],
)
def test_a_capture_is_shown_as_on_its_golden_page(name: str, file: str) -> None:
    assert_golden(name, list(lines_of(seen([DATA / file]))))


@pytest.mark.parametrize(
    ("name", "format_", "document"),
    [
        ("langgraph", "langgraph", LANGGRAPH),
        ("agentcore", "agentcore", AGENTCORE),
        ("generic", "generic", GENERIC),
        ("hostile", "generic", HOSTILE),
    ],
)
def test_a_native_payload_is_shown_as_on_its_golden_page(
    tmp_path: Path, name: str, format_: str, document: Any
) -> None:
    path = written(tmp_path, document, indent=2)
    assert_golden(name, list(lines_of(seen([path], [format_]))))


def test_lines_of_a_file_are_one_payload_each(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    line = json.dumps(GENERIC)
    path.write_text(f"{line}\nno json\n{line}\n", encoding="utf-8")
    found = seen([path], ["generic"])
    [conversation] = found.conversations
    assert conversation.conversation_id == "s-1"
    # An agent, a model call and a tool's run.
    assert found.counts == {"accepted": 6, "attached": 3, "duplicate": 3}
    assert len(found.refused) == 1
    assert found.refused[0].startswith("1 x runs.jsonl, payload 2: ")


def test_files_belong_together(tmp_path: Path) -> None:
    one = written(tmp_path, LANGGRAPH, "one.json")
    other = written(tmp_path, [{**LANGGRAPH[0], "turn_id": 2}], "two.json")
    [conversation] = seen([other, one], ["langgraph"]).conversations
    assert len(conversation.exchanges) == 2
    assert conversation.traces == 2


def test_what_is_refused_is_told_with_its_reason(tmp_path: Path) -> None:
    found = seen([written(tmp_path, {"unrelated": 1})], ["strands"])
    assert found.conversations == ()
    [refusal] = found.refused
    assert refusal.startswith("1 x unreadable_document: document 1 is not of the format 'strands'")


def test_a_file_that_no_decoder_reads_names_the_first_fault(tmp_path: Path) -> None:
    path = tmp_path / "noise.pb"
    path.write_bytes(b"\xff" * 40)
    found = seen([path])
    assert found.conversations == ()
    assert len(found.refused) == 1
    assert found.refused[0].startswith("1 x noise.pb, payload 1: ")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"missing\.json"):
        seen([tmp_path / "missing.json"])


def test_spans_that_nobody_reads_are_listed(tmp_path: Path) -> None:
    span = {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": "b7ad6b7169203331",
        "name": "POST",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
    }
    spans = [{**span, "spanId": f"{number:016x}"} for number in (1, 2)]
    export = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "http"}, "spans": spans}]}]}
    found = seen([written(tmp_path, export)])
    assert found.conversations == ()
    assert found.outside == ("2 x POST of http",)


def test_the_page_for_machines_holds_the_same(tmp_path: Path) -> None:
    found = seen([written(tmp_path, LANGGRAPH)], ["langgraph"])
    again = msgspec.json.decode(msgspec.json.encode(found), type=Seen)
    assert again == found
    turn = found.conversations[0].exchanges[0].turns[0]
    assert (turn.tool, turn.arguments, turn.verdict, turn.basis) == (
        "find_order",
        {"order_id": "SO-10012"},
        "pass",
        "evidence",
    )


def test_verdicts_and_omitted_turns_are_shown(tmp_path: Path) -> None:
    path = written(tmp_path, GENERIC)
    decoder = load_adapter("generic")()
    found = inspect([path], [decoder], fake_evaluate, lambda keep: Pipeline(keep, {}))
    assert [turn.verdict for turn in found.conversations[0].exchanges[0].turns] == ["pass", "pass"]


def test_a_decoder_is_asked_in_the_likelier_encoding_first(tmp_path: Path) -> None:
    asked: list[str] = []

    class Asked:
        def decode(self, payload: bytes, content_type: str) -> Decoded:
            asked.append(content_type)
            return Decoded([], [])

    path = tmp_path / "file"
    path.write_bytes(b' \n {"a":\n 1}')
    inspect([path], [Asked()], fake_evaluate, lambda keep: Pipeline(keep, {}))
    assert asked[0] == JSON


@given(text=st.text(max_size=40))
def test_nothing_that_is_shown_acts_on_a_terminal(text: str) -> None:
    line = shown(text)
    assert line.isprintable() or any(character.isspace() for character in line)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in line)
    assert not set(line) & set("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_long_text_is_cut_and_says_by_how_much() -> None:
    assert shown("x" * 205) == "x" * 200 + "… (5 more)"
