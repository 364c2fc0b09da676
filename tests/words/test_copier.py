"""The copier: what `evolved` makes is what `attrs.evolve` makes of values of the right types."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from testbed.code.copier import names_of
from testbed.objects import KINDS, Meta, Note, Object, Pod, PodSpec, Taint
from testbed.objects.kinds import kinds_below
from testbed.objects.meta import evolved
from tests.each_row import each_row


class Noted(Note):
    """A kind of the user's own, with no fields more, and room for whatever is set in it."""


@each_row("item", [Pod.of("p"), Meta("m"), PodSpec(), Taint("t"), Noted("n")])
def test_a_copy_is_as_attrs_makes_it(item: Any) -> None:
    """Of the same class, equal, apart, and as frozen as any; whatever the fields are called."""
    copy = evolved(item)
    assert type(copy) is type(item)
    assert copy == item
    assert copy is not item
    for name in names_of(type(item)):
        changed = evolved(item, **{name: getattr(item, name)})
        assert changed == attrs.evolve(item)
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(changed, name, 1)
    with pytest.raises(TypeError, match="has no colour; it has "):
        evolved(item, colour="red")


def test_copies_add_no_kinds() -> None:
    """What serves to copy is no kind of object."""
    copied = [evolved(kind("x") if kind is not Noted else Noted("x")) for kind in KINDS]
    assert all(isinstance(each, Object) for each in copied)
    found = [*kinds_below()]
    assert {*KINDS} <= {*found}
    assert len({kind.plural for kind in found if kind in KINDS}) == len(KINDS)
    assert [kind for kind in found if kind.__module__ == Pod.__module__] == [Pod]
