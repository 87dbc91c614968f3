"""How large the search index is on disk: KB for each 1,000 tokens of text (four characters a token), for pages and for memories.

    python benchmarks/index_size.py [--pages 3000] [--items 10000]

Pages are ten sections of running English each; memories are short. The second figure leaves out what is the same for every index.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from workspaces import english, init, item_rows, make_items

from mabos_cli.commands.call import Call
from mabos_cli.services.search.agent_search import AgentIndex


def make_pages(root: Path, count: int) -> int:
    """Writes pages into a workspace; gives their characters."""
    init(root)
    rnd, words, written = random.Random(1), english(), 0
    for n in range(count):
        starts = [rnd.randrange(len(words) - 180) for _ in range(10)]
        text = "\n".join(f"## Part {s}\n\n{' '.join(words[s : s + 180]).capitalize()}.\n" for s in starts)
        path = root / f"agents/main/memory/notes/{n // 500}/{n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Page {n}\n\n{text}", "utf-8")
        written += len(text)
    return written


def show(name: str, root: Path, characters: int) -> None:
    opened = AgentIndex(Call(workspace=str(root)).open_agent())
    index = opened.refresh(rebuild=True)
    assert index and index.path
    size = index.path.stat().st_size
    fixed = index.db.execute("SELECT sum(length(memo)) FROM model_memo").fetchone()[0] or 0
    tokens = characters / 4000
    print(
        f"{name}: {size / 1024 / tokens:.1f} KB per 1,000 tokens, {(size - fixed) / 1024 / tokens:.1f} without the model's table"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--items", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pages, items = Path(folder, "pages"), Path(folder, "items")
        show("pages", pages, make_pages(pages, given.pages))
        make_items(items, item_rows(given.items))
        show("memories", items, sum(len(str(row["content"])) for row in item_rows(given.items)))


if __name__ == "__main__":
    main()
