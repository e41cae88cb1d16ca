"""The words before a number, which say what the number is: a telephone's, an order's, a card's."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

REACH: Final = 48
"""Characters before a number that are looked at."""
GAP: Final = 26
"""Characters between the word and the number."""

# Another number, field or sentence between a word and a number parts the two.
_STOP: Final = re.compile(r"[0-9,;:.{}<>\u3002\u3001\u060c\u0964\n]")
_REACH_AFTER: Final = 16
_BREAK: Final = {ord(char): "\0" for char in "0123456789,;{}<>"}
_NAMES: Final = re.compile(r"[^\W_]+")
_TELLING: Final = re.compile(r"[^\W_]|[#№]")

_LEAST_WORD: Final = 2


class _Told(NamedTuple):
    word: str
    left: bool
    """Whether no letter may stand before it."""
    right: bool
    """Whether no letter may stand after it."""


class _Family(NamedTuple):
    any: re.Pattern[str]
    """Whether one of them is there at all, which is rare and quickly told."""
    words: tuple[_Told, ...]


def _marked(words: tuple[str, ...]) -> _Family:
    """Words in which < or > marks an end where no letter may stand."""
    told = tuple(_Told(w.strip("<>"), w[0] == "<", w[-1] == ">") for w in words)
    return _Family(re.compile("|".join([re.escape(word.word) for word in told])), told)


_PHONE: Final = _marked((
    "<phone", "<phones>", "telephone", "cellphone", "mobilephone", "userphone", "<tel>",
    "<tele>", "<tlf>", "<tfno>", "<fax>", "<mob>", "<cell>", "<cel>", "<handy", "whatsapp",
    "<sms>", "<mobile", "telef", "téléph", "teléf", "<tél>", "cellular", "celular", "móvil",
    "<movil", "portable", "rufnummer", "contact no", "contact num", "contact_n", "contact-n",
    "contactn", "<call me", "<call us", "<call him", "<call her", "<call them", "<call back",
    "<call at", "<call on", "<dial", "<ring me", "<reach me", "<reach us", "<reach him",
    "<reach her", "<reach at", "<text me", "<text us", "<text him", "<text her", "erreichen",
    "<chiamat", "<chiamam", "<llámam", "<llámem", "<appelez", "<ligue", "<bel mij", "zadzwo",
    "звоните", "дзвон", "<ring mig", "<ring på", "<nås på", "<ring meg", "<soitta", "puhelin",
    "<volejte", "<sunați", "<hívjon", "τηλέφων", "τηλ.", "κινητό", "điện thoại", "<sđt",
    "<số của tôi", "موبایل", "شماره تماس",
    "<telp", "<nomor hp", "<telpon", "טלפון", "נייד", "תלפון", "تلفن", "โทร", "ফোন", "தொலைபேசி",
    "<my number", "<mein nummer", "<meine nummer", "<mijn nummer", "<mon numéro", "<mi número",
    "<il mio numero", "<meu número", "<mój numer", "<мой номер", "<мій номер", "<numaram",
    "<mitt nummer", "<mit nummer", "رقمي",
    "телефон", "<тел>", "<моб", "电话", "電話", "手机", "手機", "联系方式", "携帯", "전화",
    "휴대폰", "핸드폰", "연락처", "هاتف", "جوال", "موبايل", "फ़ोन", "फोन", "मोबाइल",
))  # fmt: skip
_CARD: Final = _marked((
    "card", "<visa", "<master", "<amex", "credit", "debit", "karte", "tarjeta", "<carte",
    "<carta", "cartão", "<карт", "银行卡", "信用卡", "卡号", "卡號", "カ-ド", "カード", "카드",
    "بطاقة", "कार्ड",
))  # fmt: skip
_PERSON: Final = _marked((
    "<ssn>", "<sin>", "<nhs>", "<tfn>", "<pesel", "<bsn>", "<dni>", "<nie>", "<nif>", "<cpf>",
    "<curp>", "<nir>", "<nino>", "<tckn>", "<cnp>", "<rrn>", "steuer-id", "steuerid",
    "steueridentifikationsnummer", "personnummer", "aadhaar", "aadhar", "uidai",
    "social security", "social_security", "social insurance", "national insurance",
    "national id", "national_id", "nationalid", "sozialversicherung", "sécurité sociale",
    "numéro fiscal", "codice fiscale", "codice_fiscale", "identity card", "identity number",
    "身份证", "身分證", "マイナンバ", "주민", "आधार", "<инн>", "<снилс>", "الهوية",
))  # fmt: skip
_AMERICAN: Final = _marked((
    "<ssn>", "social security", "social_security", "socialsecurity",
))  # fmt: skip

_PHONE_AFTER: Final = (
    "电话", "電話", "手机", "手機", "携帯", "전화", "휴대", "연락", "फ़ोन", "फोन", "मोबाइल",
)  # fmt: skip

_THINGS: Final = frozenset(
    _NAMES.findall(
        "order ticket invoice tracking case booking confirmation reservation reference ref sku "
        "item product transaction txn trx serial batch build version timestamp ts hash commit "
        "trace span request session event message job task run process pid isbn ean upc gtin asin "
        "parcel shipment awb imei model part account acct user customer line bill plan device "
        "payment pedido factura commande facture ordine fattura fatura заказ заказа заказу счет"
    )
)
_THING_STEMS: Final = ("bestell", "auftrag", "rechnung", "vorgang", "sendung", "zamów")
_WIDE_THINGS: Final = (
    "订单", "单号", "编号", "快递", "注文", "伝票", "주문", "송장", "طلب", "ऑर्डर", "nº", "№",
)  # fmt: skip
_WIDE_NUMBER: Final = ("番号", "번호", "号", "रक़म")
_LINKS: Final = frozenset(("is", "was", "ist", "est", "es", "は", "是"))
_NUMBER: Final = frozenset(
    ("no", "nr", "num", "number", "code", "key", "ref", "reference", "nummer")
)
_IDS: Final = frozenset(("id", "ids"))


def before(text: str, start: int) -> str:
    """The words before a position as far as they count, in small letters."""
    words = text[max(0, start - REACH) : start].lower().translate(_BREAK).rpartition("\0")[2]
    return words if _TELLING.search(words) else ""


def says_phone(words: str) -> bool:
    """Whether a number after these words is a telephone's."""
    return _told(words, _PHONE) and not says_thing(words)


