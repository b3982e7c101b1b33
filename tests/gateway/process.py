"""A gateway as a process of its own, which can be weighed and told to end."""

import asyncio
import os
import signal
import sys
import tomllib
from contextlib import asynccontextmanager
from pathlib import Path

from tests.gateway.running import BASES

_PAGE = os.sysconf("SC_PAGE_SIZE")
LINUX = Path("/proc/self/statm").exists()


def files_of(pid):
    """Sockets and files that a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


class Gateway:
    """A gateway that runs."""

    def __init__(self, process, url):
        self.process = process
        self.url = url
        self.host, port = url.removeprefix("http://").split(":")
        self.port = int(port)

    @property
    def memory(self):
        """Bytes of memory that it has in use."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * _PAGE

    @property
    def files(self):
        """Sockets and files that it has open."""
        return files_of(self.process.pid)

    @property
    def workers(self):
        """The processes that it started."""
        pid = self.process.pid
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()

    def terminate(self):
        """Ask it to end."""
        self.process.send_signal(signal.SIGTERM)

    async def ended(self, seconds=30):
        """Its exit code."""
        return await asyncio.wait_for(self.process.wait(), seconds)


def configuration(protocol, url, **server):
    """A configuration with one provider, as the text of a file."""
    lines = ["[server]", *(f"{name} = {value}" for name, value in server.items())]
    lines += [
        "[providers.them]",
        f'protocol = "{protocol}"',
        f'base_url = "{url}{BASES[protocol]}"',
    ]
    text = "\n".join([*lines, "retries = 0", ""])
    tomllib.loads(text)
    return text


@asynccontextmanager
async def running_gateway(folder, text, *options, log=False):
    """A gateway with a configuration, in a folder of its own; `log`: what it says is in a file."""
    config, port = folder / "toolglot.toml", folder / "port"
    config.write_text(text)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolglot", "serve", "--config", str(config)),
        *("--port", "0", "--port-file", str(port), "--quiet", *options),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=os.open(folder / "log", os.O_CREAT | os.O_WRONLY) if log else None,
        cwd=folder,
    )
    try:
        async with asyncio.timeout(30):
            while not port.exists():
                assert process.returncode is None, "the gateway did not start"
                await asyncio.sleep(0.02)
        yield Gateway(process, f"http://127.0.0.1:{port.read_text().strip()}")
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
