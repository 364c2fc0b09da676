"""Bind: gives a pod its node, once. It looks at the pod only: not at the node, nor at its room,
unless the switch `bind_checks_room` says so."""

from __future__ import annotations

from typing import Any

from actors.apiserver import rules
from actors.apiserver.call import Call
from testbed.errors import BadRequest
from testbed.objects import Binding, Condition, Node, Pod, condition, requests_of, room_of
from testbed.objects.meta import Numbered, evolved, key_of, text_of
from testbed.store.endpoint import Handler
from testbed.store.store_endpoint import is_at

SCHEDULED = Condition("PodScheduled", "True")


def bind(call: Call) -> Handler:
    """Set the node of a pod that has none, is not being deleted and is not gated (API-19 to
    API-22)."""
    body: Any = call.operation.body
    if not isinstance(body, Binding) or not body.target.name:
        raise BadRequest(f"{call.operation}: expected a Binding with a target, found {body!r}")
    if body.meta.name != call.operation.name:
        raise BadRequest("name in URL does not match name in Binding object")
    pod = call.current()
    name, meta = pod.meta.name, body.meta
    if meta.uid and meta.uid != pod.meta.uid:
        raise call.conflict(
            f"Precondition failed: UID in precondition: {meta.uid}, UID in object meta: "
            f"{pod.meta.uid}"
        )
    if meta.revision and not is_at(call.server.store, meta.revision, pod.meta.revision):
        raise call.conflict(
            Numbered(
                f"Precondition failed: ResourceVersion in precondition: {text_of(meta.revision)}, "
                f"ResourceVersion in object meta: {text_of(pod.meta.revision)}"
            )
        )
    if pod.meta.is_terminating:
        raise call.conflict(f"pod {name} is being deleted, cannot be assigned to a host")
    if pod.spec.node_name:
        raise call.conflict(f'pod {name} is already assigned to node "{pod.spec.node_name}"')
    if pod.spec.scheduling_gates:
        raise call.conflict(f"pod {name} has non-empty .spec.schedulingGates")
    if call.server.switches.bind_checks_room:
        lack = _lack(call, pod, body.target.name)
        if lack:
            raise call.conflict(f'node "{body.target.name}" has not enough {lack} for pod {name}')
    conditions = condition.having(pod.status.conditions, SCHEDULED, call.now_ms)
    status = evolved(pod.status, conditions=conditions)
    if call.server.switches.clear_nnn_on_bind:
        status = evolved(status, nominated_node_name="")
    bound = pod.with_meta(annotations=pod.meta.annotations.having(**meta.annotations))
    spec = evolved(pod.spec, node_name=body.target.name)
    bound = evolved(bound, spec=spec, status=status)
    rules.check_names(bound, pod)
    return call.put(bound)
    yield


def _lack(call: Call, pod: Pod, name: str) -> str:
    """What the node has too little of for the pod, beside those that are bound to it and not over;
    empty if it has enough, or does not exist."""
    node = call.current_at(key_of(Node, name))
    if node is None:
        return ""
    bound = [each for each in call.server.all_stored(Pod) if each.spec.node_name == name]
    here = [requests_of(each) for each in bound if not each.is_over]
    room = room_of(node)
    for resource, asked in {"pods": 1, **requests_of(pod)}.items():
        taken = len(here) if resource == "pods" else sum(each.get(resource, 0) for each in here)
        if asked and taken + asked > room.get(resource, 0):
            return resource
    return ""
