"""Server-side apply: who owns a field, who may change it, and what goes when it is said no more."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.errors import ApiError, BadRequest, Conflict, Invalid, NotFound
from testbed.objects import Deployment, Map, Node, Pod
from testbed.objects.codec import encode
from testbed.objects.form import to_tree
from testbed.objects.kinds import kind_by_plural
from testbed.objects.plain import frozen
from testbed.store.endpoint import Operation
from tests.each_row import each_row
from tests.models.counter import Counter, finish, step

Tree = dict[str, Any]
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LABELS: Tree = {"app": "web"}


def web(**spec: Any) -> Tree:
    """A Deployment as a manifest says it."""
    containers = spec.pop("containers", [{"name": "c", "image": "v1"}])
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": containers}}
    return {"spec": {"selector": {"matchLabels": LABELS}, "template": template, **spec}}


def labelled(**labels: str) -> Tree:
    """What a caller that cares for labels alone applies."""
    return {"metadata": {"labels": labels}}


class Applying(Counter):
    """A counter where objects named `web` are applied."""

    def operation(self, tree: Tree, by: str = "ann", plural: str = "deployments",
                  part: str = "", *, force: bool = False) -> Operation:  # fmt: skip
        """The request to apply that."""
        kind = kind_by_plural(plural)
        said = frozen({"apiVersion": kind.api_version, "kind": kind.kind, **tree}, nulls=True)
        options = Map(field_manager=by, force=force, how="apply")
        within = "default" if kind.is_namespaced else ""
        return Operation("patch", plural, "web", within, said, subresource=part, options=options)

    def apply(self, *said: Any, **more: Any) -> Any:
        """The object as it became."""
        return self.ask(self.operation(*said, **more))

    def write(self, tree: Tree, by: str, part: str = "") -> Any:
        """The Deployment after a merge patch by that manager."""
        return self.ask(
            Operation("patch", "deployments", "web", "default", frozen(tree, nulls=True),
                      subresource=part, options=Map(field_manager=by, how="merge"))
        )  # fmt: skip


def owners(item: Any) -> dict[str, Any]:
    """What each manager owns, by `name/operation`."""
    entries = to_tree(item)["metadata"].get("managedFields", [])
    return {f"{each['manager']}/{each['operation']}": each["fieldsV1"] for each in entries}


@pytest.mark.spec("API-65", "API-66")
def test_an_apply_makes_what_is_not_there() -> None:
    """With the server's defaults, which nobody owns; to say the same again is no write."""
    counter = Applying()
    counter.now_s = 7
    made = counter.apply(web(replicas=2))
    assert (made.spec.replicas, made.meta.generation, made.meta.created_ms) == (2, 1, 7000)
    assert made.spec.progress_deadline_s == 600
    entry = to_tree(made)["metadata"]["managedFields"][0]
    container: Tree = {".": {}, "f:image": {}, "f:name": {}}
    assert entry == {
        "manager": "ann", "operation": "Apply", "apiVersion": "apps/v1",
        "time": "2025-01-01T00:00:07Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {
            "f:replicas": {}, "f:selector": {},
            "f:template": {
                "f:metadata": {"f:labels": {"f:app": {}}},
                "f:spec": {"f:containers": {'k:{"name":"c"}': container}},
            },
        }},
    }  # fmt: skip
    before, counter.now_s = counter.store.revision, 9
    assert counter.apply(web(replicas=2)) == made
    assert counter.apply(web(replicas=2), force=True) == made
    assert counter.store.revision == before


@pytest.mark.spec("API-65")
def test_what_is_said_no_more_goes() -> None:
    """A field with a default gets that, an item of a list goes whole, a mapping without anything
    left goes, too. What another manager owns as well, or alone, stays."""
    counter = Applying()
    two = [{"name": "c", "image": "v1"}, {"name": "log", "image": "v1"}]
    counter.apply({**web(replicas=3, containers=two), **labelled(a="1", b="2")})
    counter.apply(labelled(b="2"), "bob")
    counter.write(labelled(c="3"), "carl")
    now = counter.apply(web())
    assert now.spec.replicas == 1
    assert [each.name for each in now.spec.template.spec.containers] == ["c"]
    assert now.meta.labels == {"b": "2", "c": "3"}
    assert set(owners(now)) == {"ann/Apply", "bob/Apply", "carl/Update"}
    bare = counter.apply(web(containers=[{"name": "c"}])).spec.template.spec.containers
    assert [(each.name, each.image) for each in bare] == [("c", "")]
    assert not counter.apply({}, "bob").meta.labels.get("b")
    assert (
        to_tree(counter.write({"metadata": {"labels": {"c": None}}}, "x"))["metadata"].get(
            "labels", {}
        )
        == {}
    )


