"""The arguments of controllers, users, kubelets, clouds and YuniKorn, as tables of docs/: of the
classes.

`.venv/bin/python -m tests.models.api_page` writes them, too.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

import actors.autoscaler
import actors.cloud
import actors.controllers
import actors.kubelet
import actors.users
import actors.yunikorn
from actors.autoscaler import AutoscalerSettings
from actors.cloud import Boot, CloudQuota, NodeGroup
from actors.controllers.descheduler.policy import DeschedulerPolicy
from actors.controllers.frame.control_loop import KeyedController
from actors.controllers.node_lifecycle.zones import Pace
from actors.kubelet import EvictionSettings, Kubelet, Threshold, Workload
from actors.users.commands import Command
from actors.users.drain import DrainOptions
from actors.users.stream import Cue
from actors.yunikorn import QueueSettings
from testbed import Actor
from tests.models.api_page import fields_told, signature, whole

DOCS = Path(__file__).parent.parent.parent / "docs"
HEADING = "## Arguments\n"
NOT_FOR_USERS = ("mutants", "proving")
"""Words in the names of modules whose actors are for tests."""
HELD: dict[ModuleType, tuple[type, ...]] = {
    actors.autoscaler: (AutoscalerSettings,),
    actors.cloud: (NodeGroup, Boot, CloudQuota),
    actors.controllers: (KeyedController, Pace, DeschedulerPolicy),
    actors.users: (Cue, DrainOptions),
    actors.kubelet: (EvictionSettings, Threshold, Workload),
    actors.yunikorn: (QueueSettings,),
}
"""What users give to the actors of a room, beside those."""
PAGES: dict[str, tuple[ModuleType, ...]] = {
    "autoscaler": (actors.autoscaler, actors.cloud),
    "controllers": (actors.controllers, actors.users),
    "kubelet": (actors.kubelet,),
    "yunikorn": (actors.yunikorn,),
}
COMMON = "Every actor takes its `name` first; where it has no row here, it is needed."
SAID = {
    actors.controllers: "Under `actors.controllers`. Each that is not here takes what every "
    "`KeyedController` takes, by keyword, and no more.",
    actors.users: "Under `actors.users`. `commands.NoCommand()` takes nothing.",
    actors.kubelet: "Of `actors.kubelet`.",
    actors.autoscaler: "Of `actors.autoscaler`.",
    actors.cloud: "Of `actors.cloud`.",
    actors.yunikorn: "Of `actors.yunikorn`.",
}


def section(page: str) -> str:
    """What stands below the heading on that page."""
    parts = [f"{HEADING}\nMade of the classes. {COMMON}\n"]
    parts += [f"{SAID[room]}\n\n{table(room)}" for room in PAGES[page]]
    return "\n".join(parts)


def table(room: ModuleType) -> str:
    """The classes of a room: each argument, its default, and what it is."""
    lines = ["| class | argument | default | is |", "|---|---|---|---|"]
    for cls in classes(room):
        place = f"`{_place(cls, room)}`"
        for row in rows(cls):
            lines.append(f"| {place} | {row} |")
            place = ""
    return "\n".join(lines) + "\n"


def classes(room: ModuleType) -> list[type]:
    """The actors and commands of a room, and what is given to them, by where they are."""
    found = set(HELD[room])
    for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        if any(word in info.name for word in NOT_FOR_USERS):
            continue
        for cls in vars(import_module(info.name)).values():
            bases = inspect.getmro(cls)[1:] if inspect.isclass(cls) else ()
            if bases and cls.__module__ == info.name and {Actor, Command} & {*bases}:
                found.add(cls)
    return sorted(found, key=lambda cls: (cls is not Kubelet, _place(cls, room)))


def rows(cls: type) -> Iterator[str]:
    """A row for each argument that its bases do not have, and for each other way to make one."""
    told: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        told |= fields_told(base)
    base = KeyedController if issubclass(cls, KeyedController) else Actor
    known = {field.name for field in attrs.fields(Actor if cls is base else base)}
    for field in attrs.fields(cls):
        is_named = field.name == "name" and field.default is not attrs.NOTHING
        if is_named or field.name not in known:
            said = "What it is called." if is_named else told[field.name]
            yield f"`{field.name}` | {_default(cls, field)} | {said}"
    for name, value in vars(cls).items():
        if isinstance(value, classmethod) and not name.startswith("_"):
            way = value.__func__
            yield f"`.{name}{signature(way)}` |  | {whole(way)}"


def _place(cls: type, room: ModuleType) -> str:
    """Where it is, from its room."""
    if cls.__name__ in vars(room):
        return cls.__name__
    return f"{cls.__module__.removeprefix(room.__name__ + '.')}.{cls.__name__}"


def _default(cls: type, field: attrs.Attribute[Any]) -> str:
    default: Any = field.default
    if default is attrs.NOTHING:
        return "needed"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    return f"`{_shown(default, cls)}`"


def _shown(value: Any, cls: type) -> str:
    """A default as it is written; a constant by its name, if it is of classes of ours."""
    if inspect.isclass(value):
        return value.__name__
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return f"{value:_}"
    if attrs.has(type(value)):
        return f"{type(value).__name__}()"
    if isinstance(value, tuple):
        module = vars(import_module(cls.__module__))
        names = [name for name, given in module.items() if value and given is value]
        shown = ", ".join(_shown(each, cls) for each in value)
        return names[0] if names else f"({shown}{',' * (len(value) == 1)})"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def written(page: str) -> str:
    """The page with the section as it should be."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(HEADING)
    _, heading, after = rest.partition("\n## ")
    return f"{before}{section(page)}{heading}{after}"


def write() -> None:
    """Write the section of each page again."""
    for page in PAGES:
        (DOCS / f"{page}.md").write_text(written(page), encoding="utf-8")
