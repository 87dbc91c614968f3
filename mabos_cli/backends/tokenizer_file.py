"""A tokenizer.json through the `tokenizers` library, for models whose own cost hides that of loading it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mabos_cli.errors import Unavailable

_BATCH = 32


def open_tokenizer(path: Path, limit: int) -> Any:
    """The library's tokenizer, cutting at limit tokens and not padding; Unavailable when it or the file is missing."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise Unavailable("the package tokenizers is not installed", "pip install tokenizers") from None
    hint = "point embeddings.path at a folder with a whole tokenizer.json"
    try:
        text = path.read_text("utf-8")
        # The library raises bare Exception for what it cannot read; what can go wrong is asked beforehand.
        if not json.loads(text)["model"]["vocab"]:
            raise ValueError("its vocabulary is empty")
    except OSError as error:
        raise Unavailable(f"cannot read the tokenizer {path}: {error.strerror}", hint) from None
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"{path} is not a tokenizer: {error}", hint) from None
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    return tokenizer


def make_batches(tokenizer: Any, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, Any]]:
    """Places, ids and mask of texts that are about as long as each other: little is wasted on padding.

    Texts without any token of their own are left out.
    """
    import numpy as np

    encoded = tokenizer.encode_batch([*texts])
    places = [place for place, each in enumerate(encoded) if not all(each.special_tokens_mask)]
    places.sort(key=lambda place: len(encoded[place].ids))
    for first in range(0, len(places), _BATCH):
        chosen = places[first : first + _BATCH]
        ids = np.zeros((len(chosen), len(encoded[chosen[-1]].ids)), np.int64)
        mask = np.zeros_like(ids)
        for row, place in enumerate(chosen):
            found = encoded[place].ids
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        yield chosen, ids, mask


def mean_of_tokens(hidden: Any, mask: Any) -> Any:
    """One row for each text: the mean over its own tokens, without the padding."""
    weight = mask[:, :, None].astype(hidden.dtype)
    return (hidden * weight).sum(axis=1) / weight.sum(axis=1)
