"""Recorded: a trace is read back as it was written, and whatever else is there is refused."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed.choosers.replayed import Replayed
from testbed.choosers.uniform import Uniform
from testbed.errors import HarnessError, ReplayDiverged, TraceRefused
from testbed.turns.recorded import FILE_BYTES_MAX, load
from testbed.turns.trace import Trace
from testbed.world.budget import Budget
from testbed.world.scenario import find
from tests.each_row import each_row

LOST_UPDATE = find("lost_update")


@cache
def recorded_bytes() -> bytes:
    """The trace of one Run of lost_update."""
    sink = BytesIO()
    LOST_UPDATE.world().run(Uniform(1), driver="direct", trace=Trace({}, sink=sink))
    return sink.getvalue()


def test_a_trace_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """Header, choices and end; and the lines to the byte."""
    path = tmp_path / "race.jsonl"
    raw = recorded_bytes()
    path.write_bytes(raw)
    recorded = load(str(path))
    assert b"".join(recorded.lines) == raw
    assert recorded.header["scenario"] == "lost_update"
    assert [step["n"] for step in recorded.steps] == list(range(1, 11))
    assert recorded.end["verdict"] == "violated"


def summed(lines: Sequence[dict[str, Any]]) -> bytes:
    """Lines with right sums, as any program could write them."""
    total, raw = 0, b""
    for content in lines:
        body = json.dumps(content, separators=(",", ":")).encode()
        total = zlib.crc32(body, total)
        raw += body[:-1] + f',"sum":"{total:08x}"}}\n'.encode()
    return raw


def forged(raw: bytes, line: int, **changes: Any) -> bytes:
    """The trace with one line changed, and every sum right."""
    lines = [json.loads(text) for text in raw.splitlines()]
    for content in lines:
        del content["sum"]
    lines[line - 1].update(changes)
    return summed(lines)


def edited(raw: bytes, line: int, old: bytes, new: bytes) -> bytes:
    """The trace with something else on one line."""
    lines = raw.splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    return b"".join(lines)


def without(raw: bytes, line: int) -> bytes:
    """The trace without one line."""
    lines = raw.splitlines(keepends=True)
    del lines[line - 1]
    return b"".join(lines)


DEEP = b'{"format":' + b"[" * 100_000
REFUSED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "an empty file": (
        lambda raw: b"",
        'line 1: this is no trace: expected a JSON header with "format": '
        '"testbed-trace/1", found an empty file.\nNext: record one with `testbed run',
    ),
    "no trace": (
        lambda raw: b"apiVersion: v1\nkind: Pod\n",
        "line 1: this is no trace: expected a JSON header .*found 'apiVersion: v1'.\nNext: record",
    ),
    "JSON, and no object": (lambda raw: b"[1]\n", r"line 1: this is no trace: .*found '\[1\]'"),
    "binary junk": (lambda raw: bytes(range(256)) * 20, "line 1: this is no trace: expected"),
    "a deeply nested line": (lambda raw: DEEP, "line 1: this is no trace: expected"),
    "a deeply nested later line": (
        lambda raw: raw[: raw.index(b"\n") + 1] + DEEP + b'],"sum":"00000000"}\n',
        "line 2: the line was edited",
    ),
    "another format": (
        lambda raw: forged(raw, 1, format="testbed-trace/2", testbed="9.9"),
        "line 1: format 'testbed-trace/2', this testbed reads 'testbed-trace/1'; it was recorded "
        "by testbed 9.9.\nNext: record the Run again, or replay it with the testbed that",
    ),
    "cut in the middle of a line": (
        lambda raw: raw[: raw.index(b'"n":7') + 5],
        r"line 8: the trace is cut short or corrupt here: expected a JSON object that ends in its "
        r"\"sum\", found '{\"n\":7'.\nNext: copy the whole file again",
    ),
    "cut at the end of a line": (
        lambda raw: b"".join(raw.splitlines(keepends=True)[:8]),
        r"line 8: the trace is cut short: it must end with a line {\"end\": …}, and the last one "
        r"is '{\"n\":.*\nNext: copy the whole file again",
    ),
    "cut behind its header": (
        lambda raw: raw[: raw.index(b"\n") + 1],
        r"line 1: the trace is cut short: it must end with a line {\"end\"",
    ),
    "lines that end as Windows ends them": (
        lambda raw: raw.replace(b"\n", b"\r\n"),
        "line 1: the trace is cut short or corrupt here",
    ),
    "an edited line": (
        lambda raw: edited(raw, 5, b'"choice":', b'"choice":1'),
        "line 5: the line was edited, or one before it is missing: its sum is ........, its "
        "content gives .{8}.\nNext: use the file as it was recorded",
    ),
    "an edited sum": (
        lambda raw: edited(raw, 4, b'"sum":"', b'"sum":"f'),
        "line 4: the line was edited",
    ),
    "a deleted line": (lambda raw: without(raw, 6), "line 6: the line was edited, or one before"),
    "a line twice": (
        lambda raw: raw[: raw.index(b"\n") + 1] + raw,
        "line 2: the line was edited, or one before",
    ),
    "one trace behind another": (lambda raw: raw + raw, "line 15: the line was edited"),
    "a forged choice": (
        lambda raw: forged(raw, 4, choice="1"),
        'line 4: no testbed wrote this line: expected whole numbers, none negative, as "choice", '
        '"of", "at", "nth" and "until_ms", found \'{.*\nNext: use the file as it was recorded',
    ),
    "a negative choice": (lambda raw: forged(raw, 4, choice=-1), "line 4: .*expected whole"),
    "a choice that is none": (lambda raw: forged(raw, 4, of=True), "line 4: .*expected whole"),
    "a forged sentence": (lambda raw: forged(raw, 4, who=7), "line 4: .*expected strings"),
    "a forged key": (lambda raw: forged(raw, 4, key={}), "line 4: .*expected strings"),
    "forged switches": (
        lambda raw: forged(raw, 1, switches=[]),
        'line 1: .*expected a name as "scenario" and an object as "switches"',
    ),
    "no scenario": (lambda raw: forged(raw, 1, scenario=None), "line 1: .*expected a name"),
    "a line that is no object": (
        lambda raw: raw.splitlines(keepends=True)[0] + b'[1,"sum":""}\n',
        "line 2: the line was edited",
    ),
}


@each_row(("damage", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_a_damaged_trace_is_refused(
    damage: Callable[[bytes], bytes], said: str, tmp_path: Path
) -> None:
    """With the file, the line, what was expected and found there, and what to do next."""
    path = tmp_path / "race.jsonl"
    path.write_bytes(damage(recorded_bytes()))
    with pytest.raises(TraceRefused, match=said) as refused:
        load(str(path))
    assert str(refused.value).startswith(f"{path}, line ")
    assert "\nNext: " in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """And one that is a folder: with the reason, and how to record one."""
    for path, reason in ((tmp_path / "none", "No such file or dir"), (tmp_path, "Is a directory")):
        with pytest.raises(TraceRefused, match=f"cannot be read: {reason}.*\nNext: record") as no:
            load(str(path))
        assert str(path) in str(no.value)


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a byte more than the limit is read."""
    assert Budget().trace_bytes_max + 2**23 <= FILE_BYTES_MAX
    monkeypatch.setattr("testbed.turns.recorded.FILE_BYTES_MAX", 1_000_000)
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(1_000_001)
    with pytest.raises(TraceRefused, match=r"too large: a trace may have 1,000,000 b.*\nN"):
        load(str(huge))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_flipped_byte_and_any_cut_is_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Wherever it is: each byte of each line counts, the sums and the line ends included."""
    path = tmp_path_factory.getbasetemp() / "flipped.jsonl"
    raw = bytearray(recorded_bytes())
    where = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        raw[where] ^= data.draw(st.integers(1, 255))
    else:
        del raw[where:]
    path.write_bytes(raw)
    with pytest.raises(TraceRefused):
        load(str(path))


jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda some: (
        st.lists(some, max_size=2) | st.dictionaries(st.text(max_size=5), some, max_size=2)
    ),
    max_leaves=4,
)
WORDS = (
    "format", "testbed", "scenario", "switches", "n", "at", "do", "who", "verb", "key", "change",
    "nth", "label", "choice", "of", "by", "end", "record", "sum",
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(line=st.integers(1, 14), changes=st.dictionaries(st.sampled_from(WORDS), jsons, max_size=2))
def test_a_forged_trace_is_refused_or_diverges(
    line: int, changes: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Sums can be forged. Whatever then stands on a line, what comes of it is a verdict or an
    error for people, and never another exception."""
    path = tmp_path_factory.getbasetemp() / "forged.jsonl"
    path.write_bytes(forged(recorded_bytes(), line, **changes))
    try:
        recorded = load(str(path))
        world = LOST_UPDATE.world(recorded.header["switches"])
        world.run(Replayed(recorded.steps, again="…"), driver="direct")
    except HarnessError as error:
        said = error
    else:
        said = ReplayDiverged()
    assert isinstance(said, TraceRefused | ReplayDiverged) or "switch" in str(said)
