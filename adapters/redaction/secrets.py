"""Keys, tokens and passwords."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Final

from adapters.redaction.hits import Hit
from adapters.redaction.placeholders import PLACEHOLDER

_EDGE: Final = r"(?<![0-9A-Za-z_-])"
_KEY: Final = re.compile(
    _EDGE + r"(?:"
    r"sk-(?:lf-[0-9a-f-]{8,40}|[A-Za-z0-9_-]{16,256})|pk-lf-[0-9a-f-]{8,40}"  # models, Langfuse
    r"|(?:gsk|xai|pplx|nvapi|fw|r8|hf|pcsk|sbp|tvly|jina|csk|voyage|co)[_-][A-Za-z0-9_-]{20,256}"
    r"|lsv2_(?:pt|sk)_[0-9a-f]{16,64}(?:_[0-9a-f]{4,32})?|lin_api_[A-Za-z0-9]{20,64}"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}|ABSK[A-Za-z0-9+/=]{40,256}"  # clouds
    r"|AIza[0-9A-Za-z_-]{30,64}|ya29\.[0-9A-Za-z_-]{16,512}|GOCSPX-[0-9A-Za-z_-]{16,64}"
    r"|dop_v1_[0-9a-f]{32,80}|dapi[0-9a-f]{32}(?:-\d)?|NRAK-[0-9A-Z]{20,40}|hvs\.[\w-]{20,256}"
    r"|dp\.pt\.[A-Za-z0-9]{20,64}|AccountKey=[A-Za-z0-9+/]{40,120}={0,2}"
    r"|gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}"  # code hosts
    r"|gl(?:pat|dt|rt|ft|soat|cbt|ptt|agent)-[A-Za-z0-9_-]{16,255}|ATATT3[A-Za-z0-9_=-]{20,512}"
    r"|npm_[A-Za-z0-9]{30,64}|pypi-[A-Za-z0-9_-]{16,512}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{16,64}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{8,255}|xapp-[A-Za-z0-9-]{16,255}"  # chat
    r"|hooks\.slack\.com/services/[A-Za-z0-9/]{16,128}"
    r"|[0-9]{8,10}:[A-Za-z0-9_-]{35}|[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"
    r"|discord(?:app)?\.com/api/webhooks/\d{8,24}/[A-Za-z0-9_-]{16,128}"
    r"|(?:sk|pk|rk)_(?:live|test)_[0-9A-Za-z]{10,255}|whsec_[A-Za-z0-9+/=]{16,255}"  # payment, mail
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}|(?:SK|AC)[0-9a-f]{32}|key-[0-9a-f]{32}"
    r"|(?:ntn|secret)_[A-Za-z0-9]{40,64}|sq0(?:atp|csp)-[\w-]{20,64}|EAACEdEose0cBA[A-Za-z0-9]{4,255}"
    r")(?![0-9A-Za-z_-])"
)
_JWT: Final = re.compile(
    _EDGE + r"(eyJ[A-Za-z0-9_-]{6,8192})\.[A-Za-z0-9_-]{2,65536}(?:\.[A-Za-z0-9_-]{0,65536}){0,3}"
)
_PEM_HEAD: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{2,48}-----")
_PEM_BODY: Final = re.compile(r"[A-Za-z0-9+/=\s:,-]*")

_VALUE: Final = r"[^\s\"'`,;<>{}\[\]()|]{3,512}"
_NAMED: Final = re.compile(
    r"(?:(?P<word>pass(?:word|wd|phrase|code)|passwort|pwd|kennwort"
    r"|contrase(?:ñ|n)a|senha|mot de passe"
    r"|secret|secret[ _-]?(?:access[ _-]?)?key|client[ _-]?secret"
    r"|(?:api|access|private|auth|account"
    r"|encryption|signing|subscription)[ _-]?(?:key|secret)|token)"
    r"|(?P<wide>пароль\w{0,2}|密码|密碼|口令|パスワード|비밀번호|كلمة المرور|كلمة السر|पासवर्ड))"
    r"(?P<link>\s{0,2}[\"']?\s{0,2}(?:[:=]|=>|\s(?:is|was|ist|est|es|är|è|é)\s|は|是|为)\s{0,2})"
    r"(?P<quote>[\"'`]?)"
)
_BARE: Final = re.compile(_VALUE)
_AUTHORIZATION: Final = re.compile(
    r"(?i)(?<![a-z])(?:proxy-)?authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
    r"(?:(?:bearer|basic|token|digest|negotiate|apikey|bot|aws4-hmac-sha256)\s{1,2})?"
    r"(?P<value>[^\s\"',;<>{}]{4,8192})"
)
_BEARER: Final = re.compile(
    r"(?i)(?<![a-z])(?:bearer|basic)\s{1,2}(?P<value>[A-Za-z0-9._~+/=-]{16,8192})"
)
_LOGIN: Final = re.compile(r"://[^\s/:@\"'<>]{0,128}:(?P<value>[^\s/@\"'<>]{1,256})@")
_HARMLESS: Final = re.compile(
    r"(?i)(?:max|min|num|total|next|page|cursor|continuation|cancellation|sync|stop|input|output|prompt|pad"
    r"|primary|foreign|sort|partition|cache|dedup\w{0,10}|idempotency|public)[ _-]?\Z"
)
_SMALL_LETTERS: Final = {code: code + 32 for code in range(65, 91)}
_WORDS: Final = frozenset(
    ("null", "none", "true", "false", "undefined", "string", "required", "optional", "redacted")
)


def keys(text: str) -> Iterator[Hit]:
    """Keys and tokens known by their prefix."""
    for found in _KEY.finditer(text):
        yield Hit(*found.span(), "KEY", found[0])


def web_tokens(text: str) -> Iterator[Hit]:
    """JSON web tokens: the header must decode."""
    for found in _JWT.finditer(text):
        head = found[1]
        try:
            header = urlsafe_b64decode(head + "=" * (-len(head) % 4))
        except ValueError:
            continue
        if b'"alg"' in header or b'"typ"' in header or b'"enc"' in header:
            yield Hit(*found.span(), "JWT", found[0])


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


def credentials(text: str) -> Iterator[Hit]:
    """What an Authorization header, a bearer scheme or a link's login carries."""
    for pattern in (_AUTHORIZATION, _BEARER, _LOGIN):
        for found in pattern.finditer(text):
            hit = _secret(*found.span("value"), found["value"])
            if hit is not None:
                yield hit


