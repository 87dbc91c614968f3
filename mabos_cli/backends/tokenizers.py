"""Counts tokens: by an estimate from characters, or by a tokenizer whose files are on this machine."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from mabos_cli.core.context.texts import Count
from mabos_cli.core.language.text import cut_text, token_cost
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import Unavailable

# Where tiktoken keeps an encoding (the SHA-1 of its address) and what must be in it: a file that is missing or differs would
# be fetched, and nothing here may go to the network unasked. The first one found is taken.
_ENCODINGS = (
    (
        "o200k_base",
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    (
        "cl100k_base",
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
)
# tiktoken's expressions give up on a million spaces in a row, so it is fed in portions.
_PORTION = 50_000


class Counter(NamedTuple):
    """A way to count: its name in outputs, and a function from a text to its number of tokens."""

    name: str
    count: Count


class _Counting(Count):
    """Counts with a function."""

    def __init__(self, cost: Callable[[str], int]) -> None:
        self._cost = cost

    def __call__(self, text: str, /) -> int:
        return self._cost(text)


def open_tokenizer_counter(choice: str, per_token: int, environ: Mapping[str, str]) -> Counter:
    """Opens the counter of a choice; auto takes tiktoken where it is ready. Unavailable when it is not there."""
    if choice == "llama":
        from mabos_cli.backends.wordllama import open_bpe

        bpe = open_bpe(hint="pip install 'wordllama>=0.4,<0.5', or set context.tokenizer to auto")
        bpe.load_all()
        return Counter("llama bpe", _Counting(lambda text: len(bpe.encode(text))))
    if choice == "tiktoken":
        return _open_tiktoken(environ)
    if choice == "auto":
        with suppress(Unavailable):
            return _open_tiktoken(environ)
    cost = _Counting(lambda text: token_cost(text, per_token) if text else 0)
    return Counter(f"estimate: {per_token} characters a token", cost)


def _open_tiktoken(environ: Mapping[str, str]) -> Counter:
    # Whether there is one is asked before it is imported, and its file is looked at before it would look itself.
    if find_spec("tiktoken") is None:
        raise Unavailable("the package tiktoken is not installed", "pip install 'mabos-cli[tokens]'")
    name = _find_encoding(environ)
    if not name:
        first = _ENCODINGS[0][0]
        raise Unavailable(
            "tiktoken has no encoding on this machine, and nothing is fetched unasked",
            f"fetch it once: python -c \"import tiktoken; tiktoken.get_encoding('{first}')\"",
        )
    try:
        import tiktoken
    except ImportError as error:
        raise Unavailable(f"tiktoken cannot be loaded: {error}", "pip install 'mabos-cli[tokens]'") from None
    encode = tiktoken.get_encoding(name).encode_ordinary
    cost = _Counting(lambda text: sum(len(encode(part)) for part in cut_text(text, _PORTION)))
    return Counter(f"tiktoken {name}", cost)


def _find_encoding(environ: Mapping[str, str]) -> str:
    """Returns the encoding whose file tiktoken would take from its cache, or nothing."""
    from hashlib import sha256
    from tempfile import gettempdir

    folder = environ.get("TIKTOKEN_CACHE_DIR", environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":  # tiktoken reads this as: keep nothing, always fetch
        return ""
    cache = Path(folder) if folder else Path(gettempdir(), "data-gym-cache")
    for name, file, digest in _ENCODINGS:
        with suppress(OSError):
            if sha256((cache / file).read_bytes()).hexdigest() == digest:
                return name
    return ""
