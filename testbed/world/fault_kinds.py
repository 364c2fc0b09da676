"""Fault kinds: every kind of Fault by its word, as race files and command lines name it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import attrs

import testbed.faults
from testbed.errors import ScenarioError, UnknownName
from testbed.fault import Fault
from testbed.world.fault_settings import DURATIONS, SETTINGS, parse_duration

TEXT = re.compile(
    r"((?P<times>[1-9][0-9]{0,3})\*)?(?P<word>[a-z_]+)(:(?P<target>[^\s,]+))?(?P<settings>(,[^,]+)*)"
)


@cache
def fault_kinds() -> dict[str, type[Fault]]:
    """Every kind in `testbed/faults/`, by its word."""
    found = {}
    for info in sorted(pkgutil.iter_modules(testbed.faults.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{testbed.faults.__name__}.{info.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Fault) and value is not Fault:
                found[value.word] = value
    return found


def fault_of(word: str, target: str = "*", **settings: Any) -> Fault:
    """The Fault of that word, striking that target; its settings are those of its kind."""
    kinds = fault_kinds()
    if word not in kinds:
        raise UnknownName("fault", word, kinds, see="name one of these")
    kind = kinds[word]
    known = {field.name for field in attrs.fields(kind)} - {"target"}
    for name in settings:
        if name not in known:
            raise UnknownName(f"setting of the fault {word}", name, known)
    try:
        return kind(target, **settings)
    except (TypeError, ValueError) as error:
        raise ScenarioError(
            f"the fault {word} cannot be made with {settings}: {error}.\n"
            f"Next: give it what it needs of {', '.join(sorted(known))}."
        ) from error


def as_named(fault: Fault) -> Fault:
    """The Fault as its word names it: one of a scenario's own class, which strikes in fewer ways
    than its kind, is of its kind in a race file, which says whom or what it struck."""
    kind = fault_kinds().get(fault.word)
    if kind is None or not isinstance(fault, kind):
        return fault
    return kind(**{field.name: getattr(fault, field.name) for field in attrs.fields(kind)})


def parse_fault(text: str) -> Fault:
    """The Fault a text such as `crash`, `crash:alpha,restart=2s` or `2*lose_reply:beta` stands
    for."""
    match = TEXT.fullmatch(text)
    if match is None:
        raise ScenarioError(
            f"{text!r} is no fault: expected a word, and perhaps whom it strikes, how often, and "
            "its settings.\nNext: say crash, crash:alpha,restart=2s, or 2*lose_reply:beta."
        )
    said = [setting.strip() for setting in match["settings"].split(",")[1:]]
    settings = dict(parse_setting(match["word"], setting) for setting in said)
    times = int(match["times"] or 1)
    return fault_of(match["word"], match["target"] or "*", times_max=times, **settings)


def parse_setting(word: str, text: str) -> tuple[str, int]:
    """The setting of that kind of fault that `restart=2s` stands for, or `restart_after_ms=2000`:
    its name, and its value."""
    kinds = fault_kinds()
    if word not in kinds:
        raise UnknownName("fault", word, kinds, see="name one of these")
    fields = {field.name for field in attrs.fields(kinds[word])} - {"target", "times_max"}
    known = {said: field for said, field in SETTINGS.items() if field in fields}
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in {*known, *fields}:
        see = f"say one of these, and a value, such as until=20s, behind {word} and a comma"
        raise UnknownName(f"setting of the fault {word}", name, known, see=see)
    number = parse_duration(value) if name in DURATIONS else _whole(value)
    # Only a clock can be set back.
    if number is None or (number < 0 and word != "clock_step"):
        expected, say = ("a duration", "2s") if name in DURATIONS else ("a whole number", "500")
        raise ScenarioError(
            f"{text}: expected {expected}, found {value!r}, as a setting of {word}.\n"
            f"Next: say {name}={say}."
        )
    return known.get(name, name), number


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else None


def check_aim(fault: Fault, names: Iterable[str]) -> None:
    """UnknownName if it is aimed at nobody among these: a search in which it never strikes would
    say that it does no harm."""
    known = sorted(names)
    if not any(fault.hits(name) for name in known):
        see = "name an actor, or an endpoint, or use a glob"
        raise UnknownName(f"target of the fault {fault.word}", fault.target, known, see=see)
