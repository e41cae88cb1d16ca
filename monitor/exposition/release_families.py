"""What the detectors say, and how latency goes with correctness, as metric families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from monitor.exposition import catalogue as cat
from monitor.exposition import release_catalogue as own
from monitor.exposition.families import Family, add, family_of, gauge
from monitor.ledger.snapshot import Totals
from monitor.ledger.tally import LATENCY_BUCKETS_S
from monitor.releases.people import Pairs, corrected_by_people
from monitor.releases.standing import Shown
from monitor.verdict import CHAINS

_RANKS = len(LATENCY_BUCKETS_S) + 1


def comparison_families(shown: Shown, totals: Totals) -> Iterator[Family]:
    """Evidence, effects and correctness of the releases that have series of their own."""
    live = {release.name for release in totals.releases}
    standings = [s for s in shown.standings if s.release in live]
    evidence: dict[cat.Labels, float] = {}
    effects: dict[cat.Labels, float] = {}
    needed: dict[cat.Labels, float] = {}
    left_out: dict[cat.Labels, float] = {}
    chosen: dict[cat.Labels, float] = {}
    modes = family_of(own.COMPARISON)
    for each in standings:
        pair = (each.release, each.baseline)
        needed[pair] = each.turns_needed
        left_out[pair] = each.left_out
        evidence.update({(*pair, signal): value for signal, value in each.evidence.items()})
        if each.effect is not None:
            effects.update(
                {(*pair, name): value for name, value in zip(own.BOUNDS, each.effect, strict=True)}
            )
        chosen.update({(*pair, reason, chain): 1.0 for reason, chain in each.selected})
        add(modes, own.COMPARISON, (*pair, each.mode), 1, "_info")
    correctness: dict[cat.Labels, float] = {}
    for quality in shown.qualities:
        if quality.release not in live:
            continue
        evidence[(quality.release, quality.release, "drift")] = quality.drift
        if quality.correctness is not None:
            for name, value in zip(own.BOUNDS, quality.correctness, strict=True):
                correctness[(quality.release, name)] = value
    yield gauge(own.EVIDENCE, evidence)
    yield gauge(own.THRESHOLD, {(signal,): at for signal, at in shown.thresholds.items()})
    yield gauge(own.EFFECT, effects)
    yield gauge(own.NEEDED, needed)
    yield gauge(own.LEFT_OUT, left_out)
    yield gauge(own.SELECTED, chosen)
    yield modes
    yield gauge(own.CORRECTNESS, correctness)
    yield gauge(own.CORRELATION, _correlations(totals))
    yield gauge(own.BY_PEOPLE, _by_people(totals))


def _by_people(totals: Totals) -> dict[cat.Labels, float]:
    """From all turns with a verdict and the labels of whole turns."""
    verdicts: Counter[str] = Counter()
    for labels, turns in totals.family("turns").items():
        verdicts[labels[-1]] += turns
    passed = verdicts["pass"]
    pairs = totals.family("label_pairs")
    told = Pairs(
        *(
            pairs.get(("overall", automated, human), 0)
            for automated, human in product(cat.SCORED_OUTCOMES, repeat=2)
        )
    )
    found = corrected_by_people(
        passed, passed + verdicts["root_fail"] + verdicts["cascade_fail"], told
    )
    return {} if found is None else dict(zip(((b,) for b in own.BOUNDS), found, strict=True))


def _correlations(totals: Totals) -> dict[cat.Labels, float]:
    """By release; absent where latency or outcome never varied."""
    counted = totals.family("latency")
    found: dict[cat.Labels, float] = {}
    for release in totals.releases:
        tables = []
        for chain in CHAINS:
            rows = [
                [
                    counted.get((release.name, chain, outcome, str(bucket)), 0)
                    for bucket in range(_RANKS)
                ]
                for outcome in cat.SCORED_OUTCOMES
            ]
            tables.append((rows[0], rows[1]))
        value = stratified_correlation(tables)
        if value is not None:
            found[(release.name,)] = value
    return found


def stratified_correlation(tables: list[tuple[list[int], list[int]]]) -> float | None:
    """Spearman's, with ties, of bucket and success within each table, weighted by its size.

    Each table holds the passed and the failed conversations by latency bucket.
    """
    weighted = total = 0.0
    for passed, failed in tables:
        value = _spearman(passed, failed)
        if value is not None:
            size = sum(passed) + sum(failed)
            weighted += size * value
            total += size
    return weighted / total if total else None


def _spearman(passed: list[int], failed: list[int]) -> float | None:
    """Of one table: bucket ranks against success, both with mid-ranks."""
    size = sum(passed) + sum(failed)
    successes = sum(passed)
    if not 0 < successes < size:
        return None
    below = 0
    mean = mean_square = covered = 0.0
    for ok, bad in zip(passed, failed, strict=True):
        count = ok + bad
        rank = below + (count + 1) / 2.0
        below += count
        mean += rank * count
        mean_square += rank * rank * count
        covered += rank * ok
    mean /= size
    variance = mean_square / size - mean * mean
    if variance <= 0:
        return None
    share = successes / size
    covariance = covered / size - mean * share
    return float(covariance / (variance * share * (1.0 - share)) ** 0.5)
