"""`python -m bench [pairs] [streams] [startup]`."""

import sys

from bench import pairs, startup, streams

PARTS = {"pairs": pairs.report, "streams": streams.report, "startup": startup.report}

for name in sys.argv[1:] or PARTS:
    PARTS[name]()
