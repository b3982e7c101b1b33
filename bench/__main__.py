"""`python -m bench [pairs] [streams] [startup] [dialects] [gateway]`; `work` writes the budget."""

import sys

from bench import dialects, gateway, pairs, startup, streams, work

PARTS = {
    "pairs": pairs.report,
    "streams": streams.report,
    "startup": startup.report,
    "dialects": dialects.report,
    "gateway": gateway.report,
}

for name in sys.argv[1:] or PARTS:
    {**PARTS, "work": work.report}[name]()
