"""The learning loop: what a person says in one session, and what the next session is given of it.

    python benchmarks/loop.py [-v] [STORY ...]       fixtures/loop/company.txt and people.txt

Each story has 30 statements among some 300 turns of talk and tools, in five sessions that are played through the hooks as a host
does. `start`, `prompt` and `pack` count what the start of the next session, its prompt hook and `context pack` give back;
`by hand` has the statements stored word for word instead.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures" / "loop"))
import loop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("stories", nargs="*", default=["company", "people"])
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    for name in given.stories:
        sessions = loop.read_story(name)
        for by_hand in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                report(name, loop.play(Path(folder) / "w", sessions, by_hand=by_hand), by_hand, given.verbose)


def report(name: str, found: loop.Outcome, by_hand: bool, verbose: bool) -> None:
    of = len(found.statements)
    far = [ways for one, ways in zip(found.statements, found.ways, strict=True) if one.shares_no_word]
    counts = {way: sum(way in ways for ways in found.ways) for way in ("start", "prompt", "pack")}
    print(
        f"{name} {'by hand' if by_hand else 'by hooks'}: {sum(map(bool, found.ways))} of {of} given back ("
        f"{', '.join(f'{way} {count}' for way, count in counts.items())}); of {len(far)} that share no word "
        f"prompt {sum('prompt' in ways for ways in far)}, pack {sum('pack' in ways for ways in far)}; {found.stored} items, "
        f"noise stored {len(found.noise)}, untrusted given {len(found.untrusted)}, talk answered {found.talked} of {found.talk}"
    )
    if verbose:
        for one, ways in zip(found.statements, found.ways, strict=True):
            missing = [way for way in counts if way not in ways]
            if missing:
                print(
                    f"   -{','.join(missing):<18} {'*' if one.shares_no_word else ' '} {one.text[:70]} <- {one.prompt}"
                )
        for line in (*found.noise, *found.untrusted):
            print(f"   noise {line}")


if __name__ == "__main__":
    main()
