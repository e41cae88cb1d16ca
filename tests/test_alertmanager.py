"""The client of Alertmanager's API, against a server of its shape."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from monitor.alerting.pages import Alert
from monitor.backends.alertmanager import Alertmanager
from monitor.cli import main
from monitor.config import load
from monitor.errors import BackendUnavailable, ConfigurationError

ALERT = Alert({"alertname": "A", "release": 'ü"\\'}, {"summary": "s"}, 1000.5, 1240.0)
NAMED = "user:word"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_an_alert_is_posted_as_the_api_wants_it():
    heard: list[tuple[str, str, str | None, Any]] = []

    async def take(request: web.Request) -> web.Response:
        given = request.headers.get("Authorization")
        heard.append((request.method, request.path, given, await request.json()))
        return web.Response()

    async with served(take) as url:
        client = Alertmanager(f"{url}/prefix/", "s3cret")
        await client.tell([ALERT])
        await client.close()

    document = {
        "labels": {"alertname": "A", "release": 'ü"\\'},
        "annotations": {"summary": "s"},
        "startsAt": "1970-01-01T00:16:40.500000+00:00",
        "endsAt": "1970-01-01T00:20:40+00:00",
    }
    assert heard == [("POST", "/prefix/api/v2/alerts", "Bearer s3cret", [document])]


@pytest.mark.parametrize(
    ("status", "why"), [(400, "refused"), (401, "refused"), (429, "down"), (500, "down")]
)
async def test_a_refusal_says_its_status_and_nothing_else(status, why):
    async def refuse(request: web.Request) -> web.Response:
        return web.Response(status=status, text="s3cret in the answer")

    async with served(refuse) as url:
        client = Alertmanager(url)
        with pytest.raises(BackendUnavailable) as raised:
            await client.tell([ALERT])
        await client.close()
    assert (str(raised.value), raised.value.why) == (f"it answered with status {status}", why)


async def test_a_redirect_is_not_followed():
    paths: list[str] = []

    async def redirect(request: web.Request) -> web.Response:
        paths.append(request.path)
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with served(redirect) as url:
        client = Alertmanager(url)
        with pytest.raises(BackendUnavailable):
            await client.tell([ALERT])
        await client.close()
    assert paths == ["/api/v2/alerts"]


async def test_nobody_there_is_said_without_the_address():
    client = Alertmanager("http://127.0.0.1:9/secret-path")
    with pytest.raises(BackendUnavailable) as raised:
        await client.tell([ALERT])
    await client.close()
    assert "secret-path" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://alerts.example",
        "http://alerts.test:9093",
        "ftp://alerts.example",
        "alerts.example:9093",
        "https://",
        f"https://{NAMED}@alerts.example",
        "https://alerts.example/?token=word",
        "http://[",
    ],
)
def test_an_unsafe_address_is_refused_without_being_repeated(url):
    with pytest.raises(ConfigurationError, match=r"alerts\.alertmanager_url") as raised:
        Alertmanager(url)
    assert "word" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://localhost:9093", "http://[::1]:9093", "https://a.example"])
def test_loopback_and_https_are_safe(url):
    Alertmanager(url)


def test_plain_http_to_another_machine_is_the_operators_word():
    Alertmanager("http://alerts.test:9093", insecure=True)


@pytest.mark.parametrize("token", ["", "a\r\nHost: b", "schlüssel"])
def test_a_token_that_cannot_be_sent_is_refused(token):
    with pytest.raises(ConfigurationError, match=r"alerts\.token"):
        Alertmanager("https://a.example", token)


def test_the_token_comes_from_the_environment_and_is_not_shown():
    settings = load(None, {"AGENT_MONITOR_ALERTS__TOKEN": "s3cret"})
    assert settings.alerts.token is not None
    assert settings.alerts.token.get_secret_value() == "s3cret"
    assert "s3cret" not in json.dumps(settings.model_dump(mode="json"))


@pytest.mark.parametrize("labels", ['{ "a-b" = "c" }', '{ job = "" }', "{ job = 3 }"])
def test_labels_that_no_alert_can_have_are_refused(labels):
    with pytest.raises(ConfigurationError, match=r"alerts\.labels"):
        load(None, {"AGENT_MONITOR_ALERTS__LABELS": labels})


@pytest.mark.parametrize(
    ("url", "code", "said"),
    [
        ("http://127.0.0.1:9093", 0, "alerts      http://127.0.0.1:9093"),
        ("http://alerts.test:9093", 2, "alerts.alertmanager_url is plain http to another machine"),
    ],
)
def test_a_check_of_the_settings_tries_the_address(tmp_path, capsys, url, code, said):
    path = tmp_path / "monitor.toml"
    path.write_text(f'[alerts]\nalertmanager_url = "{url}"\n[ledger]\npath = "l.sqlite3"\n')
    assert main(["check", str(path)]) == code
    shown = capsys.readouterr()
    assert said in shown.out + shown.err
