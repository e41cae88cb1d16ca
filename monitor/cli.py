"""The command `agent-monitor`: words of the shell to parts of the house, and errors to exit codes.

Exit codes: 0 done; 1 done, but some input was refused; 2 wrong usage, configuration or input;
3 the monitor could not go on; 130 interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from monitor import chosen, wiring
from monitor.config import Settings, load
from monitor.errors import ConfigurationError, InvalidInput, MonitorError
from monitor.roles import batch, bench, demo, service
from monitor.roles.files import distinct, replacing
from monitor.roles.garbage import collect_rarely
from monitor.roles.inspect_text import lines_of
from monitor.roles.past import moment

DONE, REFUSED, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = _parser().parse_args(argv)
    collect_rarely()
    logging.basicConfig(level=logging.INFO, format="agent-monitor: %(message)s")
    try:
        code: int = arguments.run(arguments)
    except (ConfigurationError, InvalidInput) as error:
        print(f"agent-monitor: {error}", file=sys.stderr)
        return USAGE
    except MonitorError as error:
        print(f"agent-monitor: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    return code


def _run(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    running = wiring.service(settings)
    asyncio.run(service.serve(running, _say, flush=arguments.flush_on_exit))
    return DONE


def _score(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    distinct(inputs=arguments.dialogs, outputs=[arguments.out])
    evaluate = chosen.dialog_evaluation(settings)
    summary = batch.score(arguments.dialogs, evaluate, arguments.out, progress=True)
    print(summary.text())
    return REFUSED if summary.refused_lines else DONE


def _replay(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    outputs = [path for path in (arguments.out, arguments.metrics) if path]
    distinct(inputs=arguments.traces, outputs=outputs)
    with tempfile.TemporaryDirectory(prefix="agent-monitor-") as folder:
        redaction = chosen.replay_redaction(settings)
        parts = wiring.engine(
            settings, Path(folder) / "replay.sqlite3", durable=False, redaction=redaction
        )
        decoders = wiring.file_decoders(settings, arguments.format, arguments.mapping)
        summary = batch.replay(
            arguments.traces,
            decoders,
            parts.engine,
            arguments.out,
            progress=True,
            redact=redaction.spans if redaction else list,
        )
        if arguments.metrics:
            body, _ = parts.render("text/plain")
            with replacing(arguments.metrics) as file:
                file.write(body)
        parts.close()
    print(summary.text())
    if summary.lines and not summary.reports:
        _say("no conversation was found; --format NAME reads what a framework wrote itself")
        return REFUSED
    return REFUSED if summary.refused_lines or summary.refused_spans else DONE


def _inspect(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    seen = wiring.inspected(settings, arguments.files, arguments.format, arguments.mapping)
    if arguments.json:
        print(msgspec.json.encode(seen).decode())
    else:
        for line in lines_of(seen):
            print(line)
    if not seen.conversations and arguments.format is None:
        _say("nothing was read as OTLP; --format NAME reads what a framework wrote itself")
    return REFUSED if seen.refused else DONE


def _backfill(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    start, end = moment(arguments.start), moment(arguments.end)
    summary = asyncio.run(wiring.backfill(settings, start, end))
    print(summary.text())
    return REFUSED if summary.refused_spans else DONE


def _demo(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="agent-monitor-demo-") as name:
        folder = Path(name)
        references, tools, played = demo.prepare(folder)
        running = wiring.service(wiring.demo_settings(folder, references, tools))

        async def play() -> None:
            try:
                await demo.show(await running.start(), played, print)
                if arguments.keep:
                    print("\nkeeping the monitor running; stop it with Ctrl-C", flush=True)
                    await asyncio.Event().wait()
            finally:
                await running.stop()

        asyncio.run(play())
    return DONE


def _check(arguments: argparse.Namespace) -> int:
    settings = load(arguments.config)
    for line in wiring.checked(settings):
        print(line)
    return DONE


def _bench(arguments: argparse.Namespace) -> int:
    if arguments.memory_only:
        print(json.dumps(_bench_memory()))
        return DONE
    conversations, rounds = (20, 3) if arguments.quick else (200, 5)
    settings = Settings()
    redaction = chosen.shown_redaction(settings)
    with tempfile.TemporaryDirectory(prefix="agent-monitor-bench-", dir=arguments.folder) as name:
        figures = bench.measure(
            wiring.trace_decoder(settings),
            redaction.spans if redaction else list,
            lambda path: wiring.engine(settings, path, durable=True).engine,
            Path(name),
            conversations,
            rounds,
            lambda text: print(text, file=sys.stderr),
        )
    if not arguments.quick:
        figures["memory"] = _in_own_process()
    print(json.dumps(figures) if arguments.json else json.dumps(figures, indent=2))
    return DONE


def _bench_memory() -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="agent-monitor-bench-") as name:
        settings = Settings()
        parts = wiring.engine(settings, Path(name) / "memory.sqlite3", durable=True)
        return bench.resident_bytes(wiring.trace_decoder(settings), parts.engine)


def _in_own_process() -> dict[str, object]:
    """Peak memory is a process's property, so the measurement gets one of its own."""
    command = [sys.executable, "-m", "monitor.cli", "bench", "--memory-only"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603  ourselves
    figures: dict[str, object] = json.loads(done.stdout)
    return figures


def _settings(arguments: argparse.Namespace) -> Settings:
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


OVERRIDES = {
    "otlp": ("otlp", "listen"),
    "metrics_listen": ("metrics", "listen"),
    "ledger": ("ledger", "path"),
    "reports": ("sinks", "jsonl"),
    "tools": ("tools", "files"),
    "references": ("references", "by_id"),
    "golden": ("references", "golden"),
}


def _say(text: str) -> None:
    print(f"agent-monitor: {text}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agent-monitor",
        description="A production monitor for multi-turn AI agents.",
        epilog="Exit codes: 0 done, 1 some input was refused, 2 wrong usage or configuration, "
        "3 could not go on.",
    )
    version = importlib.metadata.version("agent-turn-monitor")
    parser.add_argument("--version", action="version", version=f"agent-monitor {version}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    adding = (
        *(_add_run, _add_demo, _add_score, _add_replay, _add_backfill),
        *(_add_inspect, _add_check, _add_bench),
    )
    for add in adding:
        add(commands)
    return parser


Commands = argparse._SubParsersAction


def _command(commands: Commands, name: str, text: str) -> argparse.ArgumentParser:  # type: ignore[type-arg]
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    return parser


def _add_run(commands: Commands) -> None:  # type: ignore[type-arg]
    parser = _command(commands, "run", "Receive traces over OTLP/HTTP, score them, serve metrics.")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument("--otlp", metavar="HOST:PORT", help="where to receive OTLP/HTTP")
    parser.add_argument(
        "--metrics", dest="metrics_listen", metavar="HOST:PORT", help="where to serve /metrics"
    )
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="the SQLite file")
    parser.add_argument(
        "--reports", type=Path, metavar="FILE", help="append closed reports as JSON lines"
    )
    parser.add_argument(
        "--flush-on-exit",
        action="store_true",
        help="close and report open conversations when stopped, instead of keeping them open",
    )
    _add_evaluation(parser)
    parser.set_defaults(run=_run)


