"""`python -m toolglot`."""

import sys

from toolglot.cli import main

sys.exit(main())