@pytest.mark.spec("API-65")
def test_a_conflict_names_who_owns_the_field() -> None:
    """An update of another manager, or what another has applied; the same value is none."""
    counter = Applying()
    counter.apply(web(replicas=3))
    counter.write({"spec": {"replicas": 5}}, "kubectl-client-side-apply")
    before = counter.store.revision
    with pytest.raises(Conflict) as refused:
        counter.apply(web(replicas=3))
    assert str(refused.value) == (
        'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: '
        ".spec.replicas"
    )
    assert refused.value.causes == (
        '.spec.replicas: conflict with "kubectl-client-side-apply" using apps/v1',
    )
    counter.apply(web(replicas=5))
    with pytest.raises(Conflict) as refused:
        counter.apply(web(replicas=4, containers=[{"name": "c", "image": "v2"}]), "bob")
    image = '.spec.template.spec.containers[name="c"].image'
    assert str(refused.value) == (
        'Apply failed with 3 conflicts: conflicts with "ann":\n'
        f"- .spec.replicas\n- {image}\n"
        'conflicts with "kubectl-client-side-apply" using apps/v1:\n- .spec.replicas'
    )
    assert counter.store.revision == before + 1
    assert "f:replicas" in owners(counter.get(Deployment, "web"))["ann/Apply"]["f:spec"]


@pytest.mark.spec("API-66")
def test_a_record_is_kept_from_a_named_create_or_the_first_apply() -> None:
    """Without either a write keeps none. What was there before that has an owner, too."""
    counter = Applying()
    pod = counter.create(Pod.of("p"))
    assert "managedFields" not in to_tree(counter.patch(pod, labelled(a="1")))["metadata"]
    item = Pod.of("q", labels=LABELS)
    made = counter.ask(Operation("create", "pods", "q", "default", item,
                                 options=Map(field_manager="kubectl-run")))  # fmt: skip
    assert owners(made)["kubectl-run/Update"]["f:metadata"] == {"f:labels": {"f:app": {}}}
    counter.create(Node.of("web", labels=LABELS))
    with pytest.raises(Conflict, match='conflict with "before-first-apply" using v1'):
        counter.apply(labelled(app="x"), plural="nodes")
    now = counter.apply({"metadata": {"labels": {"app": "web", "n": "1"}}}, plural="nodes")
    assert owners(now)["before-first-apply/Update"] == {"f:metadata": {"f:labels": {"f:app": {}}}}
    assert owners(now)["ann/Apply"] == {"f:metadata": {"f:labels": {"f:app": {}, "f:n": {}}}}


@pytest.mark.spec("API-66")
def test_an_actor_that_names_no_manager_has_its_own_name() -> None:
    """Where a record is kept, each write is noted; one that changes nothing is still no write."""
    counter = Applying()
    made = counter.apply(web(replicas=3))
    scaled = counter.patch(made, {"spec": {"replicas": 4}})
    assert owners(scaled)["kubectl/Update"] == {"f:spec": {"f:replicas": {}}}
    assert counter.patch(made, {"spec": {"replicas": 4}}) == scaled
    status = counter.patch(made, {"status": {"replicas": 4}}, subresource="status")
    entries = to_tree(status)["metadata"]["managedFields"]
    assert [each.get("subresource", "") for each in entries] == ["", "", "status"]
    assert entries[2]["fieldsV1"] == {"f:status": {"f:replicas": {}}}


@pytest.mark.spec("API-66")
def test_the_record_can_be_written_and_reset() -> None:
    """As kubectl does when it changes over; one that cannot be read, or none, changes nothing."""
    counter = Applying()
    made = counter.apply(web(replicas=3))
    kept = counter.update(made.with_meta(labels={"a": "b"}))
    assert set(owners(kept)) == {"ann/Apply", "kubectl/Update"}
    path = "/metadata/managedFields"
    renamed = [{"op": "replace", "path": f"{path}/0/manager", "value": "bob"}]
    assert set(owners(counter.patch(made, renamed, "json"))) == {"bob/Apply", "kubectl/Update"}
    for value in ([{"manager": 7}], None):
        counter.patch(made, {"metadata": {"managedFields": value}})
        assert set(owners(counter.get(Deployment, "web"))) == {"bob/Apply", "kubectl/Update"}
    counter.patch(made, {"metadata": {"managedFields": [{}]}})
    assert owners(counter.get(Deployment, "web")) == {}


@pytest.mark.spec("API-65")
def test_a_status_is_applied_by_itself() -> None:
    """It changes no spec and owns none; and a status is no part of what is applied to the whole."""
    counter = Applying()
    with pytest.raises(NotFound):
        counter.apply({"status": {"replicas": 1}}, part="status")
    counter.apply({**web(replicas=3), "status": {"replicas": 9}})
    now = counter.apply({"spec": {"replicas": 7}, "status": {"replicas": 2}}, "bob",
                        part="status")  # fmt: skip
    assert (now.spec.replicas, now.status.replicas) == (3, 2)
    assert owners(now)["bob/Apply"] == {"f:status": {"f:replicas": {}}}
    with pytest.raises(Conflict, match=r'conflict with "bob" with subresource "status": \.status'):
        counter.apply({"status": {"replicas": 3}}, "eve", part="status")


