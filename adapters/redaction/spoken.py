"""Passwords in running text: a word that looks like one in the sentence of a word that means one.

Languages put very different words between the two, so what stands between is not read: it only
may not be long, be a number, or end the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adapters.redaction.hits import Hit
from adapters.redaction.words import before, says_thing

_NAMES: Final = re.compile(
    r"(?<![^\W\d_])(?:"
    r"(?:password|passwd|passwort|passwör|passphrase|passcode|kennw[oö]rt|zugangscode|pwd|psw|pw"
    r"|mots? de passe|mdp|codes? secrets?|phrase secrète|contrase[nñ]|contrasenya|clave(?!l)"
    r"|parola d['\u2019]ordine|parol[aăy]|chiave segreta|senha|palavra[- ]passe|wachtwoord|ww(?=:)"
    r"|has[lł][oaeu]|hes[el]l|hesl[aoeu]|lozink|geslo|slaptaž|salas[aõ]n|parool|jelsz[oóa]"
    r"|l[öo]senord|adgangskod|kodeord|passord|lykilor|şifre|sifre|[kc]ata sandi|sandi|kata laluan"
    r"|mật khẩu|mat khau|nenosiri|api secret|client secret|secret key|security code|one-time code)"
    r"|парол|лозинк|секретн\w{0,3} ключ|кодов\w{0,3} слов|κωδικ(?!\w{0,3} (?:παραγγ|προϊ|κράτ))"
    r")"
    r"|密[码碼]|口令|パスワ|暗証番号|合言葉|비밀번호|비번|암호|패스워드|รหัสผ่าน|पासवर्ड|कूटशब्द|পাসওয়ার্ড"
    r"|கடவுச்சொல்|పాస్‌వర్డ్|סיסמ|(?:ال)?كلم[ةه] (?:ال)?(?:مرور|سر)|الرمز السري|الرقم السري"
    r"|رمز عبور|گذرواژه|کلمه عبور|پاس ?ورڈ"
)
_TOKEN: Final = re.compile(r"[!-~\u00a1-\u024f]{1,80}")
_TELLING: Final = re.compile(r"[0-9@$%&#*^+~!]")
_REACH: Final = 72
"""Characters after the word that means a password."""
_REACH_BACK: Final = 64
_WORDS_BETWEEN: Final = 7
_ENDING: Final = re.compile(
    r"[a-z\u00df-\u024f\u1e00-\u1eff\u0300-\u052f\u0590-\u06ff]*(?:['\u2019]s)?", re.IGNORECASE
)
_NO_ENDINGS: Final = "\u0900"
"""From here on, scripts write the next word right behind a name, and names have no endings."""
_STOP: Final = re.compile(r"[\n。।؟\uff01\uff1f\uff1b]|[.!?]\s")
_OPENING: Final = ":=\"'`“”«»\u2018\u2019„(['[<"
_POINTING: Final = "\"'`“”«»\u2018\u2019„:=>→「"
_CLOSING: Final = "\"'`“”«»\u2018\u2019),;:]>."
_PLAIN: Final = re.compile(r"[^\W\d_]+(?:['\u2019/.-][^\W\d_]+)*")
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT: Final = re.compile(r"\d")
_SIGNED: Final = re.compile(r"(?=.*[@$%&#!*^+~].)[\w@$%&#!*^+=~?.-]+")
_LONGEST: Final = 64
_AS: Final = frozenset(
    (
        *("as", "als", "comme", "como", "come", "jako", "som", "как", "як", "ca", "mint"),
        *("sebagai", "làm", "für", "for", "is", "ist", "est", "es", "è", "é", "jest", "to"),
        *("это", "це", "är", "er", "on", "είναι", "ως"),
    )
)
_WORDS_BACK: Final = 4
_WORD: Final = re.compile(r"\S+")
_PRONOUNS: Final = frozenset(
    (
        "that",
        "this",
        "it",
        "das",
        "dies",
        "ce",
        "eso",
        "esa",
        "esta",
        "questa",
        "essa",
        "dat",
        "это",
    )
)
_HEAD_LAST: Final = re.compile("şifre|jelsz", re.IGNORECASE)
"""Names that come right after the password itself."""
_PLACES: Final = frozenset(
    (
        *("network", "wifi", "wi-fi", "wlan", "ssid", "netzwerk", "netz", "red", "réseau", "rete"),
        *("rede", "netwerk", "sieć", "user", "username", "benutzer", "utilisateur", "usuario"),
        *("utente", "usuário", "gebruiker", "host", "server", "domain", "app", "site", "device"),
    )
)
"""A word right after these is what they are called."""
_OWNER: Final = re.compile(r"\b(?:account|user|customer|device)\s(?:is|ist|est|es|é|è)\W*\Z")
_NUMBER: Final = re.compile(r"[+-]?\d[\d.,:/%°€$-]*")
_ORDINARY: Final = re.compile(
    r"(?:\d+(?:[^\W\d_]{1,6}|[a-z\u00df-\u024f]{1,14})|\d{4}-\d{2}-\d{2}\S*|\w+=\S*"
    r"|[\w.-]+\.(?:pdf|docx?|xlsx?|pptx?|csv|tsv|jsonl?|txt|png|jpe?g|gif|zip|gz|log|py|js|ya?ml|xml|md|html?)"
    r"|\d+-\w+|#?[A-Z]{1,5}-?\d{3,}(?:-[A-Z0-9]+)*|[0-9a-f]{8}-[0-9a-f-]{20,}"
    r"|v?\d+(?:\.\d+)+\w*|(?i:sha|md|[rhep]s|aes|rsa|utf|iso|base|oauth|argon|pbkdf|ipv|wpa|tls|ssl"
    r"|https?|ios|ipados|macos|iphone|ipad|android|windows|win|office|m|o|chrome|firefox|python|node"
    r"|java|x|h|mp|galaxy|pixel|room|step|page|line|error|err|code|web|log|vue|k|s|ec)[-_/]?"
    r"\d[\d.-]*[A-Za-z]{0,3})\Z"
)
"""What has letters and digits and is no password: 12GB, SO-48213, an id, a version, SHA-256."""
_BOUND: Final = re.compile(r"://|[\\{}<>|]|\w@[\w-]+\.|\$\(|\(\)|^--?\w|^www\.")
_PIN: Final = re.compile(
    r"(?:\bpin(?:[ -]?(?:code|number|nummer|kod))?|geheimzahl|暗証番号|пин-?код|пин|пін-?код"
    r"|\botp|one-time (?:password|code|passcode)|verification code|einmalcode|código pin|kode pin)"
    r"(?:\s(?:is|was|ist|est|es|è|é|är|er|to|lautet|adalah)\s|\s?[:=は\uff1a]\s?|[は是为]\s?|\s)"
    r"\s?[\"'「]?(?P<value>\d{4,8})(?![\d.,:/-]*\d|\w)"
)
_LOGIN: Final = re.compile(
    r"(?:login|log-in|credentials|creds|zugangsdaten|identifiants|credenciales|credenziali|логин)"
    r"\b[^\n.;!?]{1,40}?\s[/|]\s?(?P<value>[!-.0-~]{6,64})(?!\S)"
)


def spoken(text: str) -> Iterator[Hit]:
    """Passwords and codes that a sentence gives away."""
    small = text.lower()
    if len(small) != len(text):
        small = text
    candidates = [word.span() for word in _TOKEN.finditer(text) if _TELLING.search(word[0])]
    until = at = 0
    for name in _NAMES.finditer(small):
        if name.start() < until:
            continue
        while at < len(candidates) and candidates[at][0] < name.end():
            at += 1
        found = _after(text, name, candidates, max(0, at - 1)) or _in_front(text, name.start())
        if found is not None:
            until = found.end
            yield found
    yield from _coded(text, small)


def _coded(text: str, small: str) -> Iterator[Hit]:
    """Codes of a few digits, and what stands behind a login's name."""
    patterns = (_PIN, _LOGIN) if "/" in text or "|" in text else (_PIN,)
    for pattern in patterns:
        for told in pattern.finditer(small):
            value = text[slice(*told.span("value"))].rstrip(".,;:)\"'")
            if pattern is _PIN or _is_mixed(value, near=False):
                start = told.start("value")
                yield Hit(start, start + len(value), "SECRET", value)


