"""`agent-monitor dead-letters`: records that the workers set aside."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.commands.options import DONE, REFUSED, USAGE, Commands, command, say, settings_of
from monitor.config.kafka import KafkaSettings
from monitor.errors import InvalidInput

if TYPE_CHECKING:
    from monitor.roles.kafka.redriving import Aside


def add(commands: Commands) -> None:
    """Declare the command, its options and what runs it."""
    parser = command(
        commands, "dead-letters", "List, show and send again what the workers set aside."
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    every = verbs.add_parser("list", help="one line each: name, time, size, state, why")
    every.add_argument("--waiting", action="store_true", help="only those not sent again yet")
    every.set_defaults(run=_list)
    one = verbs.add_parser("show", help="all that is known of one")
    one.add_argument("name", metavar="TOPIC/PARTITION/OFFSET")
    one.add_argument("--payload", type=Path, metavar="FILE", help="write what it held here")
    one.set_defaults(run=_show)
    again = verbs.add_parser("redrive", help="send records to their topics again")
    again.add_argument("names", nargs="*", metavar="TOPIC/PARTITION/OFFSET")
    again.add_argument("--all", action="store_true", help="every one that waits")
    again.set_defaults(run=_redrive)
    for verb in (every, one, again):
        verb.add_argument("--config", type=Path, metavar="FILE", help="settings, a TOML file")


def _list(arguments: argparse.Namespace) -> int:
    from monitor.roles.kafka.redriving import asides

    for aside in asides(_given(arguments)):
        if aside.redriven_s is None or not arguments.waiting:
            print(_line(aside))
    return DONE


def _show(arguments: argparse.Namespace) -> int:
    from monitor.roles.kafka.redriving import asides, chosen, payload

    given = _given(arguments)
    (aside,) = chosen(asides(given), [arguments.name])
    letter, held = aside.letter, payload(given, aside.letter)
    kept = "with the letter" if letter.value is not None else "in its topic"
    rows = {
        "name": ascii(letter.name)[1:-1],
        "set aside": _time(letter.at),
        "sent again": "no" if aside.redriven_s is None else _time(aside.redriven_s),
        "why": ascii(letter.why)[1:-1],
        "key": ascii(letter.key)[2:-1] if letter.key else "none",
        "bytes": letter.size,
        "payload": "gone" if held is None else kept,
    }
    for name, value in rows.items():
        print(f"{name}: {value}")
    if arguments.payload is None:
        return DONE
    if held is None:
        raise InvalidInput(f"{letter.name} is gone from its topic, and was not kept")
    arguments.payload.write_bytes(held)
    return DONE


def _redrive(arguments: argparse.Namespace) -> int:
    from monitor.roles.kafka.redriving import asides, chosen, redrive

    if arguments.all == bool(arguments.names):
        print("agent-monitor: name the letters, or say --all", file=sys.stderr)
        return USAGE
    given = _given(arguments)
    there = asides(given)
    wanted = (
        [aside for aside in there if aside.redriven_s is None]
        if arguments.all
        else chosen(there, arguments.names)
    )
    gone = redrive(given, [aside.letter for aside in wanted])
    for letter in gone:
        say(f"{letter.name} is gone from its topic, and was not kept")
    print(f"sent again: {len(wanted) - len(gone)} of {len(wanted)}")
    return REFUSED if gone else DONE


def _given(arguments: argparse.Namespace) -> KafkaSettings:
    from monitor.roles.kafka.serving import quieten

    quieten()
    return settings_of(arguments).kafka


def _line(aside: Aside) -> str:
    letter = aside.letter
    state = "waits" if aside.redriven_s is None else "sent again"
    words = (letter.name, _time(letter.at), f"{letter.size} B", state, letter.why)
    return "  ".join(ascii(word)[1:-1] for word in words)


def _time(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")
