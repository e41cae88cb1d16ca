"""The ledger's tables, as the migrations that lead to them."""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x41544D31
"""`ATM1`: tells a ledger from any other SQLite file."""

_FIRST: Final = (
    # Accepted batches that wait to be scored. AUTOINCREMENT: a number is never given twice.
    """CREATE TABLE spool (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        arrived_s REAL NOT NULL,
        spans INTEGER NOT NULL,
        size INTEGER NOT NULL,
        crc INTEGER NOT NULL,
        payload BLOB NOT NULL)""",
    # Lets depth and bytes be told without touching the payloads.
    "CREATE INDEX spool_size ON spool (size)",
    """CREATE TABLE quarantine (
        seq INTEGER PRIMARY KEY,
        arrived_s REAL,
        spans INTEGER,
        payload BLOB)""",
    "CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE positions (source TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID",
    # What was open at the moment of the last commit.
    "CREATE TABLE gauges (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    # Label values joined by U+001F, in the order of the family's labels.
    """CREATE TABLE counters (
        family TEXT NOT NULL,
        labels TEXT NOT NULL,
        value INTEGER NOT NULL,
        PRIMARY KEY (family, labels)) WITHOUT ROWID""",
    # AUTOINCREMENT: counters are kept by slot, so a forgotten release's is never given again.
    """CREATE TABLE releases (
        slot INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        model TEXT NOT NULL,
        first_seen_s REAL,
        last_seen_s REAL,
        live INTEGER NOT NULL)""",
    """CREATE TABLE strata (
        stratum INTEGER PRIMARY KEY,
        slot INTEGER NOT NULL,
        evaluator TEXT NOT NULL,
        chain INTEGER NOT NULL,
        n INTEGER NOT NULL DEFAULT 0,
        r INTEGER NOT NULL DEFAULT 0,
        a INTEGER NOT NULL DEFAULT 0,
        rr INTEGER NOT NULL DEFAULT 0,
        ra INTEGER NOT NULL DEFAULT 0,
        aa INTEGER NOT NULL DEFAULT 0,
        UNIQUE (slot, evaluator, chain))""",
    """CREATE TABLE conversations (
        key BLOB PRIMARY KEY,
        revision INTEGER NOT NULL,
        started_s REAL,
        counted INTEGER NOT NULL,
        stratum INTEGER,
        r INTEGER NOT NULL,
        a INTEGER NOT NULL,
        stamped_s REAL,
        turns BLOB NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX conversations_stamped ON conversations (stamped_s)",
    # Keep an old report from being counted again, after its turns are forgotten.
    """CREATE TABLE tombstones (
        key BLOB PRIMARY KEY,
        revision INTEGER NOT NULL,
        started_s REAL,
        stamped_s REAL NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX tombstones_stamped ON tombstones (stamped_s)",
    """CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        report BLOB NOT NULL)""",
    "CREATE TABLE sinks (name TEXT PRIMARY KEY, delivered INTEGER NOT NULL) WITHOUT ROWID",
)

_SECOND: Final = (
    # Strata by what the user wants too, and inherited failures beside the roots.
    """CREATE TABLE strata_by_intent (
        stratum INTEGER PRIMARY KEY,
        slot INTEGER NOT NULL,
        evaluator TEXT NOT NULL,
        chain INTEGER NOT NULL,
        intent INTEGER NOT NULL,
        n INTEGER NOT NULL DEFAULT 0,
        r INTEGER NOT NULL DEFAULT 0,
        a INTEGER NOT NULL DEFAULT 0,
        rr INTEGER NOT NULL DEFAULT 0,
        ra INTEGER NOT NULL DEFAULT 0,
        aa INTEGER NOT NULL DEFAULT 0,
        c INTEGER NOT NULL DEFAULT 0,
        cc INTEGER NOT NULL DEFAULT 0,
        rc INTEGER NOT NULL DEFAULT 0,
        ac INTEGER NOT NULL DEFAULT 0,
        UNIQUE (slot, evaluator, chain, intent))""",
    """INSERT INTO strata_by_intent (stratum, slot, evaluator, chain, intent, n, r, a, rr, ra, aa)
        SELECT stratum, slot, evaluator, chain, -1, n, r, a, rr, ra, aa FROM strata""",
    "DROP TABLE strata",
    "ALTER TABLE strata_by_intent RENAME TO strata",
    "ALTER TABLE conversations ADD COLUMN c INTEGER NOT NULL DEFAULT 0",
    # What the detectors know, in their own encoding.
    "CREATE TABLE detectors (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
)

_THIRD: Final = (
    # What labels of people are held against, for as long as people may still label it.
    """CREATE TABLE judged (
        key BLOB PRIMARY KEY,
        stamped_s REAL NOT NULL,
        turns BLOB NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX judged_stamped ON judged (stamped_s)",
    """CREATE TABLE judged_traces (
        trace_id TEXT NOT NULL,
        key BLOB NOT NULL,
        PRIMARY KEY (trace_id, key)) WITHOUT ROWID""",
    "CREATE INDEX judged_traces_key ON judged_traces (key)",
    # Labels by id. One that has counted keeps its id only; one without a verdict waits, whole.
    """CREATE TABLE human_labels (
        label_id TEXT PRIMARY KEY,
        stamped_s REAL NOT NULL,
        key BLOB,
        trace_id TEXT,
        label BLOB) WITHOUT ROWID""",
    "CREATE INDEX human_labels_key ON human_labels (key)",
    "CREATE INDEX human_labels_trace ON human_labels (trace_id)",
    "CREATE INDEX human_labels_stamped ON human_labels (stamped_s)",
    "CREATE INDEX human_labels_waiting ON human_labels (stamped_s) WHERE label IS NOT NULL",
)

_FOURTH: Final = (
    # Conversations that wait for the judge. AUTOINCREMENT: a number is never given twice.
    """CREATE TABLE judge_cases (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        key BLOB NOT NULL UNIQUE,
        picked_s REAL NOT NULL,
        body BLOB NOT NULL)""",
    # What was said of a conversation, for as long as it may still be revised.
    """CREATE TABLE judge_opinions (
        key BLOB PRIMARY KEY,
        stamped_s REAL NOT NULL,
        body BLOB NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX judge_opinions_stamped ON judge_opinions (stamped_s)",
    # Answers by the digest of model, rubric and question.
    """CREATE TABLE judge_answers (
        key BLOB PRIMARY KEY,
        stamped_s REAL NOT NULL,
        body BLOB NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX judge_answers_stamped ON judge_answers (stamped_s)",
    # What the budget's windows took, and the calibration of the cheap score.
    "CREATE TABLE judge_state (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
    # Conversations that were drawn and are in no sum yet.
    """CREATE TABLE judge_drawn (
        key BLOB PRIMARY KEY,
        slot INTEGER NOT NULL,
        body BLOB NOT NULL) WITHOUT ROWID""",
    # Sums of the estimate by release; a new judge begins anew.
    "CREATE TABLE judge_sums (slot INTEGER PRIMARY KEY, body BLOB NOT NULL)",
)

MIGRATIONS: Final = (_FIRST, _SECOND, _THIRD, _FOURTH)
"""Statements by schema version, from 1; a released entry never changes."""
