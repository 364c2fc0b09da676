"""Manifest: a cluster from what kubectl writes, and back; every mistake is told with its place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import testbed
from testbed import World
from testbed.cli import main
from testbed.errors import ManifestRefused
from testbed.objects import Container, Map, Meta, Node, Pod, PodSpec, Revision
from testbed.objects.form import to_tree
from testbed.objects.manifests import manifest
from testbed.objects.manifests.yaml_stream import BYTES_MAX
from tests.each_row import each_row

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4}}\n"
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  uid: 1f
  resourceVersion: "812"
  creationTimestamp: "2025-01-01T00:00:10Z"
  managedFields: [{manager: kubectl}]
spec:
  nodeName: n1
  containers:
  - name: main
    resources: {requests: {cpu: 500m, memory: 1e9}}
    volumeMounts: [{name: a, mountPath: /a}]
  volumes: [{name: a}]
status:
  phase: Running
  startTime: "2025-01-01T00:00:12Z"
  conditions:
  - {type: Ready, status: "True", lastTransitionTime: "2025-01-01T00:00:15Z"}
  hostIP: 10.0.0.1
"""
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n"
GADGET = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n"


def refused(text: str) -> list[str]:
    """The lines of what is said of a text with mistakes."""
    with pytest.raises(ManifestRefused) as caught:
        manifest.parse(text, "a.yaml")
    return str(caught.value).splitlines()


def test_a_world_begins_with_it() -> None:
    """It keeps its identity and its age; what has none is given one, as ever."""
    world = World()
    world.add(*manifest.parse(f"{NODE}---\n{POD}"))
    node, pod = (entry.value for entry in world.store.snapshot(""))
    assert isinstance(node, Node)
    assert isinstance(pod, Pod)
    assert (node.meta.uid, node.meta.created_ms) == ("scenario-1", 0)
    assert (pod.meta.uid, pod.meta.created_ms) == ("1f", 10_000)
    assert pod.meta.revision == Revision(3)


def listed(kind: str, *items: dict[str, Any]) -> str:
    """Those items as a list of that kind, in JSON."""
    return json.dumps({"items": items, "kind": kind, "apiVersion": "v1", "metadata": {}}, indent=1)


def test_files_and_folders_are_read_in_order(tmp_path: Path) -> None:
    """Of a folder all that ends as a manifest does, by its path, and no race file."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more/n.yml").write_text(NODE)
    (tmp_path / "b.json").write_text(listed("PodList", {"metadata": {"name": "b"}}))
    (tmp_path / "a.yaml").write_text(POD)
    (tmp_path / "a.race.yaml").write_text("scenario: lost_update\n")
    (tmp_path / "notes.txt").write_text("no manifest\n")
    keys = [item.key for item in manifest.load(tmp_path)]
    assert keys == ["pods/default/web", "pods/default/b", "nodes/n1"]
    both = manifest.load(str(tmp_path / "b.json"), tmp_path / "more")
    assert [item.key for item in both] == ["pods/default/b", "nodes/n1"]


def test_what_is_not_modelled_is_kept_and_told_once() -> None:
    """By field and kind, however many objects have it, and however often."""
    pods = (POD.replace("name: web", f"name: web-{n}") for n in range(3))
    found = read("---\n".join(pods))
    assert [str(kept) for kept in found.kept] == [
        "spec.containers[].volumeMounts of Pod: kept, not modelled (3 objects)",
        "spec.volumes of Pod: kept, not modelled (3 objects)",
        "status.hostIP of Pod: kept, not modelled (3 objects)",
    ]
    assert to_tree(found.items[0])["spec"]["volumes"] == [{"name": "a"}]


def read(text: str) -> manifest.Manifest:
    """All that a text says, by way of a file."""
    Path("a.yaml").write_text(text)
    return manifest.read("a.yaml")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(own: Path) -> None:
    """Files are written beside each other, and forgotten."""


def test_a_kind_that_is_not_modelled_is_skipped_and_told_once() -> None:
    """With how many there are of it."""
    found = read(f"{GADGET}---\n{NODE}---\n{GADGET}---\napiVersion: v9\nkind: Node\n")
    assert [item.key for item in found.items] == ["nodes/n1"]
    assert [str(skipped) for skipped in found.skipped] == [
        "Gadget (example.com/v1): skipped, not modelled (2 objects)",
        "Node (v9): skipped, not modelled (1 object)",
    ]


def test_a_secret_is_never_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor said, whether it is well made or not; by itself, in a list, or in a list of its own."""
    bare = {"data": {"password": "aHVudGVyMg=="}, "metadata": 7}
    whole = {"apiVersion": "v1", "kind": "Secret", **bare}
    texts = [SECRET, listed("SecretList", bare), listed("List", whole)]
    for text in texts:
        (skipped,) = read(text).skipped
        assert str(skipped) == "Secret (v1): skipped, never read (1 object)"
        for options in ([], ["--json"]):
            assert main(["manifest", "a.yaml", *options]) == 0
            assert "aHVu" not in str(capsys.readouterr())


