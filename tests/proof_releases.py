"""Later releases of the monitor, made for the proof: their codec knows a second version.

The second version compresses what the first one leaves plain. One release reads both and writes
the first, so that it can stand beside the present one; the next writes the second, and can stand
beside the one before it. Workers of all of them tell when they lead their group.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import monitor

READS = (
    "    reader = readers.get(head[3])\n",
    "    reader = readers.get(min(head[3], VERSION))\n"
    "    if head[3] == 2:\n"
    "        body = __import__('zlib').decompress(body)\n",
)
WRITES = (
    "    head, body = MARK + kind + bytes((version,)), _to_bytes(value)\n",
    "    head = MARK + kind + bytes((2,))\n"
    "    body = __import__('zlib').compress(_to_bytes(value), 1)\n",
)
LEADS = "leads the group"
HOOK = f"""
import sys, time
if "worker" in sys.orig_argv:
    from faust.assignor.partition_assignor import PartitionAssignor
    assign = PartitionAssignor.assign
    def telling(self, *given):
        print("{LEADS}", time.time(), file=sys.stderr, flush=True)
        return assign(self, *given)
    PartitionAssignor.assign = telling
"""


def releases(folder: Path) -> list[Path]:
    """Folders for PYTHONPATH: the present release, one that reads two versions, one that writes
    the second."""
    home = Path(monitor.__file__).parent.parent
    found = []
    for name, changes in (("present", []), ("reads-2", [READS]), ("writes-2", [READS, WRITES])):
        place = folder / name
        place.mkdir()
        (place / "sitecustomize.py").write_text(HOOK)
        # Of the present one a copy too: a checkout may be worked on while the proof runs.
        for package in ("monitor", "adapters"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(home / package, place / package, ignore=ignored)
        codec = place / "monitor" / "codec.py"
        text = codec.read_text()
        for old, new in changes:
            assert text.count(old) == 1, f"the codec has changed; {name} cannot be made"
            text = text.replace(old, new)
        codec.write_text(text)
        found.append(place)
    return found
