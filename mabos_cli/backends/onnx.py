"""Any sentence model exported to ONNX: a local folder with model.onnx and tokenizer.json."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mabos_cli.backends.tensors import fingerprint
from mabos_cli.backends.tokenizer_file import make_batches, mean_of_tokens, open_tokenizer
from mabos_cli.backends.vectors import pack_rows
from mabos_cli.errors import Unavailable

_MAX_TOKENS = 512
_EXTRA = "pip install 'mabos-cli[onnx]'"
_FOLDER = "point embeddings.path at a folder with model.onnx and tokenizer.json"


def open_onnx(path: str) -> "OnnxModel":
    """The model in a folder; Unavailable when the runtime or a file is missing."""
    if not path:
        raise Unavailable("the provider onnx needs a model folder", _FOLDER)
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as faults
    except ImportError:
        raise Unavailable("the package onnxruntime is not installed", _EXTRA) from None
    wrong = (faults.Fail, faults.InvalidArgument, faults.InvalidProtobuf, faults.InvalidGraph)
    wrong += (faults.NotImplemented, faults.RuntimeException)
    model, tokenizer = Path(path) / "model.onnx", Path(path) / "tokenizer.json"
    try:
        name = fingerprint(model, tokenizer)
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    except OSError as error:
        raise Unavailable(f"cannot read {error.filename}: {error.strerror}", _FOLDER) from None
    except wrong as error:
        reason = str(error).split("\n")[0]
        raise Unavailable(f"{model} is not a model that onnxruntime can run: {reason}", _FOLDER) from None
    return OnnxModel(session, open_tokenizer(tokenizer, _token_limit(Path(path))), name, wrong)


def _token_limit(folder: Path) -> int:
    """How many tokens the model was trained for, where a file beside it says so."""
    try:
        found = json.loads((folder / "sentence_bert_config.json").read_bytes())["max_seq_length"]
    except (OSError, ValueError, KeyError, TypeError):
        return _MAX_TOKENS
    return found if isinstance(found, int) and 2 < found <= _MAX_TOKENS else _MAX_TOKENS


class OnnxModel:
    """An ONNX session. Takes sentence_embedding where the model has it, else the mean of last_hidden_state."""

    costly = True
    floor = 0.0

    def __init__(self, session: Any, tokenizer: Any, name: str, faults: tuple[type[Exception], ...]) -> None:
        self.model = f"onnx-{name}"
        self._session = session
        self._tokenizer = tokenizer
        self._faults = faults
        self._inputs = {each.name for each in session.get_inputs()}
        outputs = [each.name for each in session.get_outputs()]
        known = [name for name in ("sentence_embedding", "last_hidden_state") if name in outputs]
        self._output = (known or outputs)[0]
        if not self._inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise Unavailable(f"the ONNX model wants other inputs: {', '.join(sorted(self._inputs))}", _FOLDER)
        self.width = self._run_on([[1]], [[1]]).shape[-1]

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector for each text, in order."""
        packed = [bytes(4 * self.width)] * len(texts)
        for places, ids, mask in make_batches(self._tokenizer, texts):
            for place, blob in zip(places, pack_rows(self._run_on(ids, mask), "the ONNX model"), strict=True):
                packed[place] = blob
        return packed

    def embed_query(self, text: str) -> bytes:
        """The vector of one question."""
        return self.embed([text])[0]

    def _run_on(self, ids: Any, mask: Any) -> Any:
        import numpy as np

        ids, mask = np.asarray(ids, np.int64), np.asarray(mask, np.int64)
        offered = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            found = self._session.run([self._output], {name: offered[name] for name in self._inputs})[0]
        except self._faults as error:
            raise Unavailable(f"the ONNX model failed: {str(error).splitlines()[0]}", _FOLDER) from None
        if found.ndim == 3 and found.shape[:2] == ids.shape:
            found = mean_of_tokens(found, mask)
        if found.ndim != 2 or found.shape[0] != len(ids):
            raise Unavailable(f"the ONNX model's {self._output} is {list(found.shape)}, not a vector each", _FOLDER)
        return found.astype(np.float32)
