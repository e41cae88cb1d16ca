"""What a turn is held against: carried in the trace, golden sets, references, tool contracts."""

from __future__ import annotations

from monitor.references.by_id import ReferenceStore, parse_reference
from monitor.references.carried import CarriedReference
from monitor.references.contracts import ToolContracts
from monitor.references.dialogs import Dialog, parse_dialog
from monitor.references.golden import Golden, GoldenStore, parse_golden
from monitor.references.tools_file import parse_tools

__all__ = [
    "CarriedReference",
    "Dialog",
    "Golden",
    "GoldenStore",
    "ReferenceStore",
    "ToolContracts",
    "parse_dialog",
    "parse_golden",
    "parse_reference",
    "parse_tools",
]
