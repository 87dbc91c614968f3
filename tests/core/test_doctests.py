import doctest
import importlib
import pkgutil

import pytest

import mabos_cli.core
import mabos_cli.formats

MODULES = sorted(
    [
        "mabos_cli.terminal.emit",
        "mabos_cli.terminal.progress",
        "mabos_cli.workspace.ids",
        "mabos_cli.config",
        *(
            module.name
            for package in (mabos_cli.core, mabos_cli.formats)
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        ),
    ]
)


@pytest.mark.parametrize("name", MODULES)
def test_doctests_of_module_hold(name):
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


def test_doctests_are_found_at_all():
    attempted = sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES)
    assert attempted > 20
