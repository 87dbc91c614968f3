"""Names the modules of the package: its folders have no `__init__`, so pkgutil does not walk into them."""

from pathlib import Path
from types import ModuleType


def module_names(package: ModuleType) -> list[str]:
    """Returns the dotted names of all modules below a package."""
    (root,) = map(Path, package.__path__)
    paths = sorted(path.relative_to(root).with_suffix("") for path in root.rglob("*.py"))
    return [".".join((package.__name__, *path.parts)) for path in paths if path.name not in ("__init__", "__main__")]