WRONG = {
    "metadata: {name: no}": (
        "metadata.name: expected a text, found false",
        "quote it; without quotes YAML takes no, n and off for false.",
    ),
    "metadata: {name: a, labels: {app: on}}": (
        "metadata.labels.app: expected a text, found true",
        "quote it; without quotes YAML takes yes, y and on for true.",
    ),
    "metadata: {name: a, annotations: {port: 8080}}": (
        "metadata.annotations.port: expected a text, found 8080",
        'quote it: "8080".',
    ),
    "metadata: {name: a, finalizers: x}": ("metadata.finalizers: expected a list, found 'x'", ""),
    "metadata: [a]": ("metadata: expected a mapping, found a list", ""),
    "metadata: {labels: {}}": ("metadata.name: expected a name, found nothing", "give a name."),
    "metadata: {name: a, creationTimestamp: yesterday}": (
        "metadata.creationTimestamp: expected a time such as 2025-01-01T00:00:30Z, found 'yeste",
        "give a time such as 2025-01-01T00:00:30Z.",
    ),
    "metadata: {name: a}\nspec: {priority: high}": (
        "spec.priority: expected a whole number, found 'high'",
        "give a whole number.",
    ),
    "metadata: {name: a}\nspec: {priority: 1.5}": (
        "spec.priority: expected a whole number, found 1.5",
        "",
    ),
    "metadata: {name: a}\nspec: {containers: [{resources: {limits: {cpu: much}}}]}": (
        "spec.containers[0].resources.limits.cpu: expected an amount such as 500m, 1Gi or 2, found",
        "",
    ),
    "metadata: {name: a}\nstatus: {containerStatuses: [{ready: 'yes'}]}": (
        "status.containerStatuses[0].ready: expected true or false, found 'yes'",
        "",
    ),
    "metadata: {name: a}\nspec:": None,
}


@each_row(("text", "told"), WRONG.items())
def test_a_value_of_the_wrong_kind_is_told_with_its_place(
    text: str, told: tuple[str, str] | None
) -> None:
    """File, line, document, object and field; what was expected, what was found, what to do. A
    field without a value is one that is not there."""
    whole = f"# a comment\n---\napiVersion: v1\nkind: Pod\n{text}\n"
    if told is None:
        assert len(manifest.parse(whole)) == 1
        return
    said, next_line = refused(whole)
    called = "Pod a: " if "name: a" in text else "Pod: "
    line = 5 + text.count("\n")
    assert said.startswith(f"a.yaml, line {line} (document 1): {called}{told[0]}"), said
    assert said.endswith(".")
    assert next_line.startswith("Next: " + (told[1] or "give "))


def test_every_kind_of_field_refuses_what_it_is_not() -> None:
    """Whatever a field of a Pod is, it is no list of lists; nor a mapping, unless it is one."""
    wrongs: tuple[Any, ...] = ([[]], {"x": [{}]})
    (pod,) = manifest.parse(POD)
    for path in list(paths(to_tree(pod))):
        for wrong in wrongs:
            tree = to_tree(pod)
            *around, last = path
            here = tree
            for name in around:
                here = here[name]
            if isinstance(here[last], dict) and isinstance(wrong, dict):
                continue
            here[last] = wrong
            with pytest.raises(ManifestRefused, match=r"line \d+ .*: expected .*, found "):
                manifest.parse(json.dumps(tree, indent=1))


def paths(tree: Any, path: tuple[Any, ...] = ()) -> Any:
    """The path to each value that is modelled, but for the whole."""
    for name, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if name not in ("volumes", "volumeMounts", "hostIP"):
            yield (*path, name)
            if isinstance(value, dict | list):
                yield from paths(value, (*path, name))


