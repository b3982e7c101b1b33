"""`python -m bench [pairs] [streams] [startup] [dialects] [gateway]`."""

import sys

from bench import dialects, gateway, pairs, startup, streams

PARTS = {
    "pairs": pairs.report,
    "streams": streams.report,
    "startup": startup.report,
    "dialects": dialects.report,
    "gateway": gateway.report,
}

for name in sys.argv[1:] or PARTS:
    PARTS[name]()
