"""The command `agent-monitor`: words of the shell to parts of the house, and errors to exit codes.

Exit codes: 0 done; 1 done, but some input was refused; 2 wrong usage, configuration or input;
3 the monitor could not go on; 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import sys
from collections.abc import Sequence

from monitor.commands import (
    agreement,
    backfill,
    bench,
    calibrate,
    check,
    collect,
    compare,
    dead_letters,
    demo,
    evaluate,
    export,
    inspect,
    judge,
    replay,
    replay_topic,
    rules,
    run,
    score,
    snapshot,
    topics,
    worker,
)
from monitor.commands.options import FAILED, INTERRUPTED, USAGE
from monitor.errors import ConfigurationError, InvalidInput, MonitorError
from monitor.roles.garbage import collect_rarely

COMMANDS = (
    run,
    demo,
    score,
    replay,
    evaluate,
    agreement,
    calibrate,
    backfill,
    inspect,
    compare,
    rules,
    check,
    bench,
    collect,
    export,
    judge,
    topics,
    worker,
    snapshot,
    replay_topic,
    dead_letters,
)

OF_KAFKA = ("aiokafka", "cramjam", "faust", "kafka")
"""What the extra of that name brings."""


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
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in OF_KAFKA:
            raise
        print(
            f"agent-monitor: {error.name} is not installed; the roles apart need "
            "`pip install 'agent-turn-monitor[kafka]'`",
            file=sys.stderr,
        )
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    return code


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
    for each in COMMANDS:
        each.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
