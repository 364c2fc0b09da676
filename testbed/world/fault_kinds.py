"""Fault kinds: every kind of Fault by its word, as race files and command lines name it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import attrs

import testbed.faults
from testbed.errors import ScenarioError, UnknownName
from testbed.fault import Fault
from testbed.world.fault_settings import is_duration, parse_duration, setting_fields

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
    """The Fault of that word, aimed at that target; the settings are the fields of its kind."""
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
    """The Fault as a race file can name it. A scenario may derive a class that strikes in fewer
    ways than its kind. In a race file it is of its kind, since the file says what it struck."""
    kind = fault_kinds().get(fault.word)
    if kind is None or not isinstance(fault, kind):
        return fault
    return kind(**{field.name: getattr(fault, field.name) for field in attrs.fields(kind)})


def fault_as_dict(fault: Fault) -> dict[str, Any]:
    """The Fault as the header of a trace has it: its word, its target and what it sets."""
    fields = [field for field in attrs.fields(type(fault)) if field.name != "target"]
    settings = {field.name: getattr(fault, field.name) for field in fields}
    usual = {field.name: field.default for field in fields}
    given = {name: value for name, value in settings.items() if value != usual[name]}
    return {"word": fault.word, "target": fault.target, **given}


def faults_in(header: Mapping[str, Any]) -> tuple[Fault, ...]:
    """The Faults that were allowed beside the scenario's own in the Run of that header."""
    faults = []
    for told in header.get("faults", ()):
        settings = {name: value for name, value in told.items() if name not in ("word", "target")}
        faults.append(fault_of(told["word"], told["target"], **settings))
    return tuple(faults)


def parse_fault(text: str) -> Fault:
    """The Fault that a text means, such as `crash`, `crash:alpha,restart=2s`, `2*lag:beta`."""
    match = TEXT.fullmatch(text)
    if match is None:
        raise ScenarioError(
            f"{text!r} is no fault: expected a word, and perhaps what it strikes, how often, and "
            "its settings.\nNext: say crash, crash:alpha,restart=2s, or 2*lose_reply:beta."
        )
    texts = [text.strip() for text in match["settings"].split(",")[1:]]
    settings = dict(parse_setting(match["word"], text) for text in texts)
    times = int(match["times"] or 1)
    return fault_of(match["word"], match["target"] or "*", times_max=times, **settings)


def parse_setting(word: str, text: str) -> tuple[str, int]:
    """The field that a text sets for that kind of fault, and its value. `restart=2s` and
    `restart_after_ms=2000` mean the same."""
    kinds = fault_kinds()
    if word not in kinds:
        raise UnknownName("fault", word, kinds, see="name one of these")
    kind = kinds[word]
    # How often it strikes is written before the word: `2*crash`.
    known = {name: field for name, field in setting_fields(kind).items() if name != "times"}
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in {*known, *known.values()}:
        see = f"say one of these, and a value, such as until=20s, behind {word} and a comma"
        raise UnknownName(f"setting of the fault {word}", name, known, see=see)
    takes_duration = name in known and is_duration(known[name])
    number = parse_duration(value) if takes_duration else _whole(value)
    if number is None or (number < 0 and not kind.allows_negative):
        expected, say = ("a duration", "2s") if takes_duration else ("a whole number", "500")
        raise ScenarioError(
            f"{text}: expected {expected}, found {value!r}, as a setting of {word}.\n"
            f"Next: say {name}={say}."
        )
    return known.get(name, name), number


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else None


def check_aim(fault: Fault, names: Iterable[str]) -> None:
    """UnknownName if it is aimed at none of these names: it would never strike, and the search
    would say that it does no harm."""
    known = sorted(names)
    if not is_aimed(fault, known):
        see = "name an actor, or an endpoint, or use a glob"
        raise UnknownName(f"target of the fault {fault.word}", fault.target, known, see=see)


def is_aimed(fault: Fault, names: Iterable[str]) -> bool:
    """Whether it is aimed at one of these names."""
    return any(fault.hits(name) for name in names)
