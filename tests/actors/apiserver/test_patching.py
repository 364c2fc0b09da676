"""JSON patches, and the directives of strategic ones, as kubectl and other programs send them."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver.verbs.patching import patched
from testbed.errors import BadRequest, Conflict, InternalError, Invalid, TooLarge
from testbed.objects import Deployment, DeploymentSpec, LabelSelector, Map, Meta, Pod, PodTemplate
from tests.each_row import each_row
from tests.models.counter import Counter, refusal

REFUSED = "the server rejected our request due to an error in our request"


def step(op: str, path: str, **said: Any) -> dict[str, Any]:
    """One step of a JSON patch."""
    return {"op": op, "path": path, **said}


def labelled(**labels: str) -> tuple[Counter, Pod]:
    """A pod with these labels, and where to patch it."""
    counter = Counter()
    return counter, counter.create(Pod.of("p", labels=labels))


@pytest.mark.spec("API-64")
@each_row(
    ("steps", "labels"),
    [
        ([step("add", "/metadata/labels/b", value="2")], {"a": "1", "b": "2"}),
        ([step("add", "/metadata/labels/x~1y", value="2")], {"a": "1", "x/y": "2"}),
        ([step("replace", "/metadata/labels", value={"c": "3"})], {"c": "3"}),
        ([step("remove", "/metadata/labels/a")], {}),
        ([step("move", "/metadata/labels/b", **{"from": "/metadata/labels/a"})], {"b": "1"}),
        ([step("copy", "/metadata/labels/b", **{"from": "/metadata/labels/a"})],
         {"a": "1", "b": "1"}),
        ([step("test", "/metadata/labels/a", value="1"),
          step("replace", "/metadata/labels/a", value="2")], {"a": "2"}),
    ],
)  # fmt: skip
def test_a_json_patch_does_its_steps(steps: list[Any], labels: dict[str, str]) -> None:
    """Each of the six, with a path that names what has a slash in its name."""
    counter, pod = labelled(a="1")
    assert counter.patch(pod, steps, "json").meta.labels == labels


@pytest.mark.spec("API-64")
def test_items_of_lists_have_places() -> None:
    """Before an item, at the end, or instead of one; `-` is no place to take from."""
    counter, pod = labelled()

    def finalizers(*steps: Any) -> tuple[str, ...]:
        return counter.patch(pod, list(steps), "json").meta.finalizers  # type: ignore[no-any-return]

    path = "/metadata/finalizers"
    assert finalizers(step("add", path, value=["b"])) == ("b",)
    assert finalizers(step("add", f"{path}/0", value="a")) == ("a", "b")
    assert finalizers(step("add", f"{path}/-", value="d")) == ("a", "b", "d")
    assert finalizers(step("replace", f"{path}/2", value="c")) == ("a", "b", "c")
    assert finalizers(step("remove", f"{path}/0")) == ("b", "c")
    for place in ("-", "2", "00", "-1", "x"):
        with pytest.raises(Invalid):
            finalizers(step("remove", f"{path}/{place}"))
    with pytest.raises(Invalid):
        finalizers(step("add", f"{path}/3", value="z"))


@pytest.mark.spec("API-64")
@each_row(
    "wrong",
    [
        step("test", "/metadata/labels/a", value="2"),
        step("test", "/metadata/labels/b", value="2"),
        step("remove", "/metadata/labels/b"),
        step("replace", "/metadata/labels/b", value="2"),
        step("add", "/metadata/nothing/b", value="2"),
        step("add", "/metadata/name/b", value="2"),
        step("copy", "/metadata/labels/b"),
        step("move", "/metadata/labels/b", **{"from": "/metadata/labels/d"}),
        step("add", "metadata/labels/b", value="2"),
        step("twist", "/metadata/labels/a"),
        {"op": "remove"},
    ],
)
def test_one_step_that_cannot_be_done_undoes_all(wrong: dict[str, Any]) -> None:
    """422, in the words of Kubernetes, and nothing is written."""
    counter, pod = labelled(a="1")
    with pytest.raises(Invalid) as error:
        counter.patch(pod, [step("add", "/metadata/labels/c", value="3"), wrong], "json")
    assert refusal(error.value) == (422, "Invalid", REFUSED)
    assert counter.get(Pod, "p") == pod


@pytest.mark.spec("API-64")
def test_one_and_true_are_not_the_same() -> None:
    """A test compares JSON values: a number is no truth."""
    counter, pod = labelled()
    pod = counter.patch(pod, {"spec": {"activeDeadlineSeconds": 1}})
    path = "/spec/activeDeadlineSeconds"
    counter.patch(pod, [step("test", path, value=1)], "json")
    with pytest.raises(Invalid):
        counter.patch(pod, [step("test", path, value=True)], "json")


def test_what_is_no_json_patch_cannot_be_read() -> None:
    """400 for a mapping, and for a list of other things."""
    counter, pod = labelled()
    bodies: tuple[Any, ...] = ({"metadata": {}}, [7], 7)
    for body in bodies:
        with pytest.raises(BadRequest, match="a JSON patch is a list of steps"):
            counter.patch(pod, body, "json")


@pytest.mark.spec("API-13", "API-64")
def test_a_json_patch_may_name_the_revision_it_was_made_from() -> None:
    """As kubectl does when it takes over the managed fields: with a test 422, with a replace 409 if
    the object has changed."""
    counter, pod = labelled(a="1")
    was = str(pod.meta.revision)
    path, label = "/metadata/resourceVersion", step("add", "/metadata/labels/b", value="2")
    counter.patch(pod, [step("test", path, value=was), label], "json")
    with pytest.raises(Invalid, match=REFUSED):
        counter.patch(pod, [step("test", path, value=was), label], "json")
    with pytest.raises(Conflict, match="the object has been modified"):
        counter.patch(pod, [step("replace", path, value=was), label], "json")


def test_a_json_patch_of_the_status_changes_nothing_else() -> None:
    """What it says of the spec is ignored, as in any write of the status."""
    counter, pod = labelled()
    steps = [
        step("add", "/status/phase", value="Running"),
        step("add", "/spec/activeDeadlineSeconds", value=1),
    ]
    pod = counter.patch(pod, steps, "json", "status")
    assert (pod.status.phase, pod.spec.active_deadline_s) == ("Running", None)


@pytest.mark.spec("API-13")
def test_retain_keys_leaves_only_what_it_names() -> None:
    """As kubectl apply changes the strategy of a Deployment: what belongs to the old one goes."""
    counter = Counter()
    template = PodTemplate(meta=Meta(labels=Map(a="b")), spec=Pod.of("p", cpu_m=100).spec)
    spec = DeploymentSpec(selector=LabelSelector(Map(a="b")), template=template)
    web = counter.create(Deployment("web", spec=spec))
    assert web.spec.strategy.rolling_update is not None
    strategy: dict[str, Any] = {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}
    web = counter.patch(web, {"spec": {"strategy": strategy}}, "strategic")
    assert (web.spec.strategy.type, web.spec.strategy.rolling_update) == ("Recreate", None)
    strategy = {"$retainKeys": ["type"], "type": "RollingUpdate"}
    web = counter.patch(web, {"spec": {"strategy": strategy}}, "strategic")
    assert web.spec.strategy.rolling_update.max_surge == "25%"
    strategy = {"$retainKeys": ["type"], "rollingUpdate": {"maxSurge": 1}}
    with pytest.raises(BadRequest, match="retainKeys"):
        counter.patch(web, {"spec": {"strategy": strategy}}, "strategic")


@pytest.mark.spec("API-64")
@each_row(
    ("steps", "error", "said"),
    [
        ([step("test", "/metadata/name", value="p")] * 10_001, TooLarge,
         "Request entity is too large: The allowed maximum operations in a JSON patch is 10000, "
         "got 10001"),
        ([step("copy", f"/spec/x{n}", **{"from": "/spec"}) for n in range(25)], Invalid, REFUSED),
        ([step("add", "/spec/x", value="x" * 2**20),
          step("copy", "/spec/y", **{"from": "/spec/x"})],
         InternalError, "etcdserver: request is too large"),
        ([step("add", "/spec" + "/x" * n, value={}) for n in range(1, 1500)]
         + [step("copy", "/spec/y", **{"from": "/spec/x"})], Invalid, REFUSED),
    ],
    ids=["steps", "doubling", "object", "depth"],
)  # fmt: skip
def test_a_short_patch_makes_no_large_object(
    steps: list[Any], error: type[Exception], said: str
) -> None:
    """What it may make is bounded as in Kubernetes, and the object stays as it was."""
    counter, pod = labelled(a="1")
    with pytest.raises(error) as refused:
        counter.patch(pod, steps, "json")
    assert str(refused.value) == said
    assert counter.get(Pod, "p").is_as(pod)


@pytest.mark.spec("API-64")
def test_a_patch_may_do_as_much_as_kubernetes_lets_it() -> None:
    """To the last step; and a step that tests looks at no more of the object than it names."""
    counter, pod = labelled(a="1")
    notes = step("add", "/metadata/annotations", value={"a": "x" * 200_000})
    big = counter.patch(pod, [notes], "json")
    same = [step("test", "/metadata/labels", value={"a": "1"}) for _ in range(9_999)]
    with pytest.raises(Invalid):
        counter.patch(big, [*same, step("test", "/metadata", value={"a": "1"})], "json")
    copies = [step("copy", "/metadata/labels/b", **{"from": "/metadata/labels/a"})] * 10_000
    assert counter.patch(big, copies, "json").meta.labels == {"a": "1", "b": "1"}


def test_a_long_list_is_merged_item_by_item() -> None:
    """As many items as a body can hold: if each were looked for among all, this would not end."""
    names = [f"c{number}" for number in range(60_000)]
    tree = {"containers": [{"name": name} for name in names], "finalizers": names}
    changes = [{"name": name, "image": "b"} for name in reversed(names)]
    merged = patched(tree, {"containers": changes, "finalizers": [*names, "d"]}, "strategic")
    assert merged["containers"] == [{"name": name, "image": "b"} for name in names]
    assert merged["finalizers"] == [*names, "d"]
    deleted = [{"name": name, "$patch": "delete"} for name in names[1:]]
    told = {
        "containers": deleted,
        "$setElementOrder/finalizers": names[::-1],
        "$deleteFromPrimitiveList/finalizers": ["d"],
    }
    left = patched(merged, told, "strategic")
    assert left == {"containers": [{"name": "c0", "image": "b"}], "finalizers": names[::-1]}
