"""What redaction takes out of a text, what it leaves, and what it puts in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.redaction.redactor import Redactor
from monitor.errors import ConfigurationError
from monitor.model import PLACEHOLDER

KEY = b"k" * 32
REDACTOR = Redactor(KEY)
PRIVATE = (
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"
)
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"


def kinds(text: str) -> list[str]:
    """The kinds that were taken out, in order."""
    return re.findall(r"<([A-Z_]+):[0-9a-f]{6}>", REDACTOR.text(text))


def one(text: str) -> str:
    """The only placeholder of the text."""
    (found,) = PLACEHOLDER.findall(REDACTOR.text(text))
    return str(found)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to anna.meyer@example.com please", "EMAIL"),
        ("write to anna (at) example (dot) com", "EMAIL"),
        ("https://shop.example/?mail=anna%40example.com&x=1", "EMAIL"),
        ("ivan@почта.рф", "EMAIL"),
        ("用户@例子.公司", "EMAIL"),
        ("call +49 30 1234567 now", "PHONE"),
        ("+8613812345678", "PHONE"),
        ("(555) 234-5678", "PHONE"),
        ("erreichbar unter 0171 - 234 56 78", "PHONE"),
        ("oder 0171.234.5678 am Abend", "PHONE"),
        ("Meine Nummer ist 030 / 1234 5678", "PHONE"),
        ("my phone number is 5552345678", "PHONE"),
        ('{"phone_number": "5552345678"}', "PHONE"),
        ("请打13812345678找我", "PHONE"),
        ("card 4111 1111 1111 1111", "CARD"),
        ("378282246310005", "CARD"),
        ("IBAN GB29 NWBK 6016 1331 9268 19 please", "IBAN"),
        ("my ssn is 123-45-6789", "SSN"),
        ("social security number 123456789", "SSN"),
        ("身份证11010519491231002X", "NATIONAL_ID"),
        ("NINO AB 12 34 56 C", "NATIONAL_ID"),
        ("CPF 529.982.247-25", "NATIONAL_ID"),
        ("from 192.168.7.41 at noon", "IP"),
        ("host 2001:db8::8a2e:370:7334 is down", "IP"),
        (f"token {TOKEN}", "JWT"),
        ("AKIAIOSFODNN7EXAMPLE", "KEY"),
        ("sk-lf-1234abcd-12ab-34cd-56ef-1234567890ab", "KEY"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "KEY"),
        ("xoxb-123456789012-abcdefghijklmnop", "KEY"),
        (PRIVATE, "PEM"),
        ("password=hunter2 user=anna", "SECRET"),
        ('{"password": "correct horse"}', "SECRET"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "SECRET"),
        ("postgres://anna:s3cret@db.example/x", "SECRET"),
    ],
)
def test_each_kind_is_taken_out_and_named(text, kind):
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "order #4111111111111111 shipped",  # passes the card's check, but is an order
        "order 4111111111111112",
        "item 1656367028, reservation HAT023, payment credit_card_7815826",
        "uuid 550e8400-e29b-41d4-a716-446655440000",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
        "commit d41d8cd98f00b204e9800998ecf8427e",
        "at 1722945600, 1722945600123 and 1722945600123456789",
        "2024-05-15T10:00:00.000Z or 15.05.2024 or 05/15/2024 10:30",
        "version 1.2.3.4, Chrome/120.0.0.1 and section 2.1.3.4",
        "12:34:56 std::vector a::b 00:1a:2b:3c:4d:5e",
        "1,234,567.89 USD and 0.4111111111111111",
        "flight HAT294 on 2024-05-20 for $1377, code LQ940Q",
        "git@github.com:owner/repository.git icon@2x.png lodash@4.17.21 @app.route",
        "my password is wrong, please send a password: reset link",
        "max_tokens=4096 next_page_token: abc12345def primary_key=order_id7",
        "Headphones: 6992792935",
        "127.0.0.1 and ::1 are this host",
        "rows 012 / 345, page 030 / 120 and part 0171 - 23",
        "1Z999AA10123456784 RR123456785DE 978-3-16-148410-0",
    ],
)
def test_what_agents_work_with_is_left_alone(text):
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize(
    ("one_way", "another"),
    [
        ("anna@example.com", "ANNA@Example.COM"),
        ("anna@example.com", "ａｎｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ"),
        ("4111 1111 1111 1111", "4111-1111-1111-1111"),
        ("4111 1111 1111 1111", "4111111111111111"),
        ("4111 1111 1111 1111", "٤١١١ ١١١١ ١١١١ ١١١١"),
        ("4111 1111 1111 1111", "4111\u200b1111\u200b1111\u00a01111"),
        ("+1 555 234 5678", "(555) 234-5678"),
        ("+1 555 234 5678", "phone 5552345678"),
        ("+8613812345678", "13812345678"),
        ("+44 20 7946 0958", "phone 020 7946 0958"),
        ("+49 30 1234567", "0049 30 1234567"),
        ("GB29 NWBK 6016 1331 9268 19", "gb29nwbk60161331926819"),
        ("123-45-6789", "123\\u002d45\\u002d6789"),
        ("2001:db8::1:2", "2001:0db8:0:0:0:0:1:2"),
    ],
)
def test_two_spellings_of_one_value_become_one_placeholder(one_way, another):
    assert one(one_way) == one(another)


def test_different_values_and_keys_give_different_placeholders():
    first, second = one("anna@example.com"), one("anna@example.org")
    assert first != second
    assert Redactor(b"o" * 32).text("anna@example.com") != first
    assert Redactor(KEY).text("anna@example.com") == first


def test_only_the_value_is_replaced():
    text = (
        "请联系 anna@example.com，卡号４１１１１１１１１１１１１１１１。"
        "\\nTel:\\u0020+49 30 1234567!"
    )
    clean = PLACEHOLDER.sub("*", REDACTOR.text(text))
    assert clean == "请联系 *，卡号*。\\nTel:\\u0020*!"


def test_a_look_alike_letter_leaks_no_part_of_an_address():
    assert PLACEHOLDER.fullmatch(REDACTOR.text("j\u043ehn.doe@example.com"))
    assert PLACEHOLDER.fullmatch(REDACTOR.text("john.doe@ex\u0430mple.com"))


def test_a_plus_number_is_a_telephone_even_where_it_passes_the_cards_check():
    assert kinds("+8613812345678") == ["PHONE"]


def test_json_within_a_text_keeps_its_form():
    text = '{"note": "{\\"mail\\": \\"anna@example.com\\"}", "anna@example.com": 1}'
    mail = one("anna@example.com")
    assert REDACTOR.text(text) == f'{{"note": "{{\\"mail\\": \\"{mail}\\"}}", "{mail}": 1}}'


def test_the_plain_style_names_the_kind_only():
    redactor = Redactor(KEY, style="plain")
    assert redactor.text("anna@example.com") == "[REDACTED:EMAIL]"


def test_only_the_chosen_kinds_are_taken_out():
    redactor = Redactor(KEY, kinds=["card"])
    clean = redactor.text("anna@example.com 4111 1111 1111 1111")
    assert clean.startswith("anna@example.com <CARD:")


def test_a_short_key_and_an_unknown_kind_are_refused():
    with pytest.raises(ConfigurationError, match="5 bytes and needs 16"):
        Redactor(b"short")
    with pytest.raises(ConfigurationError, match="unknown kinds name; known: card, email"):
        Redactor(KEY, kinds=["name"])


def test_the_key_shows_in_no_representation():
    assert "kkk" not in repr(REDACTOR) + repr(vars(REDACTOR)["_scanner"]) + str(REDACTOR)


@given(st.text(max_size=200))
def test_any_text_is_redacted_once_and_for_all(text):
    clean = REDACTOR.text(text)
    assert REDACTOR.text(clean) == clean
    assert Redactor(KEY).text(text) == clean


@given(
    st.text(alphabet=" \n,;請д", max_size=6),
    st.sampled_from(["anna@example.com", "4111 1111 1111 1111", "+49 30 1234567"]),
    st.text(alphabet=" \n,;請д", max_size=6),
)
def test_a_value_is_found_whatever_stands_beside_it(left, value, right):
    # A letter of an alphabet with blanks may be a part of an address itself.
    text = left.rstrip("д") + value + right.lstrip("д")
    assert PLACEHOLDER.sub("", REDACTOR.text(text)) == text.replace(value, "")
