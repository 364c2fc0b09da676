"""What the Python client asks of a served cluster, as rows: an expression, and what it gives.

docs/attach.md shows them as a table, made by `.venv/bin/python -m tests.models.api_page`.
"""

from __future__ import annotations

from typing import Any

import attrs


@attrs.frozen
class Ask:
    """One expression over the names that `asking.py` has, and what comes of it."""

    code: str
    gives: Any = None
    """Its value; or of a refusal, the code."""
    is_refused: bool = False


def refused(code: str, status: int) -> Ask:
    """An expression that ends in an ApiException of that status."""
    return Ask(code, status, is_refused=True)


READ = (
    Ask("names(core.list_namespaced_pod('default'))", ["first"]),
    Ask("names(core.list_pod_for_all_namespaces(label_selector='app=first'))", ["first"]),
    Ask("names(core.list_node(field_selector='metadata.name=n1'))", ["n1"]),
    Ask("core.list_namespace(limit=1).metadata._continue is None", False),
    Ask("core.read_namespaced_pod('first', 'default').spec.containers[0].image", "nginx:1.25"),
    Ask("core.list_namespaced_service('default').items", []),
    Ask("apps.list_namespaced_deployment('default').items", []),
    Ask("version.get_code().git_version", "v1.26.15+testbed"),
    refused("core.read_namespaced_pod('none', 'default')", 404),
)
WATCH = (
    Ask("told(core.list_namespaced_pod, 'default', timeout_seconds=1)", ["ADDED first"]),
    Ask("names(core.list_namespaced_pod('default', label_selector='app=w'))", []),
    Ask("(since := core.list_namespaced_pod('default').metadata.resource_version) > '0'", True),
    Ask("core.create_namespaced_pod('default', pod('w')).metadata.name", "w"),
    Ask("patched(core.patch_namespaced_pod('w', 'default', labels(app='v')))", {"app": "v"}),
    Ask("core.delete_namespaced_pod('w', 'default').metadata.name", "w"),
    Ask("told(core.list_namespaced_pod, 'default', resource_version=since, timeout_seconds=1)",
        ["ADDED w", "MODIFIED w", "DELETED w"]),
    Ask("told(core.list_namespaced_pod, 'default', resource_version=since, timeout_seconds=1,"
        " label_selector='app=w')", ["ADDED w", "DELETED w"]),
    Ask("told(core.list_namespaced_service, 'default', timeout_seconds=1)", []),
)  # fmt: skip
LATER = (
    Ask("'BOOKMARK' in told(core.list_node, allow_watch_bookmarks=True, timeout_seconds=1)", True),
    Ask("(since := core.list_namespaced_pod('default').metadata.resource_version) > '0'", True),
    Ask("[core.create_namespaced_pod('default', pod(name)).metadata.name for name in 'kl']",
        ["k", "l"]),
    refused("until_expired(core.list_namespaced_pod, 'default', resource_version=since)", 410),
    Ask("told(core.list_namespaced_pod, 'default', timeout_seconds=1)",
        ["ADDED first", "ADDED k", "ADDED l"]),
)  # fmt: skip
WRITE = (
    Ask("core.create_namespaced_pod('default', pod('p')).status.phase", "Pending"),
    refused("core.create_namespaced_pod('default', pod('p'))", 409),
    refused("core.create_namespaced_pod('default', k8s.V1Pod(metadata=named('q')))", 422),
    Ask("core.create_namespaced_pod_binding('p', 'default', binding('p', 'n1'),"
        " _preload_content=False).status", 201),
    Ask("core.read_namespaced_pod('p', 'default').spec.node_name", "n1"),
    refused("core.create_namespaced_binding('default', binding('p', 'n1'),"
            " _preload_content=False)", 409),
    Ask("patched(core.patch_namespaced_pod('p', 'default', labels(a='1')))",
        {"app": "p", "a": "1"}),
    Ask("patched(core.patch_namespaced_pod('p', 'default', labels(a=None),"
        " _content_type='application/merge-patch+json'))", {"app": "p"}),
    Ask("patched(core.patch_namespaced_pod('p', 'default', [{'op': 'add', 'value': '2',"
        " 'path': '/metadata/labels/b'}]))", {"app": "p", "b": "2"}),
    Ask("patched(core.patch_namespaced_pod('p', 'default', applied('p', c='3'),"
        " _content_type='application/apply-patch+yaml', field_manager='me'))",
        {"app": "p", "b": "2", "c": "3"}),
    refused("core.patch_namespaced_pod('p', 'default', applied('p', c='4'),"
            " _content_type='application/apply-patch+yaml', field_manager='other')", 409),
    Ask("core.patch_namespaced_pod_status('p', 'default', {'status': {'phase': 'Running',"
        " 'conditions': [{'type': 'Ready', 'status': 'True'}]}}).status.phase", "Running"),
    Ask("(read := core.read_namespaced_pod('p', 'default')).metadata.labels.pop('b')", "2"),
    Ask("patched(core.replace_namespaced_pod('p', 'default', read))", {"app": "p", "c": "3"}),
    refused("core.replace_namespaced_pod('p', 'default', read)", 409),
    Ask("policy.create_namespaced_pod_disruption_budget('default', budget('p')).spec.min_available",
        1),
    Ask("policy.patch_namespaced_pod_disruption_budget_status('p', 'default', allowing(0))"
        ".status.disruptions_allowed", 0),
    refused("core.create_namespaced_pod_eviction('p', 'default', eviction('p'))", 429),
    Ask("policy.patch_namespaced_pod_disruption_budget_status('p', 'default', allowing(1))"
        ".status.disruptions_allowed", 1),
    Ask("core.create_namespaced_pod_eviction('p', 'default', eviction('p'),"
        " _preload_content=False).status", 201),
    Ask("core.read_namespaced_pod('p', 'default').metadata.deletion_grace_period_seconds", 30),
    Ask("core.delete_namespaced_pod('p', 'default', grace_period_seconds=0).metadata.name", "p"),
    refused("core.delete_namespaced_pod('p', 'default')", 404),
    Ask("[core.create_namespaced_pod('default', pod(name)).metadata.name for name in 'xyz']",
        ["x", "y", "z"]),
    Ask("core.delete_collection_namespaced_pod('default', label_selector='app in (x,y)').kind",
        "PodList"),
    Ask("names(core.list_namespaced_pod('default', field_selector='metadata.name!=first'))", ["z"]),
    Ask("apps.create_namespaced_deployment('default', deployment('d')).spec.replicas", 2),
    Ask("apps.patch_namespaced_deployment_scale('d', 'default', {'spec': {'replicas': 5}})"
        ".spec.replicas", 5),
    Ask("(scale := apps.read_namespaced_deployment_scale('d', 'default')).status.selector",
        "app=d"),
    Ask("apps.replace_namespaced_deployment_scale('d', 'default', scale).spec.replicas", 5),
    refused("apps.replace_namespaced_deployment_scale('d', 'default', old(scale))", 409),
)  # fmt: skip
ELECT = (
    Ask("lock('a').create('lead', 'default', record('a'))", True),
    Ask("lock('b').create('lead', 'default', record('b'))", False),
    Ask("lock('b').get('lead', 'default')[1].holder_identity", "a"),
    Ask("elected('solo')", ["began to lead", "ceased to lead"]),
    Ask("coordination.read_namespaced_lease('solo', 'default').spec.holder_identity", "thief"),
)
EVENTS = (
    Ask("core.create_namespaced_event('default', event('e')).count", 1),
    Ask("patched(core.patch_namespaced_event('e', 'default', {'count': 2}), 'count')", 2),
    Ask("names(core.list_namespaced_event('default', field_selector='involvedObject.name=first'))",
        ["e"]),
    Ask("events.create_namespaced_event('default', newer_event('f')).note", "hello"),
    Ask("core.read_namespaced_event('f', 'default').message", "hello"),
)  # fmt: skip
GROUPS = {"read": READ, "watch": WATCH, "write": WRITE, "elect": ELECT, "events": EVENTS}
"""Each is evaluated in order; none needs another."""
ALL = {**GROUPS, "later": LATER}
"""The same, and what takes minutes of the cluster's time: until bookmarks come, and history is
compacted."""