def named_secrets(text: str) -> Iterator[Hit]:
    """What is assigned to a password, a key or a token."""
    for found in _NAMED.finditer(lowered(text)):
        token = _is_token(found)
        if token and _HARMLESS.search(text, max(0, found.start() - 24), found.start()):
            continue
        start = found.end()
        end = _quoted_end(text, start, found["quote"]) if found["quote"] else _bare_end(text, start)
        value = text[start:end]
        if found["quote"] or _looks_secret(value, found):
            hit = _secret(start, end, value, password=not token)
            if hit is not None:
                yield hit


def _quoted_end(text: str, start: int, quote: str) -> int:
    return max(start, text.find(quote, start, start + 512))


def _bare_end(text: str, start: int) -> int:
    bare = _BARE.match(text, start)
    end = bare.end() if bare else start
    while end > start and text[end - 1] in ".!?":
        end -= 1
    return end


def names_secret(key: str) -> bool | None:
    """True for a password's key, False for another secret's, None for any other key."""
    for found in _NAMED.finditer(lowered(key) + ":"):
        if found.end() == len(key) + 1:
            token = _is_token(found)
            return None if token and _HARMLESS.search(key, 0, found.start()) else not token
    return None


def lowered(text: str) -> str:
    """The text in small letters, each at its place; some capitals would become two letters."""
    small = text.lower()
    return small if len(small) == len(text) else text.translate(_SMALL_LETTERS)


def is_secret(value: str, *, password: bool) -> bool:
    """Whether what a password's or a token's field holds is one."""
    if (
        not value
        or value.lower() in _WORDS
        or PLACEHOLDER.fullmatch(value)
        or not value.strip("*•xX. ")
    ):
        return False
    # A token without any digit is rather a name of one, in code or in a manual.
    mixed = any(map(str.isdigit, value)) and not value.isdigit()
    return password or (len(value) >= 8 and mixed and " " not in value)


def _secret(start: int, end: int, value: str, *, password: bool = True) -> Hit | None:
    return Hit(start, end, "SECRET", value) if is_secret(value, password=password) else None


def _is_token(found: re.Match[str]) -> bool:
    word = (found["word"] or "").lower()
    return word.endswith(("token", "key", "secret"))


def _looks_secret(value: str, found: re.Match[str]) -> bool:
    """In running text a word after `password:` may be any word; one with a digit or sign is not."""
    if "=" in found["link"] and ">" not in found["link"]:
        return True
    if not value.isascii():
        return False
    return any(char.isdigit() or not char.isalnum() for char in value) or (
        not value.islower() and not value.istitle()
    )
