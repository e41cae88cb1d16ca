"""What a detector found, and the words before a number that say what the number is."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

BEFORE: Final = 48
"""Characters before a number that are looked at."""

EDGE: Final = r"(?<![0-9A-Za-z_])(?<![0-9]\.)(?<![0-9]-)(?<![0-9A-Fa-f]{4}-)"
"""Where a number may begin. ASCII only: a Chinese character is no part of a number's word."""
END: Final = r"(?![0-9A-Za-z_])(?!-[0-9A-Za-z])(?!\.[0-9])"
"""Where a number may end."""


class Hit(NamedTuple):
    """A stretch of folded text that must go."""

    start: int
    end: int
    label: str
    value: str
    """Normal form: equal for two spellings of one value."""


# Between the word and the number: no digit, no other field, no other sentence.
_GAP: Final = r"[^0-9,;{}<>]{0,24}$"
_PHONE: Final = re.compile(
    r"(?i)(?:(?<![a-z])(?:tele?|tlf|tfno|fax|mob|cell|cel|handy|whats?app|sms)(?![a-z])"
    r"|(?-i:(?<![A-Za-z])[Pp]hones?(?![a-z])|PHONE|(?<=[a-z]{2})Phone)|(?:tele|cell|mobile)phone"
    r"|(?<![a-z])mobile|telef|t[eé]l[eé]f|cellular|celular|m[oó]vil|portable|rufnummer"
    r"|contact[ _-]?(?:no|num|number)|(?:call|ring|reach|text|dial) (?:me|us|him|her|them|back)"
    r"|(?:call|dial|reach) (?:at|on)|телефон|(?<!\w)тел(?!\w)|(?<!\w)моб|电话|電話|手机|手機"
    r"|联系方式|携帯|전화|휴대폰|핸드폰|연락처|هاتف|جوال|موبايل|फ़ोन|फोन|मोबाइल)" + _GAP
)
_THING: Final = re.compile(
    r"(?i)(?:#|(?:(?<![a-z])(?:order|ticket|invoice|tracking|case|booking|confirmation|reservation"
    r"|reference|ref|sku|item|product|transaction|txn|trx|serial|batch|build|version|timestamp|ts"
    r"|hash|commit|trace|span|request|session|event|message|job|task|run|process|pid|isbn|ean|upc"
    r"|gtin|asin|parcel|shipment|awb|imei|model|part|account|acct|user|customer|line|bill|plan"
    r"|device|payment|bestell\w{0,12}|auftrag\w{0,10}|rechnung\w{0,10}|vorgang\w{0,10}"
    r"|sendung\w{0,10}|pedido|factura|commande|facture|ordine|fattura|fatura|zam[oó]wieni\w{0,3})"
    r"|заказ\w{0,3}|счет\w{0,2}|订单|单号|编号|快递|注文|伝票|주문|송장|طلب|ऑर्डर)"
    r"(?:[ _-]{0,2}(?:id|ids|no|nr|num|number|code|key|ref|reference|nummer|番号|번호|号|रक़म))?"
    r"|(?<![a-z])ids?|(?<=[a-z])(?:Id|ID)|nº|№)"
    r"[\"']?\s{0,2}[.:=#-]?\s{0,2}(?:is|was|ist|es|est|は|是)?[\"'\s:#]{0,4}$"
)
_CARD: Final = re.compile(
    r"(?i)(?:card|visa|master|amex|credit|debit|karte|tarjeta|carte|carta|cart[aã]o|карт|银行卡"
    r"|信用卡|卡号|卡號|カード|카드|بطاقة|कार्ड)" + _GAP
)
_NATIONAL: Final = re.compile(
    r"(?i)(?:(?<![a-z])(?:ssn|sin|nhs|tfn|pesel|bsn|dni|nie|nif|cpf|curp|nir|nino|tckn|cnp|rrn"
    r"|steuer-?id|personnummer|aadhaa?r|uidai)(?![a-z])|social security|social insurance"
    r"|national insurance|national id|nationalId|steueridentifikationsnummer|sozialversicherung"
    r"|sécurité sociale|num[eé]ro fiscal|codice fiscale|codice_fiscale|identity (?:card|number)"
    r"|身份证|身分證|マイナンバー|주민|आधार|ИНН|СНИЛС|الهوية)" + _GAP
)
_AMERICAN: Final = re.compile(r"(?i)(?:(?<![a-z])ssn(?![a-z])|social[ _-]?security)" + _GAP)


# Most words before a number hold none of these, and a look for them is much cheaper.
_PHONE_HINTS: Final = (
    "phone", "tel", "mob", "cel", "fax", "call", "handy", "whats", "sms", "m\u00f3v", "t\u00e9l",
    "portable", "rufnummer", "contact", "ring", "reach", "text", "dial", "тел", "моб", "电话",
    "電話", "手机", "手機", "联系", "携帯", "전화", "휴대", "핸드폰", "연락", "هاتف", "جوال",
    "موبايل", "फ़ोन", "फोन", "मोबाइल",
)  # fmt: skip
_NATIONAL_HINTS: Final = (
    "ssn", "sin", "nhs", "tfn", "pesel", "bsn", "dni", "nie", "nif", "cpf", "curp", "nir", "nino",
    "tckn", "cnp", "rrn", "steuer", "personnummer", "aadha", "uidai", "social", "national", "fisc",
    "sozial", "sociale", "identity", "身份", "身分", "マイナンバー", "주민", "आधार", "инн",
    "снилс", "الهوية",
)  # fmt: skip


def _hints(words: str, hints: tuple[str, ...]) -> bool:
    small = words.lower()
    for hint in hints:  # noqa: SIM110  a loop is half the price of any()
        if hint in small:
            return True
    return False


def before(text: str, start: int) -> str:
    """The words before a position, as far as they count."""
    return text[max(0, start - BEFORE) : start]


def says_phone(words: str) -> bool:
    """Whether a number after these words is a telephone's."""
    return _hints(words, _PHONE_HINTS) and bool(_PHONE.search(words)) and not says_thing(words)


def says_thing(words: str) -> bool:
    """Whether a number after these words names an order, a ticket or the like."""
    return _THING.search(words) is not None


def says_card(words: str) -> bool:
    """Whether a number after these words is a payment card's."""
    return _CARD.search(words) is not None


def says_national_id(words: str) -> bool:
    """Whether a number after these words is the state's number for a person."""
    return _hints(words, _NATIONAL_HINTS) and _NATIONAL.search(words) is not None


def says_american_id(words: str) -> bool:
    """Whether a number after these words is a US social security number."""
    return _AMERICAN.search(words) is not None


def role_of(words: str) -> str | None:
    """`person` or `thing`, where words say that of a number after them; None where they do not."""
    if any(pattern.search(words) for pattern in (_PHONE, _CARD, _NATIONAL, _AMERICAN)):
        return "person"
    return "thing" if _THING.search(words) else None
