"""The expanders, one file each (CA-19).

A new one is one new file here: a subclass of `Expander` with a `name` and a `best`. The switch
`autoscaler.expander=name` finds it by its name.

May use: expander.
Siblings: no file here imports another.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from actors.autoscaler.expander import Expander


@cache
def expander_classes() -> Mapping[str, type[Expander]]:
    """The class of every Expander in this folder by its `name`, in the order of the files."""
    found: dict[str, type[Expander]] = {}
    for file in sorted(info.name for info in iter_modules(__path__)):
        module = import_module(f"{__name__}.{file}")
        for each in vars(module).values():
            is_expander = isinstance(each, type) and issubclass(each, Expander)
            if is_expander and each.__module__ == module.__name__ and each.name:
                found.setdefault(each.name, each)
    return found
