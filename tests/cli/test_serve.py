"""testbed serve: the options, what it says, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import pytest

from testbed.attended.door import Door
from testbed.attended.http.limits import HttpLimits
from testbed.child import child_command, child_env
from testbed.cli import main
from testbed.cli.playing import sink

FUSE_S = 120
"""Nothing here takes nearly that long; what does, hangs."""
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: nginx}]}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    """A file with a node and a pod."""
    path = tmp_path / "cluster.yaml"
    path.write_text(NODE)
    return str(path)


def until(is_so: Callable[[], bool]) -> None:
    """Wait for that, however long it takes."""
    ends_at = monotonic() + FUSE_S
    while not is_so():
        assert monotonic() < ends_at, "it never came"
        sleep(0.01)


def asked(kubeconfig: str, path: str) -> Any:
    """What the server answers to a guest."""
    server = json.loads(Path(kubeconfig).read_text())["clusters"][0]["cluster"]["server"]
    with urllib.request.urlopen(server + path, timeout=FUSE_S) as answer:
        return json.load(answer)


def test_it_serves_until_ctrl_c_and_leaves_nothing(manifest: str, tmp_path: Path) -> None:
    """It says where; what asks is served and counted; a kind that is not modelled is told once.
    Then its folder and its children are gone, and the trace replays to the byte."""
    trace = str(tmp_path / "trace.jsonl")
    words = ["serve", manifest, "--guests", "ann,bob", "--trace", trace, "--epoch", "wall"]
    with subprocess.Popen(
        [*child_command("testbed"), *words, "--json"], env=child_env(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as serving:  # fmt: skip
        assert serving.stdout is not None
        opened = json.loads(serving.stdout.readline())
        ann = opened["kubeconfigs"]["ann"]
        assert asked(ann, "/api/v1/nodes")["items"][0]["metadata"]["name"] == "n1"
        for _ in range(2):
            assert asked(ann, "/api/v1/services")["items"] == []
        children = Path(f"/proc/{serving.pid}/task/{serving.pid}/children")
        assert not children.exists() or not children.read_text()
        serving.send_signal(signal.SIGINT)
        said, complained = serving.communicate(timeout=FUSE_S)
    assert serving.returncode == 130
    ended = json.loads(said)
    assert ended["served"] == {"ann": {"list": 3}}
    assert complained == "Service is not modelled: lists of it are empty, and watches silent.\n"
    assert not Path(ann).parent.exists()
    assert main(["replay", trace]) == 3


def test_a_scenario_is_served_with_its_actors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its short name; its kubeconfigs stay in the folder that was named."""
    out = tmp_path / "out"
    assert main(["serve", "double_bind", "--limit", "0.2", "--out", str(out)]) == 0
    first, export, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Serving double_bind: ")
    assert export == f"export KUBECONFIG={out}/guest.kubeconfig"
    assert last == "Served nothing."
    assert os.stat(out / "guest.kubeconfig").st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["double_bind", "c.yaml"], "expected one scenario, or manifests"),
        (["c.yaml", "--with", "kublets"], "there is no part of a cluster 'kublets'"),
        (["c.yaml", "--with", "none", "--guests", "../x"], "expected names of small letters"),
        (["double_bind", "--guests", "alpha"], "an actor of double_bind is called so"),
        (["double_bind", "--epoch", "soon"], "--epoch soon: expected a time such as"),
        (["double_bind", "--host", "203.0.113.1", "--limit", "1"], "no program can ask at"),
        (["double_bind", "--switch", "gard=on"], "there is no switch of double_bind 'gard'"),
    ],
)
def test_a_wrong_option_says_what_to_do(
    words: list[str], said: str, manifest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is a mistake of usage, told before anything is served."""
    words = [manifest if word == "c.yaml" else word for word in words]
    assert main(["serve", *words]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert "Next: " in told.err
    assert not told.out


def test_a_trace_that_grows_too_large_says_so_while_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and before the end: a World that is served has no limits, and what replays its trace
    has one."""
    monkeypatch.setattr("testbed.cli.playing.FILE_BYTES_MAX", 9_000)
    trace = str(tmp_path / "trace.jsonl")
    with sink(trace) as file:
        for number in range(30):
            file.write(b"x" * 1000)
            file.flush()
            told = capsys.readouterr().err
            assert bool(told) == (number == 9)
            if told:
                assert told.startswith(
                    f"--trace {trace}: larger than 9,000 bytes now, so `replay` "
                )
                assert "Next: end this" in told


def test_a_guest_that_does_not_read_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name, what it asked and how much it had not taken; and in the end how many were cut."""
    limits = HttpLimits(unsent_total_max=100_000)
    monkeypatch.setattr("testbed.attended.door.Door", partial(Door, limits=limits))
    large = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    file = tmp_path / "c.json"
    file.write_text(json.dumps({**large, "data": {"a": "x" * 12_000_000}}))

    def ask(kubeconfig: Path) -> None:
        """Ask, wait until the answer is cut, and end the command."""
        until(kubeconfig.exists)
        server = json.loads(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
        at = urlsplit(server)
        with socket.create_connection((at.hostname or "", at.port or 0), timeout=FUSE_S) as asking:
            line = f"GET {at.path}/api/v1/configmaps?watch=1 HTTP/1.1"
            asking.sendall(f"{line}\r\nHost: x\r\n\r\n".encode())
            until(lambda: "does not read" in "".join(told))
        os.kill(os.getpid(), signal.SIGINT)

    told: list[str] = []
    monkeypatch.setattr("testbed.cli.commands.serve.tell", told.append)
    asking = threading.Thread(target=ask, args=[tmp_path / "out" / "guest.kubeconfig"])
    asking.start()
    words = ["serve", str(file), "--with", "none", "--out", str(tmp_path / "out"), "--json"]
    assert main([*words, "--limit", str(FUSE_S)]) == 130
    asking.join()
    (cut,) = [line for line in told if "cut" in line]
    assert cut.startswith("guest does not read: its GET /api/v1/configmaps was cut, with ")
    ended = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert ended["unread"] == {"guest": 1}
