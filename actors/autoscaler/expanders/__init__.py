"""The expanders, one file each (CA-19).

A new one is one new file here: a subclass of `Expander` with a `name` and a `best`. The switch
`autoscaler.expander=name` finds it by its name.

May use: expander.
Siblings: no file here imports another.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from actors.autoscaler.expander import Expander
from testbed.policy import catalogue


@cache
def expander_classes() -> Mapping[str, type[Expander]]:
    """The class of every Expander in this folder by its `name`, in the order of the files."""
    return catalogue(__name__, __path__, Expander)
