"""Keeping: what a scenario says that a shrink must not leave out of its World."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TypeVar

from testbed.errors import ScenarioError, UnknownName

KEEP = "_testbed_keep"
"""The attribute of a function that has what its scenario keeps."""

Built = TypeVar("Built", bound=Callable[..., None])


def scenario(*, keep: str | Sequence[str]) -> Callable[[Built], Built]:
    """Say of a scenario what a shrink must not leave out of its World: names of actors, keys of
    objects, kinds, and globs of these, as in `@scenario(keep=("nodes", "kubelet-*"))`."""
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    if not all(kept) or not all(type(pattern) is str for pattern in kept):
        raise ScenarioError(
            f"@scenario(keep={keep!r}): expected names of actors, keys or kinds.\n"
            'Next: write it as `@scenario(keep=("nodes", "kubelet-*"))`.'
        )

    def decorated(build: Built) -> Built:
        setattr(build, KEEP, kept)
        return build

    return decorated


def kept_by(build: Callable[..., None]) -> tuple[str, ...]:
    """Return what the scenario of that function keeps."""
    kept: tuple[str, ...] = getattr(build, KEEP, ())
    return kept


def is_kept(name: str, keep: Iterable[str]) -> bool:
    """Whether that actor, or the object of that key, is one of these."""
    return any(fnmatchcase(name, each) or fnmatchcase(name, f"{each}/*") for each in keep)


def check_keep(keep: Iterable[str], names: Sequence[str], scenario: str) -> None:
    """Raise UnknownName if one of these is no actor and no object among the names."""
    kinds = [name.partition("/")[0] for name in names]
    for pattern in keep:
        if not any(is_kept(name, (pattern,)) for name in names):
            what = f"actor or object that {scenario} keeps:"
            see = "say an actor, a key, a kind, or a glob of these"
            raise UnknownName(what, pattern, {*names, *kinds}, see=see)