def test_all_mistakes_are_told_together() -> None:
    """The other documents are still read, also after one that is broken; and each object of a
    list by itself, at its own line."""
    pods = listed("PodList", {"metadata": {"name": 5}}, {"metadata": {"name": "b"}}, {"spec": 1})
    text = f"text\n---\n{POD}---\na: [\n---\nkind:  Pod\n---\n{POD}---\n{pods}\n"
    first, *told, next_line = refused(text)
    at = [n for n, line in enumerate(text.splitlines(), 1) if line.strip() in MARKED]
    assert first == "6 mistakes:"
    assert told == [
        "  a.yaml, line 1 (document 1): the object: expected a mapping, found 'text'",
        f"  a.yaml, line {at[1] + 1} (document 3): this is neither YAML nor JSON: "
        "did not find expected node content",
        f"  a.yaml, line {at[2]} (document 4): Pod: apiVersion: expected a text, found nothing",
        f"  a.yaml, line {at[3]} (document 5): Pod web: pods/default/web a second time "
        "(a.yaml, document 2 has it)",
        f"  a.yaml, line {at[4]} (document 6): Pod: items[0].metadata.name: "
        "expected a text, found 5",
        f"  a.yaml, line {at[5]} (document 6): Pod: items[2].spec: expected a mapping, found 1.",
    ]
    assert next_line == "Next: give a mapping."


MARKED = ("name: web", "a: [", "kind:  Pod", '"name": 5', '"spec": 1')


def test_many_mistakes_are_counted() -> None:
    """Twenty are told, and how many more there are."""
    _, *told, last, next_line = refused("---\n".join(["kind: 5\n"] * 1000))
    assert len(told) == 20
    assert (last, next_line) == ("  and 980 more.", 'Next: quote it: "5".')
    bare = listed("PodList", *[{}] * 30)
    assert refused(bare)[-2] == "  and 10 more."


def test_nothing_more_is_read_of_a_text_that_is_too_much() -> None:
    """One mistake, however much comes after it."""
    bomb = HOSTILE["an alias bomb"]
    assert isinstance(bomb, str)
    said, _ = refused(bomb + "---\na: 1\n" * 9)
    assert "more than 2,000,000 values" in said


def test_a_file_that_cannot_be_read_is_told() -> None:
    """With those that can be."""
    Path("empty").mkdir()
    Path("huge.yaml").touch()
    os.truncate("huge.yaml", 2**30)
    found = manifest.read("none.yaml", "empty", "huge.yaml")
    assert [str(mistake) for mistake in found.mistakes] == [
        "none.yaml: cannot be read: No such file or directory",
        "empty: no manifest is in it: expected a file that ends in .yaml, .yml, .json",
        f"huge.yaml: too large: a manifest may have {BYTES_MAX:,} bytes, this has {2**30:,}",
    ]


ITEMS = (
    Node.of("n1", cpu_m=1000, memory=2**30, labels={"b": "no", "a": "1", "c": "x.y"}),
    Pod.of("team/a", cpu_m=500, priority=7, node_name="n1"),
    Pod(
        Meta(
            "b",
            uid="u",
            created_ms=5000,
            annotations={"json": '{"a": "b"}\n', "c": "x: y", "d": "~"},
        ),
        spec=PodSpec(containers=(Container("main"), Container("off"))),
        extra=Map(spec=Map(volumes=(Map(name="1", emptyDir=Map()), Map(name="2", on=False)))),
    ),
)


def test_what_is_written_is_read_as_it_was() -> None:
    """But for the revision, which is the Store's; equal objects are equal bytes."""
    text = manifest.dump(ITEMS)
    assert tuple(manifest.parse(text)) == ITEMS
    assert manifest.dump(manifest.parse(text)) == text
    assert manifest.dump([item.with_meta(revision=Revision(9)) for item in ITEMS]) == text
    one, other = (Pod("p", spec=PodSpec(node_selector=Map(of))) for of in (
        {"a": "1", "b": "2"}, {"b": "2", "a": "1"},
    ))  # fmt: skip
    assert manifest.dump([one]) == manifest.dump([other])
    assert manifest.dump([]) == ""
    assert manifest.parse("") == []


def test_it_is_written_as_kubectl_writes_it() -> None:
    """Block by block, names sorted, and in quotes whatever may be taken for something else."""
    assert manifest.dump(ITEMS[1:2]) == (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: team\nspec:\n"
        "  containers:\n  - name: main\n    resources:\n      requests:\n"
        '        cpu: "500m"\n  nodeName: n1\n  priority: 7\n'
    )