def _add_score(commands: Commands) -> None:  # type: ignore[type-arg]
    parser = _command(commands, "score", "Score dialogs that carry expected and actual turns.")
    parser.add_argument("dialogs", nargs="+", type=Path, metavar="DIALOGS.jsonl[.gz]")
    parser.add_argument("--out", required=True, type=Path, metavar="REPORTS.jsonl[.gz]")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    _add_tools(parser)
    parser.set_defaults(run=_score)


def _add_replay(commands: Commands) -> None:  # type: ignore[type-arg]
    parser = _command(commands, "replay", "Run recorded OTLP/JSON lines through the monitor.")
    parser.add_argument("traces", nargs="+", type=Path, metavar="TRACES.jsonl[.gz]")
    parser.add_argument("--out", required=True, type=Path, metavar="REPORTS.jsonl[.gz]")
    parser.add_argument("--metrics", type=Path, metavar="FILE", help="write the metrics page here")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    _add_format(parser)
    _add_evaluation(parser)
    parser.set_defaults(run=_replay)


def _add_inspect(commands: Commands) -> None:  # type: ignore[type-arg]
    parser = _command(
        commands, "inspect", "Show what is understood of recorded traces and what is not."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE[.gz]")
    parser.add_argument("--json", action="store_true", help="one JSON object, for machines")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    _add_format(parser)
    _add_evaluation(parser)
    parser.set_defaults(run=_inspect)


def _add_format(parser: argparse.ArgumentParser) -> None:
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


def _add_evaluation(parser: argparse.ArgumentParser) -> None:
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
    _add_tools(parser)


def _add_tools(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tools", nargs="+", type=Path, metavar="FILE", help="tool contracts, JSON"
    )


def _add_backfill(commands: Commands) -> None:  # type: ignore[type-arg]
    parser = _command(commands, "backfill", "Read a past time range of Langfuse into the ledger.")
    parser.add_argument("--from", dest="start", required=True, metavar="TIME", help="ISO 8601")
    parser.add_argument("--to", dest="end", required=True, metavar="TIME", help="ISO 8601")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="the SQLite file")
    parser.add_argument(
        "--reports", type=Path, metavar="FILE", help="append closed reports as JSON lines"
    )
    _add_evaluation(parser)
    parser.set_defaults(run=_backfill)


def _add_demo(commands: Commands) -> None:  # type: ignore[type-arg]
    parser = _command(commands, "demo", "Monitor two releases of a sample agent, live.")
    parser.add_argument("--keep", action="store_true", help="keep running after the result")
    parser.set_defaults(run=_demo)


def _add_check(commands: Commands) -> None:  # type: ignore[type-arg]
    parser = _command(commands, "check", "Check a configuration and every file that it names.")
    parser.add_argument("config", type=Path, metavar="CONFIG")
    parser.set_defaults(run=_check)


def _add_bench(commands: Commands) -> None:  # type: ignore[type-arg]
    parser = _command(commands, "bench", "Measure what a span costs, from the wire to the ledger.")
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument("--quick", action="store_true", help="fewer spans, no memory figure")
    parser.add_argument("--folder", type=Path, help="where the benchmark's ledger is written")
    parser.add_argument("--memory-only", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=_bench)


if __name__ == "__main__":
    sys.exit(main())
