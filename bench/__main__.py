"""`python -m bench [pairs] [startup]`."""

import sys

from bench import pairs, startup

PARTS = {"pairs": pairs.report, "startup": startup.report}

for name in sys.argv[1:] or PARTS:
    PARTS[name]()