HOSTILE = {
    "an alias bomb": "- &a0 [x, x]\n" + "".join(
        f"- &a{n} [{', '.join([f'*a{n - 1}'] * 99)}]\n" for n in range(1, 9)
    ),
    "deep YAML": "[" * 200_000,
    "deep JSON": '{"a":' * 200_000,
    "a huge scalar": None,
    "junk": bytes(range(256)) * 4096,
    "a name twice": "a: 1\n" * 1000,
    "a wrong type": POD.replace("n1", "[]"),
    "many documents": "---\na: [\n" * 50_000,
}  # fmt: skip
MEASURED = """\
import re, sys
from pathlib import Path
from testbed.objects.manifests import manifest
found = manifest.read(sys.argv[1])
# Not getrusage: that counts what the process was begun by, too.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(int(peak[1]) // 1024)
print(found.mistakes[0])
"""


@each_row("what", HOSTILE)
def test_what_is_hostile_costs_neither_memory_nor_the_process(what: str) -> None:
    """An error with its place, in a process that stays alive and below 200 MB."""
    text = HOSTILE[what]
    if text is None:
        Path("a.yaml").write_text("a: ")
        os.truncate("a.yaml", 2**30)
    else:
        Path("a.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
    root = Path(testbed.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "a.yaml"],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-500:]
    megabytes, said = done.stdout.splitlines()
    assert int(megabytes) < 200
    assert said.startswith("a.yaml: too large" if text is None else "a.yaml, line "), said


def test_the_command_says_what_was_understood(capsys: pytest.CaptureFixture[str]) -> None:
    """Kinds and names, what is kept, what is skipped; as text and as data."""
    pods = [{"metadata": {"name": f"p{n}"}} for n in range(7)]
    Path("a.yaml").write_text(f"{listed('PodList', *pods)}\n---\n{NODE}---\n{SECRET}")
    assert main(["manifest", "a.yaml"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Node      1  n1",
        "Pod       7  default/p0, default/p1, default/p2, default/p3, default/p4, and 2 more",
        "Secret (v1): skipped, never read (1 object)",
        "8 objects understood.",
        'Next: world.add(*manifest.load("a.yaml")) in a scenario; docs/manifests.md shows one.',
    ]
    assert main(["manifest", "a.yaml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["code"], told["objects"]["Node"], told["mistakes"]) == (0, ["n1"], [])
    assert told["skipped"] == [
        {"kind": "Secret", "api_version": "v1", "objects": 1, "why": "never read"}
    ]


def test_the_command_refuses_what_has_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    """With the code of a usage error, and a line that says what to do next."""
    Path("a.yaml").write_text(POD.replace("name: web", "name: no"))
    assert main(["manifest", "a.yaml"]) == 2
    assert capsys.readouterr().err == (
        "ManifestRefused: a.yaml, line 4 (document 1): Pod: metadata.name: expected a text, found "
        "false.\nNext: quote it; without quotes YAML takes no, n and off for false.\n"
    )
    assert main(["manifest", "a.yaml", "--json"]) == 2
    (mistake,) = json.loads(capsys.readouterr().out)["mistakes"]
    assert (mistake["file"], mistake["line"], mistake["document"]) == ("a.yaml", 4, 1)


def test_progress_is_told() -> None:
    """Of the lines that are read, and of the objects that come of them."""
    Path("a.json").write_text(
        listed("PodList", *[{"metadata": {"name": f"p{n}"}} for n in range(3000)])
    )
    told: dict[str, list[tuple[int, int]]] = {}
    manifest.read("a.json", on_progress=lambda what, *far: told.setdefault(what, []).append(far))
    assert sorted(told) == ["lines", "objects"]
    assert told["objects"][-1] == (3000, 3000)
    for far in told.values():
        assert far == sorted(far)
        assert all(done <= total + 1 for done, total in far)


def test_what_a_manifest_says_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is none is a mistake, with its line; a kind is shown on one line, as it is."""
    pod = {"apiVersion": "v1", "kind": "Pod"}
    names = ("\x1b[2J", "<script>", "../..")
    texts = [json.dumps({**pod, "metadata": {"name": name}}) for name in names]
    Path("a.yaml").write_text("\n---\n".join(texts))
    assert main(["manifest", "a.yaml"]) == 2
    told = capsys.readouterr().err
    assert told.count("a lowercase RFC 1123 subdomain must") == 3
    assert 'line 1 (document 1): Pod \\u001b[2J: metadata.name: Invalid value: "\\u001b[2J"' in told
    odd = {"kind": "A\x1b[2J\nB", "apiVersion": "v\x9b1", "metadata": {"name": "a"}}
    Path("a.yaml").write_text(json.dumps(odd))
    assert main(["manifest", "a.yaml"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("A\\u001b[2J\\u000aB (v\\u009b1): skipped, not modelled (1 object)\n")
    assert "\x1b" not in told + out
