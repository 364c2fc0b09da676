"""docs/api.md, made of docstrings: every name of the facade, and what hangs on it.

`.venv/bin/python -m tests.models.api_page` writes this page again, docs/objects.md, and the tables
of arguments in docs/controllers.md and docs/kubelet.md.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

import actors.scheduler.invariants
import testbed.invariants
from actors.apiserver import ApiServer
from actors.apiserver.invariants import protocol_claims
from actors.framework.filter import Filter
from actors.scheduler import Scheduler, plugins
from actors.scheduler.decider import Decider
from actors.scheduler.preemption.dry_run import VictimSelector
from actors.scheduler.score import Score
from testbed.client.client import Task
from testbed.client.stream import Stream
from testbed.fault import Levers, Way
from testbed.invariant import Invariant
from testbed.store.change import Change, Entry
from testbed.store.delivery import Delivery
from testbed.store.endpoint import Listing
from testbed.store.store import Store
from testbed.turns.life import Death
from testbed.turns.option import Option
from testbed.turns.pending import Options
from testbed.turns.timers import Alarm
from testbed.turns.trace import Record
from testbed.turns.waits import Queue, Signal
from testbed.world.budget import Budget
from testbed.world.fault_kinds import fault_kinds
from testbed.world.fault_settings import setting_fields

PAGE: Path = Path(__file__).parent.parent.parent / "docs/api.md"
HEAD = """\
# The public API

Every name that a scenario, an actor or a claim of your own may use, with what it promises. The page
is made of the docstrings. What a cluster is made of, such as Pod and Lease, is in
[objects.md](objects.md).
"""
WAITS = (Signal, Queue, Alarm, Task, Stream, Listing, Delivery)
SEEN = (Entry, Change, Record, Death)
LOOKS = (Store.peek, Store.snapshot, Store.log)
MADE = (Way, Levers, Options, Option)
POINTS = (Filter, Score, VictimSelector, Decider)


def page() -> str:
    """The whole text."""
    parts = [HEAD, "## The facade\n", "`from testbed import …`\n"]
    parts += [_entry(name, getattr(testbed, name)) for name in sorted(facade(), key=str.lower)]
    parts.append("## What a Client gives\n\nMade by its methods; each wait is awaited.\n")
    parts += [_entry(cls.__name__, cls) for cls in WAITS]
    parts.append(
        "## What a claim sees\n\nBeside the members of Evidence, above. `see.store` has:\n\n"
        + table("method", [row(each.__name__, each) for each in LOOKS])
    )
    parts += [_entry(cls.__name__, cls) for cls in SEEN]
    parts.append(
        "## Limits of a Run\n\n`world.limit(turns_max=10_000, until_ms=45_000)` sets some of:\n\n"
        + table("limit", [row(name, text) for name, text in members(Budget).items()])
    )
    parts.append(
        "## Faults\n\nOn the command line and in race files a fault is named by its word, and a "
        "setting stands behind a comma: `--faults stall:ann,by=15s`. A scenario allows it in "
        "Python, by its class and the fields in brackets:\n\n"
        "```python\nfrom testbed.faults.stall import Stall\n\n"
        'world.allow(Stall("ann", by_ms=15_000, times_max=2))\n```\n'
    )
    parts += [_fault(kind) for _, kind in sorted(fault_kinds().items())]
    parts.append(
        "## Claims\n\n`world.claim(…)`, beside `always`, `quiescent`, `eventually`, `confluent` "
        "and `no_lasso` above.\n"
    )
    rows = [(f"`{claim.name or claim.__name__}`", first(claim)) for claim in claims()]
    parts.append(table("claim", rows))
    parts.append(
        f"`protocol_claims()` of `actors.apiserver.invariants`: {first(protocol_claims)}\n"
    )
    parts.append(
        "## The scheduler's points\n\nClasses of your own, for `Scheduler(plugins=…)` and its "
        "switches; docs/scheduler.md shows each.\n"
    )
    parts += [_entry(cls.__name__, cls) for cls in (Scheduler, ApiServer)]
    parts += [_entry(point.__name__, point) for point in points()]
    parts.append(
        "## For faults and choosers of your own\n\nWhat their methods are given, and what they "
        "return; [tour.md](tour.md) writes one of each.\n"
    )
    parts += [_entry(cls.__name__, cls) for cls in MADE]
    return "\n".join(parts)


def facade() -> list[str]:
    """The names that are promised."""
    return [name for name in testbed.__all__ if not name.startswith("__")]


def claims() -> list[type[Invariant]]:
    """The Invariants that come with the testbed and the scheduler, by name."""
    found = set()
    for room in (testbed.invariants, actors.scheduler.invariants):
        for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            for value in vars(import_module(info.name)).values():
                if inspect.isclass(value) and issubclass(value, Invariant) and value.name:
                    found.add(value)
    return sorted(found, key=lambda claim: claim.name)


def points() -> list[type]:
    """What a scheduler can be given: Protocols and base classes."""
    own = [cls for cls in vars(plugins).values() if inspect.isclass(cls)]
    mine = [cls for cls in own if cls.__module__ == plugins.__name__ and members(cls)]
    return [*POINTS, *mine]


def members(cls: type) -> dict[str, Any]:
    """The public methods, properties and documented fields of a class, in order of the text."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith(("testbed", "actors")):
            continue
        found |= {name: text for name, text in fields_told(base).items() if text}
        for name, value in vars(base).items():
            is_ours = "for the testbed itself" in (inspect.getdoc(value) or "")
            if not name.startswith("_") and isinstance(value, METHODS) and not is_ours:
                found[name] = value
    return found