def says_phone_after(text: str, end: int) -> bool:
    """Whether the words after a number call it a telephone's, as some languages order them."""
    words = _STOP.split(text[end : end + _REACH_AFTER])[0]
    return not words.isascii() and any(word in words for word in _PHONE_AFTER)


def says_card(words: str) -> bool:
    """Whether a number after these words is a payment card's."""
    return _told(words, _CARD)


def says_person(words: str) -> bool:
    """Whether a number after these words is the state's number for a person."""
    return _told(words, _PERSON)


def says_american(words: str) -> bool:
    """Whether a number after these words is a US social security number."""
    return _told(words, _AMERICAN)


def says_thing(words: str) -> bool:
    """Whether a number after these words names an order, a ticket or the like."""
    tail = words.rstrip(" \t\r\n\"'.:=-")
    if tail.endswith("#"):
        return True
    if len(tail) < 2:
        return False
    names = _NAMES.findall(tail)
    while names and names[-1] in _LINKS:
        names.pop()
    if names and (names[-1] in _IDS or (names[-1][-2:] == "id" and names[-1][:-2] in _THINGS)):
        return True
    if len(names) > 1 and names[-1] in _NUMBER:
        names.pop()
    if not names:
        return False
    last = names[-1]
    return last in _THINGS or last.startswith(_THING_STEMS) or _is_wide_thing(last)


def role_of(key: str) -> str | None:
    """`person` or `thing`, where a key says that of its value; None where it does not."""
    words = f"{key}: ".lower()
    if any(_told(words, told) for told in (_PHONE, _CARD, _PERSON, _AMERICAN)):
        return "person"
    return "thing" if says_thing(words) else None


def _told(words: str, told: _Family) -> bool:
    if len(words) < _LEAST_WORD or not told.any.search(words):
        return False
    for bare, left, right in told.words:
        at = words.rfind(bare)
        if at < 0:
            continue
        end = at + len(bare)
        if len(words) - end > GAP or (left and words[at - 1 : at].isalpha()):
            continue
        if not right or not words[end : end + 1].isalpha():
            return True
    return False


def _is_wide_thing(name: str) -> bool:
    if name.isascii():
        return False
    for number in _WIDE_NUMBER:
        name = name.removesuffix(number)
    return name.endswith(_WIDE_THINGS)
