"""Whether a reply answers at all, told from its wording alone."""

from __future__ import annotations

import pytest

from monitor.scoring.answering import goes_on


@pytest.mark.parametrize(
    ("reply", "announces"),
    [
        ("Let me check that.", True),
        ("“One moment” – let me check that.", True),
        ("I will \u017fearch for it.", True),
        ("Das ist alles – danke.", False),
    ],
)
def test_an_announcement_is_known_beside_letters_of_other_scripts(reply: str, announces: bool):
    """Where case does not count, a pattern takes a long s for an s."""
    assert goes_on(reply) is announces
