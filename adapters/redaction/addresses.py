"""Addresses: e-mail, in its disguises, and the internet's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from ipaddress import IPv6Address
from typing import Final

from adapters.redaction.hits import Hit

_LOCAL: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.!#$&*+/=?^_`|~-"
_OUTER: Final = ".!#$&*/=?^`|~-"
"""Allowed in an address, but before one they are rather punctuation around it."""
_LOCAL_LIMIT: Final = 64
_AT: Final = re.compile(r"@|%40")
_DOMAIN: Final = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}(?P<top>[A-Za-z]{2,24})(?![A-Za-z0-9])"
)
_WIDE_DOMAIN: Final = re.compile(
    r"(?:\w[\w-]{0,62}\.){1,8}(?P<top>[^\W\d_]{2,24}|xn--[a-z0-9]{2,59})(?!\w)"
)
_FILES: Final = frozenset(
    ("png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "css", "js", "ts", "json", "yaml", "yml")
)
_SPOKEN: Final = re.compile(
    r"(?i)[@(\[{](?<![\w@])?(?:(?<=[(\[{]) ?(?:at|arroba|@) ?[)\]}]) ?"
    r"([\w-]{1,63}(?: ?(?:\.|[(\[{] ?(?:dot|punto|\.) ?[)\]}]) ?[\w-]{1,63}){1,5})"
)
_SPOKEN_DOT: Final = re.compile(r"(?i) ?(?:\.|[(\[{] ?(?:dot|punto|\.) ?[)\]}]) ?")

_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4: Final = re.compile(
    rf"[0-9](?<![0-9A-Za-z_][0-9])(?<![0-9]\.[0-9])(?:(?<=2)5[0-5]|(?<=2)[0-4]\d|(?<=1)\d\d"
    rf"|(?<=[1-9])\d|)(?:\.{_OCTET}){{3}}(?![0-9A-Za-z_])(?!\.[0-9])"
)
_SMALL: Final = re.compile(r"(?!10\.)(?:[12]?\d|3[01])(?:\.(?:[12]?\d|3[01])){3}")
_VERSION: Final = re.compile(
    r"(?i)(?:version|release|build|firmware|kernel|driver|section|clause|chapter|paragraph|figure|abschnitt|kapitel"
    r"|artikel|article|sección|seção|sezione|раздел|§|第|(?<![a-z])(?:ver|v|rev|sec|art|fig|par))\W{0,4}$"
)
_SECTION: Final = re.compile(
    r"(?i)(?:(?<![a-z])ip|address|adresse|host|server|client|from|gateway|dns|://"
    r"|地址)\W{0,8}(?:is )?$"
)
_IPV6_CHARS: Final = "0123456789abcdefABCDEF:"
_BESIDE: Final = re.compile(r"[0-9A-Za-z_]")
_IPV6_TAIL: Final = re.compile(r"[0-9A-Fa-f:]{1,39}(?:(?<=:)\d{1,3}(?:\.\d{1,3}){3})?")


def emails(text: str) -> Iterator[Hit]:
    """E-mail addresses, also percent-encoded and in letters of other scripts."""
    for sign in _AT.finditer(text):
        at, after = sign.span()
        domain = _domain(text, after)
        if domain is None:
            continue
        start = _local_start(text, at)
        local = text[start:at]
        if local and not _is_remote(local, text, domain.end()):
            yield Hit(start, domain.end(), "EMAIL", f"{local}@{domain[0]}".casefold())


def spoken_emails(text: str) -> Iterator[Hit]:
    """Addresses written `name (at) example (dot) org`."""
    for sign in _SPOKEN.finditer(text):
        at = sign.start()
        while at and text[at - 1] == " " and sign.start() - at < 2:
            at -= 1
        start = _local_start(text, at)
        local = text[start:at]
        if local:
            domain = _SPOKEN_DOT.sub(".", sign[1])
            yield Hit(start, sign.end(), "EMAIL", f"{local}@{domain}".casefold())


def _domain(text: str, after: int) -> re.Match[str] | None:
    found = _DOMAIN.match(text, after) or _WIDE_DOMAIN.match(text, after)
    # `icon@2x.png` is a file and `pkg@1.2.json` a release of one.
    if found is None or (found["top"].lower() in _FILES and text[after].isdigit()):
        return None
    return found


def _local_start(text: str, at: int) -> int:
    start = at - 1
    limit = max(0, at - _LOCAL_LIMIT)
    while start >= limit and (text[start] in _LOCAL or _is_alphabetic(text[start])):
        start -= 1
    start += 1
    if start == at:
        # Nothing of an alphabet stands before the sign, so the name itself is of another script.
        while start > limit and (text[start - 1].isalnum() or text[start - 1] in "._-"):
            start -= 1
    while start < at and text[start] in _OUTER:
        start += 1
    # In a link's query the name of the field is no part of the address.
    field = text.rfind("=", start, at)
    return field + 1 if 0 <= field < at - 1 else start


def _is_alphabetic(char: str) -> bool:
    """Whether the character is of a script that puts blanks between words, as addresses need."""
    if char.isascii():
        return False
    code = ord(char)
    # Latin with marks, Greek, Cyrillic, Armenian; and marks that combine with letters.
    return (0xC0 <= code < 0x590 and char.isalpha()) or unicodedata.category(char) == "Mn"


def _is_remote(local: str, text: str, end: int) -> bool:
    """Whether it is a repository's remote, `git@host:path`, and nobody's address."""
    return local == "git" and text[end : end + 1] == ":"


def ipv4(text: str) -> Iterator[Hit]:
    """IPv4 addresses other than this host; versions and sections are left alone."""
    for found in _IPV4.finditer(text):
        start = found.start()
        value = found[0]
        words = text[max(0, start - 24) : start]
        # Where another number stands right before, no word does.
        told = not words.rstrip()[-1:].isdigit()
        if value.startswith(("127.", "0.")) or (told and _VERSION.search(words)):
            continue
        if words.endswith("/") and not words.endswith("//"):
            continue
        if _SMALL.fullmatch(value) and not _SECTION.search(words):
            continue
        yield Hit(start, found.end(), "IP", value)


def ipv6(text: str) -> Iterator[Hit]:
    """IPv6 addresses other than this host."""
    at = text.find(":")
    while at >= 0:
        start = at
        limit = max(0, at - 5)
        while start > limit and text[start - 1] in _IPV6_CHARS:
            start -= 1
        tail = _IPV6_TAIL.match(text, start)
        end = tail.end() if tail else at + 1
        hit = _ipv6(text, start, end) if end - start >= 4 else None
        if hit is not None:
            yield hit
        at = text.find(":", max(end, at + 1))


def _ipv6(text: str, start: int, end: int) -> Hit | None:
    written = text[start:end]
    if written.endswith(":") and not written.endswith("::"):
        written, end = written[:-1], end - 1
    colons = written.count(":")
    if (colons < 7 and "::" not in written) or not any(char.isdigit() for char in written):
        return None
    if _BESIDE.match(text[start - 1 : start] if start else "") or _BESIDE.match(text, end):
        return None
    try:
        address = IPv6Address(written)
    except ValueError:
        return None
    here = address.is_loopback or address.is_unspecified
    return None if here else Hit(start, end, "IP", str(address))
