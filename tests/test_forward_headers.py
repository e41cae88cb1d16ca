"""Headers that an operator adds to what is sent on, and that no request can carry."""

from __future__ import annotations

import pytest

from adapters.otlp.forward import Forwarder
from monitor.errors import ConfigurationError


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("authorization", "Bearer SECRET\n", "`authorization` cannot be sent"),
        ("authorization", "Bearer SECRET\r\nhost: x", "`authorization` cannot be sent"),
        ("x-key", "SECRETé", "`x-key` cannot be sent"),
        ("x-key", "SECRET中", "`x-key` cannot be sent"),
        ("x-key", " SECRET", "`x-key` cannot be sent"),
        ("x key", "SECRET", "'x key' is no name"),
        ("x-kéy", "SECRET", r"'x-k\\xe9y' is no name"),
        ("", "SECRET", "'' is no name"),
        ("Content-Length", "9", "`content-length` is the connection's own"),
    ],
)
def test_a_header_that_no_request_can_carry_is_refused_without_its_value(
    name: str, value: str, what: str
) -> None:
    with pytest.raises(ConfigurationError, match=what) as caught:
        Forwarder(url="https://backend.example.com", headers={name: value})
    assert "SECRET" not in str(caught.value)