def _after(
    text: str, name: re.Match[str], candidates: list[tuple[int, int]], at: int
) -> Hit | None:
    """The first word after a password's name that may be one, in the same sentence.

    `at`: the first of the candidates that may reach behind the name.
    """
    start = name.end()
    if text[start - 1] < _NO_ENDINGS and (ending := _ENDING.match(text, start)):
        start = ending.end()
    for begin, end in candidates[at : at + 3]:
        begin, end = _bare(text, max(begin, start), end)
        if end <= start or begin >= end or not any(map(str.isalnum, text[begin:end])):
            continue
        words = text[start:begin]
        if len(words) > _REACH or (words and _STOP.search(words)):
            return None
        if _NUMBER.fullmatch(text, begin, end):
            return None
        between = len(_TOKEN.findall(words)) if words else 0
        pointed = words.rstrip()[-1:]
        near = between <= 1 or (pointed != "" and pointed in _POINTING)
        hit = _hit(text, begin, end, words, near=near)
        if hit is not None or between > _WORDS_BETWEEN or not _PLAIN.fullmatch(text, begin, end):
            return hit
    return None


def _in_front(text: str, start: int) -> Hit | None:
    """A word before: `X as the password`."""
    if not text[start - 1 : start].isspace():
        return None
    words = [word.span() for word in _WORD.finditer(text, max(0, start - _REACH_BACK), start)]
    for at in range(len(words) - 1, max(0, len(words) - 1 - _WORDS_BACK), -1):
        if text[slice(*words[at])].lower() in _AS:
            known = at - 1
            if known and text[slice(*words[known])].lower() in _PRONOUNS:
                known -= 1
            return _before(text, *words[known])
    if words and _HEAD_LAST.match(text, start):
        return _before(text, *words[-1])
    return None


