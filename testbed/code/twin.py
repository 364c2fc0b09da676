"""Twin: an open twin of a frozen class, in which an object of it is made.

Nearly all that a World holds is frozen, and a Run makes thousands of such objects. To set a field
of a frozen object takes a call of `object.__setattr__`, past the class's own, which refuses; that
is most of what an object costs. So while it is made or copied, an object is of a twin of its class,
which differs in not being frozen: there Python stores a field without a call. Then it becomes what
it is.
"""

from __future__ import annotations

_twins: dict[type, type] = {}
_open_twins: set[type] = set()


def open_twin(frozen: type) -> type:
    """The twin of a class with slots; an object of one may become one of the other."""
    twin = _twins.get(frozen)
    if twin is None:
        names = {
            "__slots__": (),
            "__setattr__": object.__setattr__,
            "__module__": frozen.__module__,
        }
        twin = _twins[frozen] = type(frozen)(frozen.__name__, (frozen,), names)
        _open_twins.add(twin)
    return twin


def is_open_twin(kind: type) -> bool:
    """Whether a class is none of its own, but the twin of one."""
    return kind in _open_twins
