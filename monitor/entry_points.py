"""Finds adapters by entry point, and refuses an import package that is not ours."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import monitor
from monitor.errors import ConfigurationError

GROUP: Final = "monitor.adapters"
DISTRIBUTION: Final = "agent-turn-monitor"
OUR_PACKAGE: Final = "adapters"
"""Also the name of an unrelated public distribution's import package."""


def adapter_names() -> tuple[str, ...]:
    """The names that `load_adapter` knows, sorted; other distributions may add theirs."""
    return tuple(sorted(entry_points(group=GROUP).names))


def load_adapter(name: str) -> Any:
    """The object behind the entry point `name` of the group `monitor.adapters`.

    Raises ConfigurationError when the name is unknown or claimed twice, when its module cannot
    be imported, and when the package `adapters` that Python finds is another distribution's.
    """
    entry = _entry(name)
    if entry.module.partition(".")[0] == OUR_PACKAGE:
        _refuse_intruder(name)
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"adapter {name!r}: cannot load {entry.value!r} of {_owner(entry)}: {error}; "
            "install what it names, or leave the adapter out of the configuration"
        ) from error


def _entry(name: str) -> EntryPoint:
    found = {entry.value: entry for entry in entry_points(group=GROUP, name=name)}
    if not found:
        known = ", ".join(adapter_names()) or f"none; is {DISTRIBUTION} installed?"
        raise ConfigurationError(f"adapter {name!r} is not known; known adapters: {known}")
    if len(found) > 1:
        claims = ", ".join(f"{value!r} of {_owner(entry)}" for value, entry in found.items())
        raise ConfigurationError(f"adapter {name!r} is claimed more than once: {claims}")
    return next(iter(found.values()))


def _refuse_intruder(name: str) -> None:
    """Our `adapters` lies beside `monitor`, and its first file says whose it is."""
    ours = Path(monitor.__file__).resolve().parent.parent / OUR_PACKAGE / "__init__.py"
    loaded = _file_of_package()
    if loaded == ours and getattr(import_module(OUR_PACKAGE), "DISTRIBUTION", "") == DISTRIBUTION:
        return
    intruder = next(_other_owners(loaded), "no installed distribution")
    raise ConfigurationError(
        f"adapter {name!r}: the import package {OUR_PACKAGE!r} is {loaded}, which belongs to "
        f"{intruder} and not to {DISTRIBUTION}; uninstall it, or install {DISTRIBUTION} into a "
        "virtual environment of its own"
    )


def _file_of_package() -> Path:
    """The file, or folder of a namespace package, that `import adapters` would load."""
    spec = find_spec(OUR_PACKAGE)
    if spec is None:
        return Path("<not found>")
    folders = list(spec.submodule_search_locations or ())
    return Path(spec.origin or (folders[0] if folders else "<not found>")).resolve()


def _other_owners(file: Path) -> Iterator[str]:
    """Distributions other than ours that installed this file, or a file below this folder."""
    for distribution in distributions():
        if distribution.name != DISTRIBUTION and _installed(distribution, file):
            yield f"the distribution {distribution.name!r} {distribution.version}"


def _installed(distribution: Distribution, file: Path) -> bool:
    for listed in distribution.files or ():
        if listed.parts[0] == OUR_PACKAGE:
            place = Path(str(distribution.locate_file(listed))).resolve()
            if place == file or file in place.parents:
                return True
    return False


def _owner(entry: EntryPoint) -> str:
    return f"distribution {entry.dist.name!r}" if entry.dist else "an unnamed distribution"
