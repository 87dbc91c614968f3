import doctest
import importlib

import pytest
from modules import module_names

import mabos_cli.core
import mabos_cli.formats
import mabos_cli.reasoning

MODULES = sorted(
    [
        "mabos_cli.terminal.emit",
        "mabos_cli.config",
        *(
            name
            for package in (mabos_cli.core, mabos_cli.formats, mabos_cli.reasoning)
            for name in module_names(package)
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
