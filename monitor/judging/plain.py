"""Replies that a rule decides: nobody need ask a model whether an empty answer answers."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

OPENERS: Final = re.compile(
    r"""^[\W_]*(?:
        thought(?:\ process)?s? | thinking | reasoning | solution | answer | final\ answer | step\ 1
      | analysis | response | output | result
      | let(?:'|\u2019)?s?\ (?:me\ )?(?:think|solve|see|start|begin|work|analy[sz]e|break)
        [\w\s,'\u2019-]{0,60}
      | i(?:(?:'|\u2019)ll|\ will|\ am\ going\ to|(?:'|\u2019)m\ going\ to)\s
        (?:think|start|begin|solve)[\w\s,'\u2019-]{0,60}
      | here(?:'|\u2019)?s?\ (?:is|are)?\ ?(?:the|my|your)?\ ?(?:answer|solution|result|response)
      | l\u00f6sung | antwort | r\u00e9ponse | solution\ : | soluci\u00f3n | respuesta | risposta
      | resposta | \u7b54\u6848 | \u89e3 | \u601d\u8003\u8fc7\u7a0b | \u56de\u7b54 | \u89e3\u7b54
    )[\W_]*$""",
    re.IGNORECASE | re.VERBOSE,
)
LIMIT: Final = 120
"""Characters; a longer text is more than an opener."""


def says_nothing(text: str) -> bool:
    """Whether a reply is empty, a lone sign, or an opener that nothing follows.

    A short word may be an answer ("Yes", "7"), so only what can answer no request counts.
    """
    seen = "".join(
        character
        for character in unicodedata.normalize("NFKC", text[: LIMIT * 4])
        if unicodedata.category(character) not in ("Cf", "Cc") or character in "\n\t "
    ).strip()
    if not any(unicodedata.category(character)[0] in "LNS" for character in seen):
        return True
    return len(seen) <= LIMIT and bool(OPENERS.match(seen))
