"""Keys and tokens that are known by their form: of clouds, models, code hosts and the like."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Final

from adapters.redaction.glance import long_words
from adapters.redaction.hits import Hit
from adapters.redaction.secrets import is_random

_EDGE: Final = r"(?<![0-9A-Za-z_-])"
_KEY: Final = re.compile(
    _EDGE + r"(?:"
    r"sk-(?:lf-[0-9a-f-]{8,40}|[A-Za-z0-9_-]{16,1024})|pk-lf-[0-9a-f-]{8,40}"  # models, Langfuse
    r"|(?:gsk|xai|pplx|nvapi|fw|r8|hf|pcsk|sbp|tvly|jina|csk|voyage|co)[_-][A-Za-z0-9_-]{20,1024}"
    r"|lsv2_(?:pt|sk)_[0-9a-f]{16,64}(?:_[0-9a-f]{4,32})?|lin_api_[A-Za-z0-9]{20,64}"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}|ABSK[A-Za-z0-9+/=]{40,1024}"  # clouds
    r"|AIza[0-9A-Za-z_-]{30,64}|GOCSPX-[0-9A-Za-z_-]{16,64}"
    r"|dop_v1_[0-9a-f]{32,80}|dapi[0-9a-f]{32}(?:-\d)?|NRAK-[0-9A-Z]{20,40}"
    r"|gh[pousr]_[A-Za-z0-9]{20,1024}|github_pat_[A-Za-z0-9_]{20,1024}"  # code hosts
    r"|gl(?:pat|dt|rt|ft|soat|cbt|ptt|agent)-[A-Za-z0-9_-]{16,1024}|ATATT3[A-Za-z0-9_=-]{20,512}"
    r"|npm_[A-Za-z0-9]{30,64}|pypi-[A-Za-z0-9_-]{16,512}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{16,64}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{8,1024}|xapp-[A-Za-z0-9-]{16,1024}"  # chat
    r"|[MNO][A-Za-z0-9_-]{23,27}"
    r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"
    r"|(?:sk|pk|rk)_(?:live|test)_[0-9A-Za-z]{10,1024}"  # payment, mail
    r"|whsec_[A-Za-z0-9+/=]{16,1024}"
    r"|(?:SK|AC)[0-9a-f]{32}|key-[0-9a-f]{32}"
    r"|(?:ntn|secret)_[A-Za-z0-9]{40,64}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,64}"
    r"|figd_[A-Za-z0-9_-]{20,64}|PMAK-[0-9a-f]{16,32}-[0-9a-f]{24,48}"
    r"|gl(?:sa|c)_[A-Za-z0-9+/=]{24,256}(?:_[0-9a-f]{8})?|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_-]{24,64}"
    r"|f[om][12]_[A-Za-z0-9_+/=-]{24,1024}|tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,96}"
    r"|sntry[su]_[A-Za-z0-9+/=_-]{24,512}|bk(?:ua|ca|pt)_[0-9a-f]{32,64}|AGE-SECRET-KEY-1[0-9A-Z]{40,64}"
    r"|(?:rnd|rw|ps|tok|api|pat|ghu|hvb|hvr|vercel|cfut|nfp|phc|phx|ATBB|atlasv1|dop|doo|dor)"
    r"_[A-Za-z0-9_-]{32,256}"
    r"|[a-z]{2,12}_(?:pat|live|prod|secret|sk|key|token)_[A-Za-z0-9_-]{20,256}"
    r"|EAACEdEose0cBA[A-Za-z0-9]{4,1024}"
    r")(?![0-9A-Za-z_-])"
)
_JWT: Final = re.compile(
    _EDGE + r"(eyJ[A-Za-z0-9_-]{6,8192})\.[A-Za-z0-9_-]{2,65536}(?:\.[A-Za-z0-9_-]{0,65536}){0,3}"
)
_PEM_HEAD: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{2,48}-----")
_PEM_BODY: Final = re.compile(r"[A-Za-z0-9+/=\s:,-]*")

# Some keys do not begin with their long part; a fixed mark tells that one may be there.
_MARKS: Final = (
    "SG.",
    "ya29.",
    "hvs.",
    "dp.pt.",
    "hooks.slack",
    "/webhooks/",
    "AccountKey=",
    "sl.",
)
_KEY_IN_PARTS: Final = re.compile(
    _EDGE + r"(?:SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}|ya29\.[0-9A-Za-z_-]{16,512}"
    r"|hvs\.[A-Za-z0-9_-]{20,1024}|dp\.pt\.[A-Za-z0-9]{20,64}"
    r"|sl\.[A-Za-z0-9_-]{40,2048}|hooks\.slack\.com/services/[A-Za-z0-9/]{16,128}|AccountKey=[A-Za-z0-9+/]{40,120}={0,2}"
    r"|discord(?:app)?\.com/api/webhooks/\d{8,24}/[A-Za-z0-9_-]{16,128})"
)
_BOT: Final = re.compile(r":(?<=[0-9]{8}:)[A-Za-z0-9_-]{35}(?![0-9A-Za-z_-])")
_BOT_NUMBER: Final = 10
_DIGIT: Final = re.compile(r"[0-9]")


def keys(text: str) -> Iterator[Hit]:
    """Keys and tokens known by their prefix, and JSON web tokens."""
    for start, _ in long_words(text):
        if text[start].isalpha():
            yield from _keys_at(text, start)
    if any(mark in text for mark in _MARKS):
        for found in _KEY_IN_PARTS.finditer(text):
            yield Hit(*found.span(), "KEY", found[0])
    if ":" in text:
        yield from _bot_keys(text)


def _keys_at(text: str, start: int) -> Iterator[Hit]:
    token = _JWT.match(text, start)
    if token is not None and _is_header(token[1]):
        yield Hit(*token.span(), "JWT", token[0])
    found = _KEY.match(text, start)
    # A name in code has no digit, where a key has many, or capitals anywhere.
    if found is not None and (_DIGIT.search(found[0]) or is_random(found[0].split("_")[-1])):
        yield Hit(*found.span(), "KEY", found[0])


def _bot_keys(text: str) -> Iterator[Hit]:
    """Keys of chat bots: a number, a colon and 35 characters."""
    for found in _BOT.finditer(text):
        start = found.start()
        while start and text[start - 1] in "0123456789":
            start -= 1
        if found.start() - start <= _BOT_NUMBER:
            yield Hit(start, found.end(), "KEY", text[start : found.end()])


def _is_header(head: str) -> bool:
    """Whether the first part of a web token decodes to one's header."""
    try:
        header = urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except ValueError:
        return False
    return b'"alg"' in header or b'"typ"' in header or b'"enc"' in header


def pem_blocks(text: str) -> Iterator[Hit]:
    """PEM blocks, also cut ones."""
    at = 0
    while head := _PEM_HEAD.search(text, at):
        tail = text.find("-----END ", head.end())
        if tail >= 0:
            close = text.find("-----", tail + 9, tail + 9 + 64)
            end = close + 5 if close >= 0 else tail
        else:
            body = _PEM_BODY.match(text, head.end())
            end = body.end() if body else head.end()
        yield Hit(head.start(), end, "PEM", "".join(text[head.start() : end].split()))
        at = end
