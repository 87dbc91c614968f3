"""What is installed from npm to be tried, which version of it, and where: into a cache, never into the project."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

VERSIONS = {
    "node": "24.21.0",  # OpenClaw and the inspector need it; the first, for the others run on it too
    "@anthropic-ai/claude-code": "2.1.326",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "openclaw": "2026.9.6",
    "@modelcontextprotocol/sdk": "1.32.2",
    "@modelcontextprotocol/inspector": "2.12.0",
}


def folder_of(package: str) -> Path:
    """Returns where a package is installed, or will be."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "mabos-hosts" / f"{package.strip('@').replace('/', '-')}-{VERSIONS[package]}"


def program(package: str, name: str) -> str:
    """Returns the path of a program in a package."""
    return str(folder_of(package) / "node_modules" / ".bin" / name)


def search_path() -> str:
    """Returns the PATH with our Node first."""
    return os.pathsep.join([os.path.dirname(program("node", "node")), os.environ["PATH"]])


def install(package: str) -> None:
    """Installs a package where it is not there yet."""
    folder = folder_of(package)
    if folder.exists():
        return
    if shutil.which("npm") is None:
        sys.exit("hosts come from npm, and there is no npm here")
    print(f"installing {package} {VERSIONS[package]} into {folder}", flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="install-", dir=folder.parent))
    words = ["npm", "install", "--prefix", str(made), "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(
        [*words, f"{package}@{VERSIONS[package]}"], env=dict(os.environ, PATH=search_path()), check=False
    )
    if done.returncode:
        sys.exit(f"npm could not install {package} {VERSIONS[package]}")
    made.rename(folder)
