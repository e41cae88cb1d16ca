"""Makes certificate authorities and certificates for tests."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
_END = _BEGIN + timedelta(days=365 * 100)


class Pair(NamedTuple):
    """Files of a certificate and its key."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates for 127.0.0.1."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._serial = 1
        usage = x509.BasicConstraints(ca=True, path_length=None)
        own = self._builder(name, self._key).add_extension(usage, critical=True)
        own = own.add_extension(_signs(), critical=True)
        self._certificate = own.sign(self._key, hashes.SHA256())
        self.file = folder / f"{name}.crt"
        self.file.write_bytes(_pem(self._certificate))

    def issue(self, name: str) -> Pair:
        """A certificate in files of that name; written anew when they are there."""
        key = ec.generate_private_key(ec.SECP256R1())
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        signed = (
            self._builder(name, key)
            .add_extension(x509.SubjectAlternativeName([address]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.certificate.write_bytes(_pem(signed))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return pair

    def client_context(self, shown: Pair | None = None) -> ssl.SSLContext:
        """Trusts this authority only, and shows a certificate if there is one."""
        context = ssl.create_default_context(cafile=self.file)
        if shown:
            context.load_cert_chain(shown.certificate, shown.key)
        return context

    def _builder(self, name: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        self._serial += 1
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self._name)]))
            .public_key(key.public_key())
            .serial_number(self._serial)
            .not_valid_before(_BEGIN)
            .not_valid_after(_END)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
        )


def _signs() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
