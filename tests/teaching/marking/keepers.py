"""Keepers: blind overwrites that hold a lock in some place that programs of one process share.

Each would pass level 1 if only whole Runs were played: while one clerk is between its read and its
write, the others wait. None of them asks its Client for that, so none may pass. The text of most is
refused, as of an honest student's; each must be found out as well when its text is not looked at,
since no list of places is complete.
"""

from __future__ import annotations

import attrs

TEXT = '''"""Counts behind a lock of its own."""

from scenarios.levels.lost_count import Clerk
from testbed import Client, Unavailable
from testbed.objects import Note
{top}

class MyClerk(Clerk):
    async def run(self, client: Client) -> None:
        {own}
        for _ in range(self.deliveries):
            while {taken}:
                await client.sleep(10)
            {take}
            try:
                while True:
                    try:
                        note = await client.get(Note, self.stock)
                        count = str(int(note.data["count"]) + 1)
                        await client.update(note.saying(count=count), whatever_it_was=True)
                        break
                    except Unavailable:
                        continue
            finally:
                {free}
'''


@attrs.frozen
class Keeper:
    """One such answer."""

    own: str
    """What it holds the place by."""
    taken: str
    """Whether the lock is taken."""
    take: str
    free: str
    top: str = ""
    """What stands at the top of its file."""

    @property
    def text(self) -> str:
        """The file."""
        parts = attrs.asdict(self)
        return TEXT.format(**parts)


def _in_dict(place: str, top: str = "") -> Keeper:
    return Keeper(f"held = {place}", "'lock' in held", "held['lock'] = 1", "del held['lock']", top)


ASKS = """

def is_taken(held):
    try:
        return held.lock
    except AttributeError:
        return False

"""


def _on(thing: str, top: str = "") -> Keeper:
    """One that sets an attribute of that thing, by another name than its own."""
    return Keeper(
        f"held = {thing}", "is_taken(held)", "held.lock = True", "held.lock = False", top + ASKS
    )


KEEPERS = {
    "a dict of json": _in_dict("json.decoder.BACKSLASH", "import json"),
    "another dict of json": _in_dict("json.encoder.ESCAPE_DCT", "import json"),
    "a dict of copy": _in_dict("copy.dispatch_table", "import copy"),
    "a dict of the level": _in_dict(
        "LEVEL.words", "from scenarios.levels.lost_count import LEVEL"
    ),
    "a dict within a function": _in_dict("json.dumps.__globals__", "import json"),
    "a dict of its own file": _in_dict("HELD", "HELD = {}"),
    "a default": Keeper(
        "held = kept()", "held", "held.append(1)", "held.clear()",
        "\n\ndef kept(held=[]):\n    return held\n",
    ),
    "a cache": Keeper(
        "held = kept()", "held", "held.append(1)", "held.clear()",
        "import functools\n\n\n@functools.cache\ndef kept():\n    return []\n",
    ),
    "an attribute of its class": _on("MyClerk"),
    "an attribute of its class by type": _on("type(self)"),
    "an attribute of a function": _on("helper", "\n\ndef helper():\n    pass\n"),
    "an attribute of a class of objects": _on("Note"),
    "an attribute of an error": _on("Unavailable"),
    "an attribute of Python's function": _on("json.dumps", "import json"),
    "an attribute of Python's class": _on("json.JSONEncoder", "import json"),
    "a member of an enum": _on("re.RegexFlag.ASCII", "import re"),
    "a type variable": _on("typing.AnyStr", "import typing"),
    "a name that is copied": Keeper(
        "held = functools.update_wrapper", "helper.__doc__ == 'taken'",
        "held(helper, taken, ('__doc__',), ())", "held(helper, free, ('__doc__',), ())",
        "import functools\n\n\ndef helper():\n    pass\n\n\ndef taken():\n    'taken'\n\n\n"
        "def free():\n    'free'\n",
    ),
    "a setting of attrs": Keeper(
        "held = attrs.validators", "held.get_disabled()", "held.set_disabled(True)",
        "held.set_disabled(False)", "import attrs",
    ),
    "a registry of overloads": Keeper(
        "held = typing.get_overloads", "held(kept)", "typing.overload(kept)",
        "typing.clear_overloads()", "import typing\n\n\ndef kept():\n    pass\n",
    ),
    "a global name": Keeper(
        "global held", "held", "held = True", "held = False", "held = False",
    ),
    "the names of Python": _in_dict("__builtins__"),
}  # fmt: skip
"""By the place, each answer."""
