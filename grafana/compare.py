"""Release compare: is a release worse than the one before, by how much, and in what?"""

from __future__ import annotations

from grafana.expressions import share
from grafana.page import Row, page
from grafana.panels import NEAR_ONE, RATE, Panel, Query, Scale, Told, lines, numbers, rows

NOT_COMPARED = "Not enough data: no release can be compared with another yet."
PAIR = "{{release}} against {{baseline_release}}"
BY_PAIR = "max by (release, baseline_release)"
HELD = '@rule_by_release,baseline_release=~"$baseline"'
RAW = '@by_release,baseline_release=~"$baseline"'
EVIDENCE = "release_signal:agent_monitor_regression_log10_evidence:max"
EFFECT = "release_bound:agent_monitor_regression_effect_ratio:max"
SELECTED = "release_reason_chain:agent_monitor_regression_selected_reason:max"
LOGARITHM = Scale("none", 1, 0.0)
DROP = Scale("percentunit", 1)  # without colours: the evidence says whether to believe it


def compare() -> str:
    """The page for the hours after a swap."""
    return page(
        "agent-monitor-compare",
        "Agent monitor: Release compare",
        "Each release against its baseline, with evidence that may be looked at at any time.",
        (
            Row("How it stands", (*_figures(), _standing())),
            Row("Since the swap", _since()),
            Row("In what", (*_evidence_apart(), *_what_rose())),
            Row("Each by itself", (*_by_itself(), *_releases())),
        ),
        baseline=True,
    )


def _evidence(signal: str) -> str:
    return f'{BY_PAIR} ({EVIDENCE}{{{HELD},signal="{signal}"}})'


def _effect(bound: str) -> str:
    return f'{BY_PAIR} ({EFFECT}{{{HELD},bound="{bound}"}})'


def _figures() -> tuple[Panel, ...]:
    needed = f"{BY_PAIR} (agent_monitor_regression_needed_turns{{{RAW}}})"
    found = f"count by (release, baseline_release) ({SELECTED}{{{HELD}}})"
    return (
        numbers(
            Told(
                "Drop in correct turns",
                "How many more of 100 turns are wrong than in the baseline, at an equal mix of "
                "chain lengths and kinds of requests; below 0 the release is better.",
                NOT_COMPARED,
            ),
            Query(_effect("estimate"), PAIR),
            scale=DROP,
        ),
        numbers(
            Told(
                "Evidence",
                "Power of ten by which the data speak for the release being worse. At 2.3 (200 to "
                "1) the on-call engineer is called.",
                NOT_COMPARED,
            ),
            Query(_evidence("total"), PAIR),
            scale=Scale("none", 1, 0.0, steps=((None, "green"), (1.0, "orange"), (2.3, "red"))),
        ),
        numbers(
            Told(
                "Turns still needed",
                "Turns, of the new release or of its baseline, until the evidence can be weighed. "
                "An upgrade that changes the rules of verdicts begins anew.",
                "No release has a baseline yet: it needs the conversations that [releases] "
                "baseline_conversations names.",
            ),
            Query(needed, PAIR),
            scale=Scale("short", 0, 0.0, texts={"0": "enough data"}),
        ),
        numbers(
            Told(
                "Reasons that rose",
                "Pairs of reason and chain length that fail more often than in the baseline, at "
                "5 % false discoveries.",
                NOT_COMPARED,
            ),
            Query(f"{found} or 0 * {needed}", PAIR),
            scale=Scale("short", 0, 0.0, steps=((None, "green"), (1.0, "red"))),
        ),
    )


def _standing() -> Panel:
    lower, upper = _effect("lower"), _effect("upper")
    mode = (
        "max by (release, baseline_release, mode) "
        f"(agent_monitor_regression_comparison_info{{{RAW}}})"
    )
    return rows(
        Told(
            "Standing of each comparison",
            "Canary: against a baseline that still serves, which is fairer; swap: against its "
            "history. Left out are turns of a kind that the baseline never had.",
            NOT_COMPARED,
        ),
        {
            "release": "Release",
            "baseline_release": "Baseline",
            "mode": "Compared as",
            "Value #B": "Evidence",
            "Value #C": "Certified evidence",
            "Value #D": "Drop, at least",
            "Value #E": "Drop, at most",
            "Value #F": "Left out",
        },
        Query(mode),
        Query(_evidence("total")),
        Query(_evidence("certified")),
        Query(lower),
        Query(upper),
        Query(f"{BY_PAIR} (agent_monitor_regression_left_out_ratio{{{RAW}}})"),
        scale=Scale("none", 2),
        height=5,
        units={
            "Drop, at least": "percentunit",
            "Drop, at most": "percentunit",
            "Left out": "percentunit",
        },
    )


