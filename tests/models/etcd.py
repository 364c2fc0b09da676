"""A real etcd on free ports of this machine, spoken to over its v3 JSON gateway.

Only what `test_store_against_etcd.py` asks of it. An answer is told in our own words, so that both
sides can be compared: a key-value pair is a `Pair`, a refusal is a Refused with one of four words.
"""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from testbed.store.txn import Compare, Delete, Get, Put

PATIENCE_S = 120.0
REFUSALS = {
    "required revision is a future revision": "future",
    "required revision has been compacted": "compacted",
    "duplicate key given in txn request": "duplicate",
    "key is not provided": "keyless",
}
TARGETS = {
    "version": ("VERSION", "version"),
    "created": ("CREATE", "create_revision"),
    "revision": ("MOD", "mod_revision"),
    "value": ("VALUE", "value"),
}
SIGNS = {"=": "EQUAL", "!=": "NOT_EQUAL", "<": "LESS", ">": "GREATER"}


class Refused(Exception):
    """The answer is an error; its text is one word of REFUSALS."""


class Pair(NamedTuple):
    """What etcd keeps under one key."""

    key: str
    value: str
    created: int
    revision: int
    version: int


class Told(NamedTuple):
    """One event of a watch."""

    revision: int
    key: str
    new: Pair | None
    old: Pair | None


class Etcd:
    """One etcd process, for as long as the `with` lasts; it dies with this process in any case."""

    def __init__(self, path: str, folder: Path) -> None:
        self._log = (folder / "etcd.log").open("wb")
        client, peer = (f"http://127.0.0.1:{port}" for port in _free_ports())
        # Should this process be killed, nobody is left to stop etcd but the kernel.
        setpriv = shutil.which("setpriv")
        leash = [setpriv, "--pdeathsig", "KILL"] if setpriv else []
        self._process = subprocess.Popen(
            [
                *leash, path, "--data-dir", str(folder / "data"),
                "--unsafe-no-fsync", "--listen-client-urls", client, "--advertise-client-urls",
                client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", f"default={peer}", "--log-level", "error",
            ],
            stdout=self._log, stderr=self._log, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self._client = httpx.Client(base_url=client, timeout=PATIENCE_S)

    def __enter__(self) -> Etcd:
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Kill it, and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        self._client.close()
        self._log.close()

    def _wait(self) -> None:
        limit = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(httpx.TransportError):
                if self._client.get("/health").json().get("health") == "true":
                    return
            if self._process.poll() is not None or time.monotonic() > limit:
                log = Path(self._log.name).read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"etcd did not come up within {PATIENCE_S} s:\n{log[-2000:]}")
            time.sleep(0.02)

    def ask(self, path: str, **body: Any) -> dict[str, Any]:
        """One request; Refused if the answer is an error."""
        answer: dict[str, Any] = self._client.post(f"/v3/kv/{path}", json=body).json()
        if "error" in answer:
            raise Refused(_word(answer["error"]))
        return answer

    def revision(self) -> int:
        """The revision it is at."""
        return revision_of(self.ask("range", key=encoded("\0")))

    def txn(
        self,
        compares: list[Compare],
        then: list[Put | Delete | Get],
        other: list[Put | Delete | Get],
    ) -> dict[str, Any]:
        """A whole transaction."""
        return self.ask(
            "txn",
            compare=[_compare(compare) for compare in compares],
            success=[{f"request_{kind}": body} for kind, body in map(request, then)],
            failure=[{f"request_{kind}": body} for kind, body in map(request, other)],
        )

    def watch(self, start: str, end: str, since: int, until: int) -> list[Told] | int:
        """What a watch from after `since` tells up to a revision; or where history starts."""
        wanted = {
            "key": encoded(start), "range_end": encoded(end),
            "start_revision": str(since + 1), "prev_kv": True,
        }  # fmt: skip
        told: list[Told] = []
        body = {"create_request": wanted}
        with self._client.stream("POST", "/v3/watch", json=body) as stream:
            for answer in _results(stream):
                if answer.get("canceled"):
                    return int(answer["compact_revision"])
                told += [_told(event) for event in answer.get("events", [])]
                if told and told[-1].revision >= until:
                    return told
        raise AssertionError(f"etcd closed the watch before revision {until}")


def _results(stream: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in stream.iter_lines():
        yield json.loads(line)["result"]


def request(operation: Put | Delete | Get) -> tuple[str, dict[str, Any]]:
    """An operation as etcd takes it: which kind of request, and its body."""
    body: dict[str, Any] = {"key": encoded(operation.key)}
    if isinstance(operation, Put):
        return "put", {**body, "value": encoded(str(operation.value)), "prev_kv": True}
    if operation.end is not None:
        body["range_end"] = encoded(operation.end)
    if isinstance(operation, Delete):
        return "delete_range", {**body, "prev_kv": True}
    return "range", {**body, "revision": str(operation.at or 0), "limit": str(operation.limit or 0)}


def pairs(answer: dict[str, Any]) -> list[Pair]:
    """The pairs of an answer: found by a range, removed by a delete, overwritten by a put."""
    overwritten = [answer["prev_kv"]] if "prev_kv" in answer else []
    return [_pair(pair) for pair in answer.get("kvs") or answer.get("prev_kvs") or overwritten]


def revision_of(answer: dict[str, Any]) -> int:
    """The revision an answer was given at."""
    return int(answer["header"]["revision"])


def encoded(text: str) -> str:
    """As the gateway wants keys and values."""
    return base64.b64encode(text.encode()).decode()


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()


def _pair(pair: dict[str, str]) -> Pair:
    return Pair(
        _decoded(pair["key"]), _decoded(pair.get("value", "")), int(pair["create_revision"]),
        int(pair["mod_revision"]), int(pair["version"]),
    )  # fmt: skip


def _told(event: dict[str, Any]) -> Told:
    new, old = event["kv"], event.get("prev_kv")
    is_gone = event.get("type") == "DELETE"
    return Told(
        int(new["mod_revision"]), _decoded(new["key"]), None if is_gone else _pair(new),
        None if old is None else _pair(old),
    )  # fmt: skip


def _compare(compare: Compare) -> dict[str, str]:
    target, field = TARGETS[compare.target]
    held = str(compare.value)
    return {
        "key": encoded(compare.key), "target": target, "result": SIGNS[compare.sign],
        field: encoded(held) if field == "value" else held,
    }  # fmt: skip


def _word(text: str) -> str:
    for said, word in REFUSALS.items():
        if said in text:
            return word
    raise AssertionError(f"etcd refused with words the tests do not know: {text}")


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
