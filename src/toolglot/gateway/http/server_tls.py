"""Serving https: a certificate that is read again when its files change."""

import asyncio
import ssl
from contextlib import suppress
from logging import getLogger
from pathlib import Path
from typing import Final

from toolglot.gateway.config import ConfigError, Tls

_EVERY: Final = 1.0
_log: Final = getLogger("toolglot")


class ServerTls:
    """The certificate of the gateway, and whose clients' certificates it trusts."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._seen = self._stamp()
        try:
            self.context = self._made()
        except (OSError, ValueError) as error:  # An error of TLS is an OSError.
            raise ConfigError(f"server.tls: {_words(error, tls)}") from None

    def watch(self, every: float = _EVERY) -> asyncio.Task[None]:
        """Use every new version of the files for new connections; one that is wrong is not used."""
        return asyncio.get_running_loop().create_task(self._watch(every))

    async def _watch(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            if (now := self._stamp()) != self._seen:
                self._seen = now
                self.reload()

    def reload(self) -> None:
        """Read the files again."""
        try:
            # Tried apart: a key that does not fit would leave the context without any.
            self._made()
            self._load(self.context)
        except (OSError, ValueError) as error:
            _log.error("the certificate is not used: %s", _words(error, self._tls))
        else:
            _log.info("%s: read again", self._tls.cert)

    def _made(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        self._load(context)
        if self._tls.client_ca is not None:
            wanted = self._tls.require_client_cert
            context.verify_mode = ssl.CERT_REQUIRED if wanted else ssl.CERT_OPTIONAL
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        # Without a password to give, a key that is encrypted would ask for one at the terminal.
        context.load_cert_chain(self._tls.cert, self._tls.key, password=_no_password)
        if self._tls.client_ca is not None:
            context.load_verify_locations(self._tls.client_ca)

    def _stamp(self) -> tuple[object, ...]:
        return tuple(map(_stamp, (self._tls.cert, self._tls.key, self._tls.client_ca)))


def _stamp(path: str | None) -> tuple[int, int, int] | None:
    with suppress(OSError):
        if path is not None:
            stat = Path(path).stat()
            return stat.st_mtime_ns, stat.st_size, stat.st_ino
    return None


def _no_password() -> str:
    raise ValueError("the private key is encrypted; give one that is not")


def _words(error: Exception, tls: Tls) -> str:
    if isinstance(error, FileNotFoundError):
        files = (tls.cert, tls.key, tls.client_ca)
        missing = next((each for each in files if each and not Path(each).exists()), tls.cert)
        return f"there is no file {missing}"
    return f"{tls.cert} and {tls.key} cannot be used: {error}"
