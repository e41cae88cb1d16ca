"""Fixtures shared by every test file."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real traces and labelled trajectories, beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("shared/data not present")
    return SHARED
