"""Half a year of three agents with planted events: how many the next cycle proposes or handles, and what nobody planted.

    python benchmarks/half_year.py

fixtures/half_year.py has the events and plays them through the program in process.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
import half_year


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = half_year.play(Path(folder) / "w")
    print(f"{found.planted} planted events, {len(found.missed)} missed")
    share = len(found.unplanted) / max(1, found.proposed)
    print(f"{found.proposed} proposals, {len(found.unplanted)} that nobody planted ({share:.0%})")
    print(f"second cycles that changed a file: {len(found.restless)} of {half_year.ROUNDS - 1}")
    for line in (*found.missed, *found.unplanted):
        print(f"  {line}")


if __name__ == "__main__":
    main()
