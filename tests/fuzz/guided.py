"""One target under atheris: `python -m tests.fuzz.guided TARGET CORPUS [options of libFuzzer]`."""

import logging
import sys

import atheris

with atheris.instrument_imports(include=["toolglot"]):
    from tests.fuzz.targets import TARGETS


if __name__ == "__main__":
    logging.disable()  # The server logs every refusal.
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()
