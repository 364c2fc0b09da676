"""Saying: moves and ends in words, the same on each way that leads to them."""

from __future__ import annotations

import re

import attrs

from testbed.errors import CONNECTION_LOST, Unavailable
from testbed.fault import Fault
from testbed.turns.option import (
    ANSWER,
    DELIVER,
    FAULT,
    FEED,
    PICK,
    RESUME,
    SERVE,
    START,
    WAKE,
    Option,
)  # fmt: skip
from testbed.words import spoken
from testbed.world.fault_kinds import fault_as_dict

KINDS = {
    SERVE: "effect", ANSWER: "answer", FEED: "news", DELIVER: "news", START: "own",
    RESUME: "own", WAKE: "time", FAULT: "fault", PICK: "pick",
}  # fmt: skip
"""How a page sorts the moves."""
NUMBERED = (
    re.compile(r"\brv \d[\d,]*"),
    re.compile(r"\b(?:step|turn)s? \d[\d,]*"),
    re.compile(r"\d[\d,]* (?:ms|turns|steps)\b"),
    re.compile(r"^\d[\d,]*(?= (?:ms|turns|steps)\b)"),
)
"""What counts on in a sentence, and is another on each way."""
REPLY, REPLY_SAID = "the reply to ", "the answer to "
"""What the fault is named after, and what the moves call it."""
DIGITS = re.compile(r"\d[\d,]*")


def kind_of(option: Option) -> str:
    """How a page sorts the move; that no answer comes is news, and no answer."""
    return "news" if option.kind == ANSWER and _is_lost(option) else KINDS[option.kind]


Same = tuple[str, str, str, str, str, str]


def same_of(option: Option) -> Same:
    """What an Option is found again by in a state that another way has led to: its sentence without
    the numbers of tasks and of repetitions."""
    path = uncounted(option.path)
    key = uncounted(option.key) if option.kind == FAULT else option.key
    return (option.kind, path, option.verb, key, option.change, option.label)


def uncounted(path: str) -> str:
    """A path, or what a fault strikes, without how many of that name there were."""
    name, counted, number = path.rpartition("#")
    return name if counted and number.isdecimal() else path


def said_of(option: Option) -> str:
    """A move in words: `alpha's update of notes/default/list takes effect`."""
    who, key = option.actor, option.key
    asked = f"{spoken(*option.verb.partition('.')[0].partition('/')[::2])} of {key}"
    part = option.verb.partition(".")[2]
    match option.kind:
        case "serve":
            more = f", part {part}" if part else ""
            return f"{who}'s {asked} takes effect{more}"
        case "answer":
            if _is_lost(option):
                return f"{who} learns that no answer comes to its {asked}"
            return f"the answer to its {asked} reaches {who}"
        case "feed":
            server = option.path.partition("/")[0]
            return f"the watch cache of {server} reads on in {key or option.path}"
        case "deliver":
            what = key or option.path.partition("/")[2]
            news = {"ADDED": "", "MODIFIED": "the change of ", "DELETED": "the end of "}
            if option.change in news:
                return f"{who} is told of {news[option.change]}{what}"
            return f"{who} is told: {option.change.lower() or 'news'} of {what}"
        case "start":
            return f"{_task(option)} starts"
        case "wake":
            return f"{who}'s timer {option.verb or option.label} is over"
        case "fault":
            return str(option.fault.describe(key)).replace(REPLY, REPLY_SAID)
        case "pick":
            return f"{who} picks {option.label} for {option.verb}"
    return f"{_task(option)} goes on" + (f": {option.verb}" if option.verb else "")


def _is_lost(option: Option) -> bool:
    """Whether a fault has lost the answer, or the request: its caller is told that alone."""
    error = getattr(option.source, "error", None)
    return isinstance(error, Unavailable) and CONNECTION_LOST in error.causes


def setting_of(fault: Fault) -> str:
    """How a fault is set, whatever it strikes and however often."""
    told = fault_as_dict(attrs.evolve(fault, times_max=1))
    given = [(name, value) for name, value in told.items() if name not in ("word", "target")]
    return ", ".join(_set_to(name, value) for name, value in given) or "as usual"


def _set_to(name: str, value: object) -> str:
    """A setting in words: `restart after 2,000 ms`."""
    words = name.removesuffix("_ms").replace("_", " ")
    return f"{words} {value:,} ms" if name.endswith("_ms") else f"{words} {value}"


def _task(option: Option) -> str:
    """The actor, or the task of it that moves."""
    name, _, task = uncounted(option.path).partition("/")
    return name if task in ("", "main") else f"{task} of {name}"


def without_numbers(said: str) -> str:
    """A sentence of an end without what counts on: revisions, Steps and times."""
    for pattern in NUMBERED:
        said = pattern.sub(lambda found: DIGITS.sub("…", found[0]), said)
    return said