METHODS = (type(members), property, classmethod, staticmethod)


def _entry(name: str, thing: Any) -> str:
    lines = [f"### `{name}{signature(thing) if inspect.isfunction(thing) else ''}`\n"]
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return f"{lines[0]}\n`{type(thing).__name__}`: {first(type(thing))}\n"
    lines.append(f"{whole(thing)}\n")
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        rows = [row(member, value) for member, value in members(thing).items()]
        lines += [table("member", rows)] if rows else []
    return "\n".join(lines)


def row(name: str, value: Any) -> tuple[str, str]:
    """A member's row: how it is written, and what it is."""
    if isinstance(value, str):
        return f"`{name}`", value
    if isinstance(value, property):
        return f"`{name}`", first(value)
    function = getattr(value, "__func__", value)
    word = "await " if inspect.iscoroutinefunction(function) else ""
    return f"`{word}{name}{signature(function)}`", whole(function)


def _fault(kind: type) -> str:
    fields = {field: name for name, field in setting_fields(kind).items()}
    told: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        told |= fields_told(base)
    rows = [
        (f"`{name}`" + ("" if name == field else f" (`{field}`)"), told.get(field, ""))
        for field, name in fields.items()
    ]
    below = f"\n{table('setting', rows)}" if rows else ""
    found = f"`from {kind.__module__} import {kind.__name__}`"
    return f"### `{kind.word}`\n\n{whole(kind)}\n{found}\n{below}"  # type: ignore[attr-defined]


def table(head: str, rows: list[tuple[str, str]]) -> str:
    """A table of two columns."""
    lines = [f"| {head} | is |", "|---|---|"]
    lines += [f"| {name.replace('|', chr(92) + '|')} | {text} |" for name, text in rows]
    return "\n".join(lines) + "\n"


def signature(function: Callable[..., Any]) -> str:
    """Its parameters and their defaults, without types: the text says what they are."""
    shown = []
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        del parameters[0]
    is_named = False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not is_named:
            shown.append("*")
        is_named = is_named or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        stars = "*" * ((each.kind is each.VAR_POSITIONAL) + 2 * (each.kind is each.VAR_KEYWORD))
        shown.append(f"{stars}{each.name}{_default(each.default)}")
    return f"({', '.join(shown)})"


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return ""
    is_plain = value is None or isinstance(value, bool | int | str | tuple)
    return f"={value!r}" if is_plain else "=…"


def whole(thing: Any) -> str:
    """Its docstring on one line for each paragraph, without lists of steps."""
    text = inspect.getdoc(thing) or ""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return " ".join(part for part in paragraphs if part).replace("|", "\\|")


def first(thing: Any) -> str:
    """The first paragraph of its docstring."""
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


@cache
def fields_told(cls: type) -> dict[str, str]:
    """The fields of a class with the strings beneath them, and the attributes that it sets."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):
        return {}
    assert isinstance(tree, ast.ClassDef)
    bodies = [tree.body]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            bodies.append(node.body)
    found: dict[str, str] = {}
    for body in bodies:
        found |= dict(_strings_beneath(body))
    is_data = attrs.has(cls)
    own = {field.name for field in attrs.fields(cls)} if is_data else set()
    return {name: text for name, text in found.items() if not is_data or name in own}


def _strings_beneath(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for node, beneath in zip(body, [*body[1:], None], strict=True):
        target = getattr(node, "target", None) or (getattr(node, "targets", None) or [None])[0]
        name = getattr(target, "id", None) or getattr(target, "attr", "")
        if not name or name.startswith("_") or not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        if isinstance(beneath, ast.Expr) and isinstance(beneath.value, ast.Constant):
            yield name, re.sub(r"\s+", " ", str(beneath.value.value)).strip().replace("|", "\\|")


if __name__ == "__main__":
    from tests.docs import client_tables, settings_tables
    from tests.models import objects_page

    PAGE.write_text(page(), encoding="utf-8")
    objects_page.PAGE.write_text(objects_page.page(), encoding="utf-8")
    settings_tables.write()
    client_tables.write()
