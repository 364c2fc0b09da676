"""Spoken: what people call an Operation. `create pods/default/c/binding` is to bind that pod.

A verb without a word of its own is called what it is: `update/status`. Stories and race files
speak these words, so each has one meaning, and back.
"""

from __future__ import annotations

WORDS = {("create", "binding"): "bind", ("create", "eviction"): "evict"}
"""Verb and subresource, and the one word that people say for them."""
MEANT = {word: asked for asked, word in WORDS.items()}
PAST = {
    "bind": "bound",
    "compact": "compacted",
    "create": "created",
    "delete": "deleted",
    "evict": "evicted",
    "get": "read",
    "list": "listed",
    "patch": "patched",
    "txn": "wrote",
    "update": "updated",
    "watch": "opened a watch of",
}


def spoken(verb: str, subresource: str = "") -> str:
    """What people call it: `bind`, `update`, `update/status`."""
    word = WORDS.get((verb, subresource))
    return word or (f"{verb}/{subresource}" if subresource else verb)


def meant(word: str) -> tuple[str, str]:
    """The verb and the subresource that a spoken word stands for."""
    if word in MEANT:
        return MEANT[word]
    verb, _, subresource = word.partition("/")
    return verb, subresource


def past(word: str) -> str:
    """What somebody did, of an Operation that is over: `bound`, `updated the status of`."""
    if word in PAST:
        return PAST[word]
    verb, subresource = meant(word)
    if subresource:
        return f"{past(verb)} the {subresource} of"
    return f"asked {verb} of"


def withheld(kind: str, verb: str, key: str, whose: str = "its") -> str:
    """What of somebody's was held back: the Option of that kind, verb and key, in words."""
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
    """So many of them; unless it is said, an `s` makes more than one of it, or none."""
    return f"{number:,} {what}{'' if number == 1 else plural}"
