"""Certificates for tests: an authority, and whom it signs."""

import datetime as dt
import ipaddress

import pytest

x509 = pytest.importorskip("cryptography.x509")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

_PEM = serialization.Encoding.PEM


class Authority:
    """Signs certificates and writes them, with their keys, into a folder."""

    def __init__(self, folder, name="authority"):
        self._folder, self._name = folder, name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _named(name)
        certificate = self._signed(self._subject, self._key, is_authority=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(certificate.public_bytes(_PEM))

    def issue(self, name, file=None):
        """The files of a certificate and of its key, as texts."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signed(_named(name), key)
        paths = [self._folder / f"{file or name}.{kind}.pem" for kind in ("cert", "key")]
        paths[0].write_bytes(certificate.public_bytes(_PEM))
        form = serialization.PrivateFormat.PKCS8
        paths[1].write_bytes(key.private_bytes(_PEM, form, serialization.NoEncryption()))
        return str(paths[0]), str(paths[1])

    def _signed(self, subject, key, *, is_authority=False):
        now = dt.datetime.now(dt.UTC)
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))
            .not_valid_after(now + dt.timedelta(hours=1))
            .add_extension(x509.SubjectAlternativeName([address]), critical=False)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )


def _named(name):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
