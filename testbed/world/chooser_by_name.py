"""own_chooser: finds the Chooser of a name, one of ours or a class of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from testbed.chooser import Chooser
from testbed.errors import ScenarioError
from testbed.world.chooser_kinds import chooser_of
from testbed.world.users_code import import_first_from, in_file, standing_at


def maker_of(name: str, seed: int) -> Callable[[], Chooser]:
    """What makes a new Chooser of that name, or of the class at `FILE.py:Class` or `module:Class`;
    with the seed, if the class takes one."""
    if ":" not in name:
        chooser_of(name, seed)
        return lambda: chooser_of(name, seed)
    folder, own = in_file(name)
    if folder:
        import_first_from(folder)
    made = standing_at(own)
    if not inspect.isclass(made) or not issubclass(made, Chooser):
        raise ScenarioError(
            f"--chooser {name} is no chooser: expected a class, found {repr(made)[:60]}.\n"
            f"Next: write it as `class {name.partition(':')[2]}(testbed.Chooser)`."
        )
    takes = inspect.signature(made)
    given = {"seed": seed} if "seed" in takes.parameters else {}
    try:
        takes.bind(**given)
    except TypeError as error:
        raise ScenarioError(
            f"--chooser {name}{takes}: {error}; expected one that is made from nothing, or from "
            "a `seed`.\nNext: give its other arguments defaults."
        ) from error
    return lambda: made(**given)
