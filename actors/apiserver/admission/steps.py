"""Admission: what may be written, and what is written for it; the steps in Kubernetes' order.

A step that looks at other objects than the one that is written yields before that is committed:
what it has seen may be otherwise by then.
"""

from __future__ import annotations

from typing import Any

from actors.apiserver import rules
from actors.apiserver.admission import priority, quota
from actors.apiserver.call import Call
from testbed.objects import Pod, PriorityClass
from testbed.store.endpoint import BETWEEN, Handler


def admit(call: Call, item: Any) -> Handler:
    """The new object as it is to be committed. 1. A pod is given its priority. 2. What the server
    sets of every object is set, and what can be checked of it alone is. 3. No second class may be
    the default; a pod is charged to the quotas that count it."""
    if isinstance(item, Pod):
        item = priority.resolved(call, item)
        yield BETWEEN
    item = rules.created(item)
    rules.check(item)
    if isinstance(item, PriorityClass):
        priority.check_class(item)
        if item.global_default:
            priority.check_is_only_default(call, item, is_new=True)
            yield BETWEEN
    if isinstance(item, Pod):
        yield from quota.admit(call, item)
    return item


def admit_change(call: Call, new: Any, old: Any) -> Handler:
    """The changed object as it is to be committed, unless the old one changes meanwhile."""
    if isinstance(new, Pod):
        new = priority.kept(new, old)
    rules.check(new)
    rules.check_change(new, old)
    if isinstance(new, PriorityClass):
        priority.check_class_change(new, old)
        if new.global_default:
            priority.check_is_only_default(call, new, is_new=False)
            yield BETWEEN
    return new


def admit_deletion(call: Call) -> None:
    """Forbidden if it may not go, whatever it is like."""
    if call.kind is PriorityClass:
        priority.check_class_may_go(call)
