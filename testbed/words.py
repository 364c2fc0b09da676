"""Words for Operations; `counted`, a number with its noun; names in a sentence, or left out of it.

People say *bind* for `create pods/default/web/binding`. A verb without a word of its own goes by
its name: `update/status`. Stories and race files use these words, so each stands for exactly one
verb and subresource.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

WORDS = {("create", "binding"): "bind", ("create", "eviction"): "evict"}
"""The one word for a verb with its subresource."""
MEANT = {word: asked for asked, word in WORDS.items()}
"""The same, the other way round."""
PAST = {
    "bind": "bound",
    "compact": "compacted",
    "create": "created",
    "delete": "deleted",
    "deletecollection": "deleted each of",
    "evict": "evicted",
    "get": "read",
    "list": "listed",
    "patch": "patched",
    "txn": "wrote",
    "update": "updated",
    "watch": "opened a watch of",
}
"""The past tense of each word."""


def spoken(verb: str, subresource: str = "") -> str:
    """The word for an Operation: `bind`, `update`, `update/status`."""
    word = WORDS.get((verb, subresource))
    return word or (f"{verb}/{subresource}" if subresource else verb)


def meant(word: str) -> tuple[str, str]:
    """The verb and the subresource that such a word stands for."""
    if word in MEANT:
        return MEANT[word]
    verb, _, subresource = word.partition("/")
    return verb, subresource


def past(word: str) -> str:
    """The word in the past tense: `bound`, `updated the status of`."""
    if word in PAST:
        return PAST[word]
    verb, subresource = meant(word)
    if subresource:
        return f"{past(verb)} the {subresource} of"
    return f"asked {verb} of"


def withheld(kind: str, verb: str, key: str, whose: str = "its") -> str:
    """An Option that is held back, in words: `its bind of pods/default/web`."""
    word = spoken(*verb.partition(".")[0].partition("/")[::2])
    asked = f"request to watch {key}" if word == "watch" else f"{word} of {key}"
    return {
        "serve": f"{whose} {asked}",
        "answer": f"the answer to {whose} {asked}",
        "deliver": f"{whose} news of {key}",
        "feed": f"the watch cache of {key}",
        "wake": f"{whose} timer {verb}",
    }.get(kind, f"{whose} next move")


def counted(number: int, what: str, plural: str = "s") -> str:
    """A number with its noun: `1 run`, `2,000 runs`. `plural` is the ending for all but one."""
    return f"{number:,} {what}{'' if number == 1 else plural}"


def names_of(names: Sequence[str], most: int = 4) -> str:
    """These names in a sentence: `ann, ben and cid`; of many, the first, and how many more."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


_OBJECT = re.compile(r"\b([a-z]+)(/[\w.-]+)+")


def nameless(text: str, actors: Iterable[str]) -> str:
    """Return the text without the names of these actors, without names of objects, and numbers."""
    # Long names first: `beta` would leave a rest of `beta-1`.
    for actor in sorted(actors, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.-]){re.escape(actor)}(?![\w.-])", "ACTOR", text)
    return re.sub("[0-9]+", "N", _OBJECT.sub(r"\1", text))
