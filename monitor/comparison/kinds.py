"""Which rules a value falls under: as declared, by schema, by field name, else as free."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from monitor.comparison.tables import split
from monitor.model import JsonValue
from monitor.ports import Hint

Kind: TypeAlias = Literal[
    "literal",  # any difference counts: secrets, paths, code, declared exact
    "id",  # a name of one thing; a display mark such as `#` does not count
    "number",
    "date",
    "boolean",
    "enum",
    "place",
    "text",  # declared free text: no typed reading of the whole
    "free",  # a value of unknown kind: its own look decides
]

_DECLARED: Final[dict[str, Kind]] = {
    "exact": "literal",
    "number": "number",
    "date": "date",
    "enum": "enum",
    "text": "text",
    "id": "id",
    "secret": "literal",
    "code": "literal",
    "boolean": "boolean",
    "place": "place",
    "literal": "literal",
    "semantic": "free",
}
_TYPES: Final[dict[str, Kind]] = {
    "integer": "number",
    "number": "number",
    "float": "number",
    "boolean": "boolean",
}
_FORMATS: Final[dict[str, Kind]] = {
    "date": "date",
    "date-time": "date",
    "time": "date",
    "uuid": "id",
    "password": "literal",
    "byte": "literal",
    "binary": "literal",
    "regex": "literal",
}

_LITERAL: Final = frozenset(
    split(
        "password passwd pwd passphrase secret token credential credentials apikey otp pin hash "
        "checksum signature path filepath file filename folder dir directory sql regex regexp "
        "pattern expression formula script"
    )
)
_LITERAL_PAIRS: Final = frozenset(
    {
        "api_key",
        "private_key",
        "access_key",
        "secret_key",
        "file_name",
        "dir_name",
        "folder_name",
        "source_code",
    }
)
_ID: Final = frozenset(
    split(
        "id ids uid uuid guid sku isbn iban bic swift vin ssn ein imei asin doi handle username "
        "login zip zipcode postcode serial barcode ticker symbol hostname"
    )
)
_ID_PAIRS: Final = frozenset(
    f"{what}_{which}"
    for what in split(
        "account order invoice ticket case flight tracking confirmation reservation "
        "booking reference passport license policy member card part item model serial routing "
        "transaction customer employee user product claim loan room gate seat"
    )
    for which in ("no", "num", "number", "code", "ref")
) | {
    "postal_code",
    "zip_code",
    "promo_code",
    "country_code",
    "currency_code",
    "airport_code",
    "area_code",
    "user_name",
}
_PLACE: Final = frozenset(
    split(
        "loc location locations city cities place places town region state province county "
        "area destination origin venue neighborhood district departure arrival"
    )
)
_COUNTRY: Final = frozenset({"country", "countries", "nation", "nationality"})
_RATIO: Final = frozenset(
    split(
        "rate rates ratio percent percentage pct share probability fraction proportion discount "
        "confidence yield interest"
    )
)
_MONEY: Final = frozenset(
    split(
        "amount price cost fee budget salary revenue income balance payment total value worth "
        "spend fare rent wage profit sales valuation capital"
    )
)
_VERSION: Final = frozenset(split("version release build tag"))
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")

FIELD_MEMO_LIMIT: Final = 4096
"""Field names whose kind is remembered."""
FIELD_LIMIT: Final = 128
"""Characters of a field's path that are looked at, from its end."""


def kind_of(hint: Hint) -> Kind:
    """The kind of a value, from what is known beside it."""
    if hint.kind is not None:
        declared = _DECLARED.get(hint.kind)
        if declared is not None:
            return declared
    if hint.schema is not None:
        told = _kind_of_schema(hint.schema)
        if told is not None:
            return told
    return field_kind(hint.field[-FIELD_LIMIT:]) if hint.field else "free"


def _kind_of_schema(schema: Mapping[str, JsonValue]) -> Kind | None:
    enum = schema.get("enum")
    if isinstance(enum, list) and enum:
        return "enum"
    kind = schema.get("type")
    if isinstance(kind, list):
        told = [name for name in kind if name != "null"]
        kind = told[0] if len(told) == 1 else None
    if isinstance(kind, str) and kind in _TYPES:
        return _TYPES[kind]
    form = schema.get("format")
    return _FORMATS.get(form) if isinstance(form, str) else None


@lru_cache(maxsize=FIELD_MEMO_LIMIT)
def field_words(field: str) -> tuple[str, ...]:
    """The words of the last name in a dotted path, list positions left out."""
    names = [name for name in re.split(r"[.\[\]]", field) if name and not name.isdigit()]
    return tuple(w.casefold() for w in _CAMEL.split(names[-1]) if w) if names else ()


@lru_cache(maxsize=FIELD_MEMO_LIMIT)
def field_kind(field: str) -> Kind:
    """The kind that a field's name suggests."""
    words = field_words(field)
    if not words:
        return "free"
    pairs = {"_".join(pair) for pair in pairwise(words)}
    last = words[-1]
    if last in _LITERAL or pairs & _LITERAL_PAIRS:
        return "literal"
    if last in _ID or pairs & _ID_PAIRS:
        return "id"
    if last == "code" and len(words) == 1:
        return "literal"
    if _COUNTRY & set(words):
        return "free"
    return "place" if set(words) & _PLACE else "free"


def is_ratio_field(field: str | None) -> bool:
    """Whether the field's name says that it holds a share, so that 50 % and 0.5 are one."""
    return field is not None and not _RATIO.isdisjoint(field_words(field[-FIELD_LIMIT:]))


def is_money_field(field: str | None) -> bool:
    """Whether the field's name says that it holds money, so that `m` means million."""
    return field is not None and not _MONEY.isdisjoint(field_words(field[-FIELD_LIMIT:]))


def is_version_field(field: str | None) -> bool:
    """Whether the field's name says that it holds a version, of which 1.10 is not 1.1."""
    return field is not None and not _VERSION.isdisjoint(field_words(field[-FIELD_LIMIT:]))