def _before(text: str, begin: int, end: int) -> Hit | None:
    begin, end = _bare(text, begin, end)
    if text[end - 1 : end] in "!?" and _is_mixed(text[begin : end - 1], near=False):
        end -= 1
    return _hit(text, begin, end, before(text, begin), near=False)


def _hit(text: str, begin: int, end: int, words: str, *, near: bool) -> Hit | None:
    """`words` stand before the value and may say that it is an order's or the like."""
    value = text[begin:end]
    if not _is_mixed(value, near=near):
        return None
    if words and not words.isspace():
        small = words.lower()
        if (says_thing(small) and not _OWNER.search(small)) or small.split()[-1] in _PLACES:
            return None
    return Hit(begin, end, "SECRET", value)


def _bare(text: str, begin: int, end: int) -> tuple[int, int]:
    """The word without the quotes and stops around it; a last ! or ? may be a part of it."""
    while begin < end and text[begin] in _OPENING:
        begin += 1
    while end > begin and text[end - 1] in _CLOSING:
        end -= 1
    if end - begin > 1 and text[end - 1] in "!?" and text[begin : end - 1].isalpha():
        end -= 1
    return begin, end


def _is_mixed(value: str, *, near: bool) -> bool:
    """Whether a word has what passwords have and words have not.

    `near`: it stands where a password would, so that less is asked of it.
    """
    if not (4 if near else 6) <= len(value) <= _LONGEST or value.isdigit():
        return False
    if _BOUND.search(value) or _ORDINARY.match(value) or not _LETTER.search(value):
        return False
    if _DIGIT.search(value):
        return True
    return len(value) >= 8 and _SIGNED.fullmatch(value) is not None
