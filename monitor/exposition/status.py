"""A page for people: correctness by release, reasons, coverage and the ledger's balance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from monitor.exposition.balance import Balance, span_balance, turn_balance
from monitor.exposition.live import Live
from monitor.ledger.snapshot import Totals
from monitor.releases.standing import Standing
from monitor.verdict import BASES, REASONS

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#1b1f24;background:#fff}table{border-collapse:collapse;margin:.5rem 0 1.5rem}"
    "th,td{padding:.2rem .8rem;border-bottom:1px solid #d0d7de;text-align:right}"
    "th:first-child,td:first-child{text-align:left}caption{text-align:left;font-weight:600;"
    "padding:.3rem 0}.off{color:#b00020;font-weight:600}nav a{margin-right:1rem}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}a{color:#79b8ff}"
    "th,td{border-color:#30363d}.off{color:#ff8a80}}"
)


def status_page(totals: Totals, live: Live) -> bytes:
    """The page as UTF-8 HTML; it loads nothing and runs nothing."""
    names = [release.name for release in totals.releases]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>Agent turn monitor</title><style>{_STYLE}</style></head><body>",
        "<h1>Agent turn monitor</h1>",
        '<nav><a href="/metrics">/metrics</a><a href="/healthz">/healthz</a>'
        '<a href="/readyz">/readyz</a></nav>',
    ]
    if not names:
        parts.append("<p>No turn has been scored yet.</p>")
    parts += [
        _degraded(live),
        _correctness(totals, names),
        _comparisons(live),
        _reasons(totals, names),
        _coverage(totals, names),
        _balances(totals, live),
        f"<p>Version {escape(live.version)}</p></body></html>",
    ]
    return "".join(parts).encode("utf-8", "replace")


def _degraded(live: Live) -> str:
    """A line for each source that cannot be read."""
    faults = {name: fault for name, fault in live.source_faults.items() if fault is not None}
    return "".join(
        f'<p class="off">{escape(name)} cannot be read: {escape(fault)}</p>'
        for name, fault in faults.items()
    )


def _correctness(totals: Totals, names: Sequence[str]) -> str:
    rows = []
    for name in names:
        verdicts = _sum_by(totals, "turns", name, 3)
        passed, roots = verdicts.get("pass", 0), verdicts.get("root_fail", 0)
        inherited = verdicts.get("cascade_fail", 0)
        scored = passed + roots + inherited
        conversations = sum(_sum_by(totals, "conversations", name, 2).values())
        rows.append(
            (
                name,
                conversations,
                scored + verdicts.get("unscored", 0),
                _share(passed, scored),
                roots,
                inherited,
                _share(roots, passed + roots),
            )
        )
    head = (
        "Release",
        "Conversations closed",
        "Turns",
        "Correct of scored",
        "Root failures",
        "Inherited failures",
        "Root failures per turn at risk",
    )
    return _table("Correctness by release", head, rows)


def _comparisons(live: Live) -> str:
    """Each new release against its baseline, and what is missing where nothing can be said yet."""
    rows = []
    for each in live.shown.standings:
        selected = ", ".join(f"{reason} (chain {chain})" for reason, chain in each.selected)
        rows.append(
            (
                each.release,
                f"{each.baseline} ({each.mode})",
                _drop(each.effect),
                _strength(each, live.shown.thresholds.get("total")),
                selected or "none",
            )
        )
    head = ("Release", "Baseline", "Drop in correct turns", "Evidence", "Reasons that rose")
    title = "Releases compared"
    if replaced := live.shown.evaluators_replaced:
        title += f" (begun anew by changed rules of verdicts: {replaced})"
    return _table(title, head, rows)


def _drop(effect: tuple[float, float, float] | None) -> str:
    if effect is None:
        return "not known"
    estimate, lower, upper = (100 * value for value in effect)
    return f"{estimate:+.1f} points ({lower:+.1f} to {upper:+.1f})"


def _strength(standing: Standing, threshold: float | None) -> str:
    found = standing.evidence.get("total")
    if found is not None and threshold is not None and found >= threshold:
        return f"e = 10^{found:.1f}, pages"
    if standing.turns_needed:
        return f"not enough data: {standing.turns_needed} more turns"
    return "none" if found is None else f"e = 10^{found:.1f}"


def _reasons(totals: Totals, names: Sequence[str]) -> str:
    counted = {name: _sum_by(totals, "failures", name, 2) for name in names}
    seen = [
        reason for reason in (*REASONS, "other") if any(counted[name].get(reason) for name in names)
    ]
    rows = [(reason, *(counted[name].get(reason, 0) for name in names)) for reason in seen]
    return _table("Failed turns by reason", ("Reason", *names), rows)


def _coverage(totals: Totals, names: Sequence[str]) -> str:
    rows = []
    for name in names:
        scored = _sum_by(totals, "scored", name, 1)
        unscored = _sum_by(totals, "unscored", name, 1)
        known, unknown = sum(scored.values()), sum(unscored.values())
        why = ", ".join(f"{why} {count}" for why, count in sorted(unscored.items()))
        rows.append(
            (name, _share(known, known + unknown), *(scored.get(b, 0) for b in BASES), unknown, why)
        )
    head = ("Release", "Scored", *(f"by {basis}" for basis in BASES), "Unscored", "Why unscored")
    return _table("Coverage", head, rows)


def _balances(totals: Totals, live: Live) -> str:
    return "".join(
        _balance(balance) for balance in (span_balance(totals, live), turn_balance(totals, live))
    )


def _balance(balance: Balance) -> str:
    rows = [(name, value) for name, value in balance.terms]
    caption = f"{balance.whole_name}: {balance.whole}"
    table = _table(caption, ("Of these", "Count"), rows)
    if balance.holds:
        return table
    return f'{table}<p class="off">{balance.difference:+d} not accounted for</p>'


def _sum_by(totals: Totals, family: str, release: str, place: int) -> dict[str, int]:
    """One release's counters of a family, added up by the label at `place`."""
    sums: dict[str, int] = {}
    for labels, value in totals.family(family).items():
        if labels[0] == release:
            sums[labels[place]] = sums.get(labels[place], 0) + value
    return sums


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "not known"


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    if not body:
        return ""
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    return f"<table><caption>{escape(caption)}</caption><tr>{cells}</tr>{body}</table>"
