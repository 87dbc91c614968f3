"""The one door to embedding models: a text goes in, a packed unit vector comes out, whoever made it."""

from collections.abc import Mapping

from mabos_cli.core.search.documents import Embedder
from mabos_cli.errors import UsageFault

PROVIDERS = ("wordllama", "minilm", "onnx", "openai", "gemini", "voyage", "ollama", "http")


def open_embedder(
    provider: str, *, model: str = "", url: str = "", path: str = "", timeout: float = 10.0, environ: Mapping[str, str]
) -> Embedder:
    """The embedder of a provider, or Unavailable when its package, files or key are missing."""
    # Each is imported when chosen: the default must not pay for urllib, nor any of them for the others.
    if provider == "wordllama":
        from mabos_cli.backends.wordllama import open_wordllama

        return open_wordllama(path)
    if provider == "minilm":
        from mabos_cli.backends.sentence_models import open_minilm

        return open_minilm(path)
    if provider == "onnx":
        from mabos_cli.backends.sentence_models import open_onnx

        return open_onnx(path)
    if provider in PROVIDERS:
        from mabos_cli.backends.http_embeddings import open_http

        return open_http(provider, model=model, url=url, timeout=timeout, environ=environ)
    raise UsageFault(f"unknown embeddings provider {provider!r}", f"one of none, {', '.join(PROVIDERS)}")
