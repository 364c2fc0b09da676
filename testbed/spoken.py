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