def _since() -> tuple[Panel, ...]:
    limit = 'max(signal:agent_monitor_regression_log10_threshold:max{@rule,signal="total"})'
    return (
        lines(
            Told(
                "Evidence that a release is worse",
                "Power of ten by which the data speak for a regression, the highest so far. Above "
                "the dashed line the on-call engineer is called.",
                NOT_COMPARED,
            ),
            Query(_evidence("total"), PAIR),
            Query(limit, "threshold"),
            scale=LOGARITHM,
            limit="threshold",
        ),
        lines(
            Told(
                "Drop in correct turns, with bounds",
                "Share of turns that are wrong beyond the baseline's, at an equal mix. The bounds "
                "hold at all times at once; a drop is certain where the lower one is above 0.",
                NOT_COMPARED,
            ),
            Query(
                f"max by (release, baseline_release, bound) ({EFFECT}{{{HELD}}})",
                "{{release}}, {{bound}}",
            ),
            scale=Scale("percentunit", 1),
        ),
    )


def _evidence_apart() -> tuple[Panel, ...]:
    signals = (
        "max by (release, signal) "
        f'({EVIDENCE}{{{HELD},signal!~"total|certified|drift|chain_.+|cascade|latency"}})'
    )
    shape = f'max by (release, signal) ({EVIDENCE}{{{HELD},signal=~"chain_.+|cascade|latency"}})'
    return (
        lines(
            Told(
                "Evidence by reason",
                "The same measure for each reason alone: which kind of failure rose.",
                NOT_COMPARED,
            ),
            Query(signals, "{{signal}} in {{release}}"),
            scale=LOGARITHM,
        ),
        lines(
            Told(
                "Evidence by chain length, inheritance and latency",
                "Where it rose: behind how many tool calls; whether failures spread further; "
                "whether more conversations are slow.",
                NOT_COMPARED,
            ),
            Query(shape, "{{signal}} in {{release}}"),
            scale=LOGARITHM,
        ),
    )


def _what_rose() -> tuple[Panel, ...]:
    by_reason = "release_reason:agent_monitor_root_failures_per_turn:ratio{@rule_by_release}"
    return (
        rows(
            Told(
                "Root failures per turn at risk, by reason",
                "Of all turns since the release was first seen, so releases of unlike age can be "
                "held beside each other.",
                "Not enough data: no turn was scored yet.",
            ),
            {"reason": "Reason", "release": "Release", "Value": "Root failures per turn at risk"},
            Query(f"sort_desc(max by (reason, release) ({by_reason}))"),
            scale=RATE,
            width=12,
        ),
        rows(
            Told(
                "Reasons and chain lengths that rose",
                "What fails more often than in the baseline, at 5 % false discoveries over all "
                "reasons and chain lengths.",
                "No reason stands out in any comparison.",
            ),
            {
                "release": "Release",
                "baseline_release": "Baseline",
                "reason": "Reason",
                "chain": "Tool calls",
                "Value": "Rose",
            },
            Query(f"max by (release, baseline_release, reason, chain) ({SELECTED}{{{HELD}}})"),
            scale=Scale("short", 0, texts={"1": "yes"}),
            width=12,
        ),
    )


def _by_itself() -> tuple[Panel, ...]:
    drift = (
        "max by (release) "
        '(release_signal:agent_monitor_regression_log10_evidence:max{@rule_by_release,signal="drift"})'
    )
    limit = 'max(signal:agent_monitor_regression_log10_threshold:max{@rule,signal="drift"})'
    return (
        lines(
            Told(
                "Correct turns, with bounds",
                "Share of correct turns since the release was first seen. The bounds hold at all "
                "times at once.",
                "Not enough data: no turn was scored yet.",
            ),
            Query(
                "max by (release, bound) (agent_monitor_correctness_ratio{@by_release})",
                "{{release}}, {{bound}}",
            ),
            scale=NEAR_ONE,
        ),
        lines(
            Told(
                "Evidence of silent drift",
                "Power of ten by which a release speaks against its own beginnings, without a "
                "change of release. Above the dashed line a ticket is written.",
                NOT_COMPARED,
            ),
            Query(drift, "{{release}}"),
            Query(limit, "threshold"),
            scale=LOGARITHM,
            limit="threshold",
        ),
    )


def _releases() -> tuple[Panel, ...]:
    seen = "min by (release) (agent_monitor_release_first_seen_timestamp_seconds{@by_release})"
    info = "max by (release, model) (agent_monitor_release_info{@by_release})"
    turns = "sum by (release) (increase(agent_monitor_turns_total{@by_release%s}[$__range]))"
    passed = share(turns % ',verdict="pass"', turns % ',verdict!="unscored"')
    return (
        rows(
            Told(
                "Releases",
                "Every release with series of its own: its model, its first conversation by the "
                "trace's clock, and its turns in the time shown.",
                "No release was seen yet.",
            ),
            {
                "release": "Release",
                "model": "Model",
                "Value #B": "First seen",
                "Value #C": "Turns",
                "Value #D": "Correct",
            },
            Query(info),
            Query(f"{seen} * 1000"),
            Query(turns % ""),
            Query(passed),
            scale=Scale("short", 0),
            units={"First seen": "dateTimeAsIso", "Correct": "percentunit"},
            height=6,
        ),
    )
