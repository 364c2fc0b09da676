"""Admission: the steps of admission, in the order in which Kubernetes runs its plugins.

A step that looks at another object than the one that is written yields before the commit: what it
has seen may have changed by then, and nothing checks it again.
"""

from __future__ import annotations

from typing import Any

from actors.apiserver import rules
from actors.apiserver.admission import priority, quota, tolerations
from actors.apiserver.call import Call
from testbed.objects import Pod, PriorityClass
from testbed.store.endpoint import BETWEEN, Handler


def admit(call: Call, item: Any) -> Handler:
    """The new object as it will be committed, or a refusal. 1. A pod gets its priority, and the
    tolerations of every pod. 2. The object gets what the server sets on creation, and is validated
    by itself. 3. A class may not be a second default; a pod is charged to its quotas."""
    # The order decides which of two refusals a client sees, and what is left behind: the priority
    # comes first since quotas may count by it, and quota comes last so that a pod which anything
    # else refuses is never charged.
    if isinstance(item, Pod):
        item = priority.resolved(call, item)
        yield BETWEEN
        if call.server.switches.default_tolerations:
            item = tolerations.tolerating(item)
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
    """The changed object as it will be committed, if the old one does not change meanwhile."""
    if isinstance(new, Pod):
        new = priority.kept(new, old)
        # An update that leaves them out, as that of an old manifest does, would take them away.
        if call.server.switches.default_tolerations:
            new = tolerations.tolerating(new)
    rules.check(new, old)
    rules.check_change(new, old)
    if isinstance(new, PriorityClass):
        priority.check_class_change(new, old)
        if new.global_default:
            priority.check_is_only_default(call, new, is_new=False)
            yield BETWEEN
    return new


def admit_deletion(call: Call) -> None:
    """Raise Forbidden if an object of that name may not be deleted."""
    if call.kind is PriorityClass:
        priority.check_class_may_go(call)