@pytest.mark.spec("API-65")
def test_lists_and_mappings_merge_by_what_they_are() -> None:
    """Items by their keys, sets by their values, a selector as a whole."""
    counter = Applying()
    ports = [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]
    pod: Tree = {"spec": {"containers": [{"name": "c", "image": "i", "ports": ports}],
                          "nodeSelector": {"a": "1"}}}  # fmt: skip
    made = counter.apply({**pod, "metadata": {"finalizers": ["x/a"]}}, plural="pods")
    fields = owners(made)["ann/Apply"]
    said = fields["f:spec"]["f:containers"]['k:{"name":"c"}']["f:ports"]
    assert list(said) == [
        'k:{"containerPort":53,"protocol":"TCP"}', 'k:{"containerPort":53,"protocol":"UDP"}',
    ]  # fmt: skip
    assert fields["f:spec"]["f:nodeSelector"] == {}
    assert fields["f:metadata"] == {"f:finalizers": {'v:"x/a"': {}}}
    now = counter.apply({"metadata": {"finalizers": ["x/b"]}}, "bob", "pods")
    assert now.meta.finalizers == ("x/a", "x/b")
    assert counter.apply({"metadata": {}}, "bob", "pods").meta.finalizers == ("x/a",)
    assert to_tree(now)["spec"]["containers"][0]["ports"] == ports


@pytest.mark.spec("API-65")
def test_kubectl_has_no_conflict_with_itself() -> None:
    """What `kubectl apply` noted as its own, and nobody has changed, `--server-side` may change;
    and it keeps the note true."""
    counter = Applying()
    said = {"apiVersion": "apps/v1", "kind": "Deployment", **web(replicas=3)}
    noted = {"metadata": {"annotations": {LAST_APPLIED: encode(said).decode()}}}
    counter.apply(web(replicas=3), "old")
    counter.write(noted, "old")
    with pytest.raises(Conflict):
        counter.apply(web(replicas=4), "bob")
    now = counter.apply(web(replicas=4), "kubectl")
    assert now.spec.replicas == 4
    assert '"replicas":4' in now.meta.annotations[LAST_APPLIED]
    counter.write({"spec": {"replicas": 6}}, "hpa")
    with pytest.raises(Conflict, match='1 conflict: conflict with "hpa"'):
        counter.apply(web(replicas=5), "kubectl")


@pytest.mark.spec("API-65", "API-66")
@each_row("fields", [{".": {}}, {"f:metadata": {}}, {"k:x": {"v:[": {}}}, 7, None])
@each_row("note", ["[", "[" * 9999, "7", '{"spec":{"replicas":3}}'])
def test_a_record_and_a_note_may_be_nonsense(fields: Any, note: str) -> None:
    """They are written by programs. What makes no sense is of no effect."""
    counter = Applying()
    counter.apply(web(replicas=3), "kubectl")
    entry = {"manager": "kubectl", "operation": "Apply", "apiVersion": "apps/v1",
             "fieldsV1": fields}  # fmt: skip
    said = {"managedFields": [entry], "annotations": {LAST_APPLIED: note}}
    counter.write({"metadata": said}, "bob")
    counter.write({"spec": {"replicas": 4}}, "bob")
    with pytest.raises(Conflict, match=r"1 conflict: conflict with \"bob\".*: \.spec\.replicas"):
        counter.apply(web(replicas=5), "kubectl")
    assert counter.apply(web(replicas=5), "kubectl", force=True).spec.replicas == 5


@pytest.mark.spec("API-65")
@each_row(
    ("wrong", "error", "why"),
    [
        ({"kind": ""}, BadRequest, "Object 'Kind' is missing"),
        ({"kind": "Pod"}, BadRequest, "expected a Deployment, found Pod"),
        ({"apiVersion": "apps/v2"}, BadRequest, "Incorrect version specified in apply patch"),
        ({"metadata": {"managedFields": []}}, BadRequest, "must be nil"),
        ({"metadata": {"name": "x"}}, BadRequest, r"name of the object \(x\) does not match"),
        ({"metadata": {"namespace": "x"}}, BadRequest, "namespace of the object"),
        ({"metadata": 7}, BadRequest, "a mapping as metadata"),
        ({"spec": {"replicas": "x"}}, Invalid, "spec.replicas"),
        ({"metadata": {"uid": "u"}}, Conflict, "UID in precondition"),
        ({"metadata": {"resourceVersion": "1"}}, Conflict, "object has been modified"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: Tree, error: type[ApiError], why: str) -> None:
    """And nothing is written."""
    counter = Applying()
    counter.apply(web(replicas=3))
    before = counter.store.revision
    with pytest.raises(error, match=why):
        counter.apply({**web(replicas=4), **wrong})
    assert counter.store.revision == before


@pytest.mark.spec("API-65")
def test_somebody_else_may_make_it_meanwhile() -> None:
    """Then what was to be made is applied to what is there by now."""
    counter = Applying()
    handler = counter.begin(
        counter.operation({"spec": {"containers": [{"name": "main"}]}, **labelled(a="1")},
                          plural="pods")
    )  # fmt: skip
    step(handler)
    counter.create(Pod.of("web", labels={"b": "2"}))
    assert finish(handler).meta.labels == {"a": "1", "b": "2"}
