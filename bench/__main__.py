"""`python -m bench [pairs] [streams] [startup] [dialects] [conversion] [gateway]`; `work`: budget."""

import sys

from bench import conversion, dialects, gateway, pairs, startup, streams, work

PARTS = {
    "pairs": pairs.report,
    "streams": streams.report,
    "startup": startup.report,
    "dialects": dialects.report,
    "conversion": conversion.report,
    "gateway": gateway.report,
}

for name in sys.argv[1:] or PARTS:
    {**PARTS, "work": work.report}[name]()
