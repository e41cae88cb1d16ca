"""Passwords, tokens and credentials: known by the word before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from adapters.redaction.hits import Hit
from monitor.model import PLACEHOLDER

_PASSWORDS: Final = (
    "password", "passwd", "pass_word", "pass-word", "passphrase", "passcode", "passwort", "pwd",
    "kennwort", "contraseña",
    "contrasena", "senha", "mot de passe", "пароль", "пароля", "паролем", "密码", "密碼", "口令",
    "パスワード", "비밀번호", "كلمة المرور", "كلمة السر", "पासवर्ड", "wachtwoord", "hasło", "haslo",
    "şifre", "sifre", "parola", "lösenord", "losenord", "adgangskode", "kodeord", "passord",
    "salasana", "heslo", "jelszó", "jelszo", "κωδικός πρόσβασης", "סיסמה", "mật khẩu", "mat_khau",
    "kata sandi", "kata_sandi", "รหัสผ่าน", "palavra-passe", "palavra_passe", "mot_de_passe",
    "lozinka", "비번", "암호", "暗証番号", "mdp",
)  # fmt: skip
_TOKENS: Final = ("secret", "token", "key", "salt")
_SHORT: Final = re.compile(
    r"(?<![^\W_])pass[\"']?\s?[:=]\s?[\"']?(?P<value>[^\s\"'`,;<>{}()|]{4,256})"
)
_KEY_KIND: Final = re.compile(
    r"(?:api|access|private|auth|account|encryption|signing|subscription|secret|master|license"
    r"|hmac|functions?|deploy|webhook|shared|storage|client|app|service)[ _-]?\Z"
)
_HARMLESS: Final = re.compile(
    r"(?:max|min|num|total|next|page|cursor|continuation|cancellation|sync|stop|input|output"
    r"|prompt|pad|primary|foreign|sort|partition|cache|idempotency|public)[ _-]?\Z"
)
_BEFORE: Final = 24
"""Characters before `token` or `key` that say which."""
_LINK: Final = re.compile(
    r"\s{0,2}[\"']?\]?\s{0,2}(?P<sign>=>|[\s,;]{1,4}[\"']?value[\"']?\s?[:=]|>(?=\S{4,512}</)|(?<=[\"']),(?=\s{0,2}[\"'])|(?:\s(?:is|es|est|ist))?\s{0,2}[:=]|\s(?:is|was|ist|est|es|är|è|é)\s|は|是|为|[는은이가]\s|\s)\s{0,2}"
    r"(?P<quote>[\"'`]?)"
)
# Of ASCII and Latin letters: the words after it in a script without blanks are no part of it.
_BARE: Final = re.compile(r"(?:(?![\"'`,;<>{}\[\]()|])[!-~\u00a1-\u024f]){3,512}")
_LEAST_MIXED: Final = 6
_VARIABLE: Final = re.compile(r"\$[A-Z_]+|%[A-Z_]+%")
"""Stands for a value that is elsewhere."""
_DAY: Final = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}")
_LEAST_RANDOM: Final = 16
_CHANGES: Final = 0.38
_QUOTED_LIMIT: Final = 512
_AUTHORIZATION: Final = re.compile(
    r"authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
    r"(?:(?:bearer|basic|token|digest|negotiate|apikey|bot|aws4-hmac-sha256)\s{1,2})?"
    r"(?P<value>(?!(?:bearer|basic|token|digest|oauth|hawk|signature)\s)[^\s\"',;<>{}]{4,8192})"
)
_SIGNED: Final = re.compile(
    r"authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:digest|oauth|hawk|mac|signature|\w{1,16}-hmac-\w{1,16})"
    r"\s(?P<rest>[^\n]{1,2048})"
)
_PROOF: Final = re.compile(
    r"(?:response|signature|credential|mac|token|oauth_\w{1,32})=[\"']?(?P<value>[^\s\"',;]{8,1024})"
)
_QUERY: Final = re.compile(r"(?:[?&]|x-amz-)sig(?:nature)?=(?P<value>[\w%+/=.-]{16,512})")
_SCHEMES: Final = tuple(
    re.compile(scheme + r"\s{1,2}(?P<value>[a-z0-9._~+/=-]{16,8192})")
    for scheme in ("bearer", "basic")
)
_COOKIES: Final = re.compile(r"cookies?[\"']?\s?[:=](?P<rest>[^\n]{1,4096})")
_COOKIE: Final = re.compile(
    r"(?P<name>[\w.-]{1,64})[\"']?\s?[=:]\s?[\"']?(?P<value>[^;,\s\"'{}]{8,4096})"
)
_SESSION: Final = re.compile(r"sess|sid\Z|auth|token|csrf|xsrf|jwt|remember|login|secret|identity")
_LONG_COOKIE: Final = 20
_ELEMENT: Final = re.compile(
    r"<(?:\w{0,32}(?:password|passwd|pwd|secret|token))>(?P<value>[^<>\s]{4,512})</"
)
_COMMAND: Final = re.compile(
    r"(?:\bsshpass\s-p\s?[\"']?|\b(?:mysql|mysqldump|mariadb)\b[^\n|;]{0,128}?\s-p"
    r"|\b(?:docker|podman|nerdctl|helm|az|oc|mongo\w{0,8}|unzip|sqlcmd)\b[^\n|;]{0,128}?\s-p\s[\"']?"
    r"|\b(?:redis-cli\b[^\n|;]{0,128}?\s-a|ldap\w{1,8}\b[^\n|;]{0,128}?\s-w)\s[\"']?"
    r"|\bnet\suse\s[^\n|;]{0,128}?\s(?=\S{4,128}\s/user:)|\bhtpasswd\s-\w{0,4}b\w{0,4}\s\S{1,128}\s\S{1,64}\s"
    r"|\bcurl\b[^\n|;]{0,256}?\s-u\s?[\"']?[^\s:\"']{1,64}:)(?P<value>[^\s\"']{4,128})"
)
_LOGIN: Final = re.compile(r"://[^\s/:@\"'<>]{0,128}:(?P<value>[^\s/@\"'<>]{1,256})@")
_SMALL_LETTERS: Final = {code: code + 32 for code in range(65, 91)}
_SIGNS: Final = frozenset("@$%&#!*^+")
_WORDS: Final = frozenset(
    ("null", "none", "true", "false", "undefined", "string", "required", "optional", "redacted")
)


class _Named(NamedTuple):
    """A word that announces a secret, with what links it to the value."""

    link: re.Match[str]
    is_password: bool


def credentials(text: str) -> Iterator[Hit]:
    """What an Authorization header, a bearer scheme or a link's login carries."""
    small = lowered(text)
    yield from _proofs(text, small)
    for pattern in (_AUTHORIZATION, *_SCHEMES, _LOGIN):
        for found in pattern.finditer(small):
            start, end = found.span("value")
            if is_secret(text[start:end], password=True):
                yield Hit(start, end, "SECRET", text[start:end])
    for header in _COOKIES.finditer(small):
        for cookie in _COOKIE.finditer(small, *header.span("rest")):
            start, end = cookie.span("value")
            value = text[start:end]
            named = _SESSION.search(cookie["name"]) is not None
            if is_secret(value, password=named) and (named or len(value) >= _LONG_COOKIE):
                yield Hit(start, end, "SECRET", value)


