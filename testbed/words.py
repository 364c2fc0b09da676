"""Words for Operations, and `counted`, which writes a number with its noun.

People say *bind* for `create pods/default/web/binding`. A verb without a word of its own goes by
its name: `update/status`. Stories and race files use these words, so each stands for exactly one
verb and subresource.
"""

from __future__ import annotations

WORDS = {("create", "binding"): "bind", ("create", "eviction"): "evict"}
"""The one word for a verb with its subresource."""
MEANT = {word: asked for asked, word in WORDS.items()}
"""The same, the other way round."""
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
"""The past tense of each word."""
FAULTS = {
    "break_watch": "{whose} watch of {what} was broken",
    "clock_step": "the clock of {target} jumped",
    "compact": "the history of the {target} was compacted",
    "crash": "{target} crashed",
    "lag": "{whose} watch of {what} began to lag",
    "lose_reply": "the reply to {whose} {what} was lost",
    "lose_request": "{whose} {what} was lost on its way",
    "partition": "{target} was cut off from the network",
    "restart": "{target} was started again",
    "server_error": "the server failed {whose} {what}",
    "stale": "{whose} server was {what} from then on",
    "stall": "{target} stalled",
}
"""What a fault did, by its word."""
OVER = {
    "partition": "can be reached again",
    "stall": "goes on",
}
"""What its target does when it is over, if it lasts."""


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


def struck(word: str, target: str) -> str:
    """What a fault did to its target, in words; one without words of its own says its name."""
    whose, _, what = target.partition(" ")
    if " to " in target:
        what, _, whose = target.partition(" to ")
    else:
        verb, _, key = what.partition("#")[0].partition(" ")
        what = f"{spoken(*verb.partition('/')[::2])} of {key}"
    said = FAULTS.get(word, f"{word} struck {{target}}")
    return said.format(target=target, whose=f"{whose}'s", what=what)


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
