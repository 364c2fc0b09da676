"""Mutant lists: the mutants that packages of actors have, found by the name of a package."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules

from testbed.errors import ScenarioError
from testbed.testing.mutant import Mutant

PACKAGE = "actors"
"""The package whose packages are looked through if none is named."""
MODULE, LIST = "mutants", "MUTANTS"
"""The module and the name in which a package has its mutants."""

ELSEWHERE = {"testbed.choosers.complete": "testbed.testing.complete"}
"""Where the mutants of a part are that may not know of any World."""


def packages_with_mutants() -> list[str]:
    """The packages of actors that have mutants."""
    root = import_module(PACKAGE)
    names = [info.name for info in iter_modules(root.__path__, f"{PACKAGE}.") if info.ispkg]
    return [
        name
        for name in sorted(names)
        if any(info.name == MODULE for info in iter_modules(import_module(name).__path__))
    ]


def mutants_of(package: str) -> tuple[Mutant, ...]:
    """The mutants of one package, in the order of its list."""
    package = ELSEWHERE.get(package, package)
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = import_module(f"{package}.{MODULE}")
    except ImportError as error:
        raise ScenarioError(
            f"{package} has no mutants: {error}.\n"
            f"Next: write them in {package.replace('.', '/')}/{MODULE}.py, as `{LIST} = (Mutant("
            "…), …)`, or name one of " + ", ".join(packages_with_mutants())
        ) from error
    listed = getattr(module, LIST, ())
    if not listed or not all(isinstance(each, Mutant) for each in listed):
        raise ScenarioError(
            f"{package}.{MODULE}: expected {LIST}, a tuple of Mutants, found {listed!r}.\n"
            f"Next: end it with `{LIST} = (Mutant(…), …)`."
        )
    return tuple(listed)