def _proofs(text: str, small: str) -> Iterator[Hit]:
    """What proves a signed request to be its sender's."""
    for header in _SIGNED.finditer(small):
        for proof in _PROOF.finditer(small, *header.span("rest")):
            start, end = proof.span("value")
            yield Hit(start, end, "SECRET", text[start:end])


def named_secrets(text: str) -> Iterator[Hit]:
    """What is assigned to a password, a key or a token."""
    last = until = 0
    for named in _named(lowered(text)):
        # What lies within a value is a part of it; each word's places come in ascending order.
        if last < named.link.end() < until:
            continue
        start, quote = named.link.end(), named.link["quote"]
        end = _quoted_end(text, start, quote) if quote else _bare_end(text, start)
        value = text[start:end]
        last, until = start, end
        sign = named.link["sign"]
        if sign == ",":
            sure = _is_mixed(value)
        elif not quote and text.startswith("(", end):
            sure = False
        elif quote or "=" in sign or sign == ">":
            sure = bool(sign.strip())
        else:
            sure = _looks_secret(value) if sign.strip() else _is_mixed(value)
        if sure and is_secret(value, password=named.is_password):
            yield Hit(start, end, "SECRET", value)


def names_secret(key: str) -> str | None:
    """Whether the value under a key is a `password` or a `token`; None when neither."""
    for named in _named(lowered(key) + ":"):
        if named.link.end() == len(key) + 1:
            return "password" if named.is_password else "token"
    return None


def shown_secrets(text: str) -> Iterator[Hit]:
    """What stands in an element of XML, in a command's options, or behind a mere `pass:`."""
    small = lowered(text)
    for pattern in (_ELEMENT, _COMMAND, _QUERY, _SHORT):
        for found in pattern.finditer(small):
            start, end = found.span("value")
            value = text[start:end]
            if is_secret(value, password=True) and (pattern is not _SHORT or _looks_secret(value)):
                yield Hit(start, end, "SECRET", value)


def _named(small: str) -> Iterator[_Named]:
    for words, is_password in ((_PASSWORDS, True), (_TOKENS, False)):
        for word in words:
            at = small.find(word)
            while at >= 0:
                end = at + len(word)
                link = _LINK.match(small, end)
                if link is not None and (is_password or _tells(small, at, word)):
                    yield _Named(link, is_password)
                at = small.find(word, end)


def _tells(small: str, at: int, word: str) -> bool:
    """Whether a token's word means a secret: a page token and a primary key are none."""
    before = small[max(0, at - _BEFORE) : at]
    if word == "key":
        return _KEY_KIND.search(before) is not None
    return _HARMLESS.search(before) is None


def _quoted_end(text: str, start: int, quote: str) -> int:
    return max(start, text.find(quote, start, start + _QUOTED_LIMIT))


def _bare_end(text: str, start: int) -> int:
    bare = _BARE.match(text, start)
    end = bare.end() if bare else start
    while end > start and text[end - 1] in ".!?":
        end -= 1
    return end


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
        or _VARIABLE.fullmatch(value)
        or not value.strip("*•xX. ")
    ):
        return False
    if password:
        return True
    # A token without any digit is rather a name of one, in code or in a manual.
    if len(value) < 8 or " " in value:
        return False
    mixed = any(char.isdigit() or char in _SIGNS for char in value) and not value.isdigit()
    return mixed or is_random(value)


def is_random(value: str) -> bool:
    """Whether capitals and small letters change as often as in no name."""
    if len(value) < _LEAST_RANDOM or not value.isalpha():
        return False
    changes = sum(one.islower() != other.islower() for one, other in pairwise(value))
    return changes > _CHANGES * len(value)


def _is_mixed(value: str) -> bool:
    """Whether a word right after `password` has both letters and digits, as few words do."""
    digits = sum(map(str.isdigit, value))
    return len(value) >= _LEAST_MIXED and 0 < digits < len(value) and not value[0].isdigit()


def _looks_secret(value: str) -> bool:
    """In running text a word after `password:` may be any word; one with a digit or sign is not."""
    if not value.isascii() or _DAY.fullmatch(value):
        return False
    return not value.isalpha() or not (value.islower() or value.istitle())
