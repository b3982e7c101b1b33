"""`python -m bench [pairs] [streams] [startup] [gateway]`."""

import sys

from bench import gateway, pairs, startup, streams

PARTS = {
    "pairs": pairs.report,
    "streams": streams.report,
    "startup": startup.report,
    "gateway": gateway.report,
}

for name in sys.argv[1:] or PARTS:
    PARTS[name]()
