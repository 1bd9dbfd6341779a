"""``python -m indelible.cli``."""

from __future__ import annotations

import sys

from indelible.cli import main

if __name__ == "__main__":
    sys.exit(main())
