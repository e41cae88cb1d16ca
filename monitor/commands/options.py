"""What commands share: exit codes, settings under the command line, and options."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TypeAlias

from monitor.config import Settings, load

DONE, REFUSED, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

OVERRIDES = {
    "otlp": ("otlp", "listen"),
    "metrics_listen": ("metrics", "listen"),
    "ledger": ("ledger", "path"),
    "reports": ("sinks", "jsonl"),
    "tools": ("tools", "files"),
    "references": ("references", "by_id"),
    "golden": ("references", "golden"),
}


def command(commands: Commands, name: str, text: str) -> argparse.ArgumentParser:
    """A command's own parser."""
    return commands.add_parser(name, help=text, description=text)


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The configuration with the command line's choices on top."""
    settings = load(getattr(arguments, "config", None))
    changes: dict[str, dict[str, object]] = {}
    for option, (section, key) in OVERRIDES.items():
        value = getattr(arguments, option, None)
        if value:
            changes.setdefault(section, {})[key] = (
                tuple(value) if isinstance(value, list) else value
            )
    sections = {
        name: getattr(settings, name).model_copy(update=keys) for name, keys in changes.items()
    }
    return settings.model_copy(update=sections)


def say(text: str) -> None:
    """A remark to the operator, beside the command's output."""
    print(f"agent-monitor: {text}", file=sys.stderr, flush=True)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Options for files that hold something other than OTLP."""
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="what the files hold instead of OTLP: langgraph, langchain, strands, agentcore, "
        "bedrock, adk_session, agent_trace, spans, langfuse.trace, generic",
    )
    parser.add_argument(
        "--mapping",
        type=Path,
        metavar="FILE",
        help="where things are in files of the format `generic`, TOML or JSON",
    )


def add_evaluation(parser: argparse.ArgumentParser) -> None:
    """Options that name what traces are held against."""
    parser.add_argument(
        "--references",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="expected behaviour by conversation id, JSON lines",
    )
    parser.add_argument(
        "--golden",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="golden dialogs, matched by id or by the user's query, JSON lines",
    )
    add_tools(parser)


def add_tools(parser: argparse.ArgumentParser) -> None:
    """The option that names tool contracts."""
    parser.add_argument(
        "--tools", nargs="+", type=Path, metavar="FILE", help="tool contracts, JSON"
    )
