"""Renaming: the texts that only name something, wherever they stand in other texts.

Two moments are alike if a renaming makes them equal. So of a name it is written only where else the
same one stands. What is sorted by name is written in the order in which what bears the names was
made: the order of names that a server gives is chance, and another one in each lap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from testbed.code.quick import quick
from testbed.objects.meta import Object

WORDS = re.compile(r"([^0-9A-Za-z]+)")
"""What stands between the words of a text."""

Parts = tuple["str | Mark", ...]
"""A text, cut where it names something."""
Place = list[tuple[str, int]]
"""What a text is sorted by."""


@quick
@attrs.frozen
class Mark:
    """A number that means nothing but its order, or a name but its identity."""

    kind: str
    value: int | str


class Renaming:
    """The texts that name an object of a Run, learned from its changes: the uid of each, and the
    name of those that get another one in each lap.

    What a server has generated is found inside of other texts too, as in the path of a task
    (`kubelet-n1/pod-web-x7k2p`) or in a message. What a person has named may be a word like any
    other, so only the whole text is taken for the name.
    """

    def __init__(self, named_anew: Iterable[str] = ()) -> None:
        self._named_anew = frozenset(named_anew)
        """The kinds whose names mean nothing."""
        self._whole: dict[str, Parts] = {}
        """The texts that name something as a whole."""
        self._within: dict[str, Mark] = {}
        """Those of them that are found inside of others."""
        self._first_words: dict[str, int] = {}
        """By the first word of those, how many words they have at most, with what is between."""
        self._numbers: dict[str, int] = {}
        """By name, a number that grows: what was made later has a higher one."""
        self.learned: list[str] = []
        """All texts that were learned, oldest first."""
        self._cut: dict[str, Parts] = {}
        """The texts that were cut before. Those with a new name in them are cut again."""
        self._said: dict[str, Parts] = {}
        """What is written of texts; forgotten as soon as that."""

    def learn(self, item: Object, *, is_new: bool) -> None:
        """Learn what an object is called that was created or has changed, if that means nothing."""
        meta = item.meta
        if meta.uid and meta.uid not in self._whole:
            self._add(meta.uid, Mark("uid", meta.uid), is_generated="@" in meta.uid)
        if item.plural in self._named_anew and (is_new or meta.name not in self._whole):
            name = Mark(f"one of {item.plural}", meta.name)
            self._add(meta.name, name, is_generated=bool(meta.generate_name))
            self._whole[item.key] = (item.key.removesuffix(meta.name), name)

    def _add(self, text: str, name: Mark, *, is_generated: bool) -> None:
        self._whole[text] = (name,)
        self.learned.append(text)
        self._numbers[text] = len(self.learned)
        for known in [known for known in self._said if text in known]:
            del self._said[known]
        if is_generated:
            for known in [known for known in self._cut if text in known]:
                del self._cut[known]
            words = WORDS.split(text)
            self._within[text] = name
            self._first_words[words[0]] = max(len(words), self._first_words.get(words[0], 0))

    def parts(self, text: str) -> Parts:
        """The text, cut where it names something; the text alone if it names nothing."""
        found = self._whole.get(text) or self._cut.get(text)
        if found is None:
            found = self._cut[text] = self._cut_up(text) if self._within else (text,)
        return found

    def said(self, text: str) -> Parts:
        """What is written of a text: each of its parts, and how many they are if there are more."""
        found = self._said.get(text)
        if found is None:
            parts = self.parts(text)
            count = () if len(parts) == 1 else (f"str of {len(parts)}",)
            written = [part if isinstance(part, Mark) else f"str {part!r}" for part in parts]
            found = self._said[text] = (*count, *written)
        return found

    def _cut_up(self, text: str) -> Parts:
        words = WORDS.split(text)
        if self._first_words.keys().isdisjoint(words):
            return (text,)
        parts: list[str | Mark] = []
        at = since = 0
        while at < len(words):
            end = min(at + self._first_words.get(words[at], 0), len(words))
            while end > at and "".join(words[at:end]) not in self._within:
                end -= 1
            if end > at:
                if since < at:
                    parts.append("".join(words[since:at]))
                parts.append(self._within["".join(words[at:end])])
                since = end
            at = max(end, at + 1)
        return (*parts, "".join(words[since:])) if since < len(words) else tuple(parts)

    def place(self, text: str) -> Place:
        """What a text is sorted by: what it says, and what is named in it by its age."""
        return [
            ("", self._numbers[str(part.value)]) if isinstance(part, Mark) else (part, -1)
            for part in self.parts(text)
        ]

    def in_order(self, texts: Iterable[str]) -> list[str]:
        """The texts, sorted by their places."""
        texts = list(texts)
        for text in texts:
            if self.parts(text) != (text,):
                return sorted(texts, key=self.place)
        return sorted(texts)

    def number(self, name: str) -> int:
        """The number of a name; what was made later has a higher one."""
        return self._numbers[name]

    def unnamed(self, text: str) -> str:
        """The text, with the kind of what it names instead of each name."""
        return "".join(p.kind if isinstance(p, Mark) else p for p in self.parts(text))

    def unnamed_key(self, key: str) -> str:
        """The key of an object, or what kind of object it is if its name means nothing."""
        last = self.parts(key)[-1]
        return last.kind if isinstance(last, Mark) else key
