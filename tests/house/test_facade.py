"""The facade: the few names that are promised, and how they are loaded."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import testbed
from testbed.version import VERSION
from tests.each_row import each_row

ROOT = Path(__file__).parent.parent.parent
NAMES = [name for name in testbed.__all__ if name != "__version__"]


def test_the_names_are_few_and_sorted() -> None:
    """At most 31 beside the version; in the order the linter sorts them: constants, classes,
    functions."""

    def place(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)

    assert len(NAMES) <= 31
    assert testbed.__all__ == sorted(testbed.__all__, key=place)
    assert len(set(testbed.__all__)) == len(testbed.__all__)


@each_row("name", NAMES)
def test_a_promised_name_can_be_imported(name: str) -> None:
    """And is the very thing its home defines."""
    thing = getattr(testbed, name)
    home = f"testbed.{testbed._HOMES[name]}"
    assert getattr(sys.modules[home], name) is thing
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert (thing.__module__, thing.__qualname__) == (home, name)


@each_row("name", NAMES)
def test_a_promised_name_is_documented(name: str) -> None:
    """What it is, in its own words or, if it is a constant, in those of its class."""
    thing = getattr(testbed, name)
    said = thing.__doc__ or ""
    assert len(said.split()) > 3
    assert said.endswith((".", '"')) or said.strip().endswith("."), said


def test_everything_promised_is_also_typed() -> None:
    """What a type checker is told is what is loaded: the same names from the same homes."""
    tree = ast.parse(Path(testbed.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.name: node.module.removeprefix("testbed.")
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert typed == testbed._HOMES
    assert sorted(typed) == sorted(NAMES)


def test_a_name_is_loaded_when_it_is_asked_for() -> None:
    """`import testbed` loads none of its homes, and one name not those of the others."""
    code = """if True:
        import sys, testbed
        def homes(): return sorted(n for n in sys.modules if n.startswith("testbed."))
        few = ["testbed.code", "testbed.code.hidden", "testbed.errors", "testbed.version"]
        assert homes() == few, homes()
        from testbed import Trace
        assert "testbed.turns.trace" in homes() and "testbed.world.world" not in homes(), homes()
        from testbed import World
        assert "trio" in sys.modules and "hypothesis" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_the_promised_names_are_shown() -> None:
    """`dir(testbed)`, and so an editor's completion, knows them before they are loaded."""
    assert set(testbed.__all__) <= set(dir(testbed))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any module, so that `hasattr` and `from testbed import …` do as they always do."""
    with pytest.raises(AttributeError, match=r"^module 'testbed' has no attribute 'Wrold'$"):
        _ = testbed.Wrold
    assert not hasattr(testbed, "trio")
    with pytest.raises(ImportError, match="cannot import name 'Wrold' from 'testbed'"):
        from testbed import Wrold  # noqa: F401


def test_the_version_is_that_of_every_trace() -> None:
    """One version, said in one place."""
    assert testbed.__version__ == VERSION


def test_the_map_in_the_docstring_is_the_line() -> None:
    """The reading order that the facade opens with names every module of the testbed."""
    said = testbed.__doc__ or ""
    for path in Path(testbed.__file__).parent.iterdir():
        name = path.name.removesuffix(".py")
        if name not in ("__pycache__", "py.typed"):
            assert re.search(rf"\b{name}[,.]", said), f"{name} is not on the map"
