"""python -m mabos_cli."""

import sys

from mabos_cli.app import main

sys.exit(main())
