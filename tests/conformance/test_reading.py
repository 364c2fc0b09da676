"""Errors in a file of cases name their place and what to do; no case is passed over."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.conformance.reading import BadCorpus, cases_in, files_in


def written(folder: Path, *lines: str) -> Path:
    """A file of these lines."""
    path = folder / "some.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


PREEMPT = json.dumps({"case": {"id": "a", "pending": {}}, "expect": {"post_filter_code": ""}})


def test_a_line_is_known_by_what_stands_in_it(tmp_path: Path) -> None:
    """Not by the name of its file. An empty line is no case."""
    (case,) = cases_in(written(tmp_path, "", PREEMPT))
    assert (case.shape.name, case.name) == ("preempt", "some.jsonl.gz:2 (a)")


@pytest.mark.parametrize(
    ("line", "expected"),
    [("{", "a line of JSON"), ("[1]", "an object of JSON"), ("{}", "of a kind that is known")],
)
def test_a_bad_line_is_told_by_file_and_number(tmp_path: Path, line: str, expected: str) -> None:
    """With a command that shows it."""
    path = written(tmp_path, PREEMPT, line)
    with pytest.raises(BadCorpus) as caught:
        list(cases_in(path))
    assert str(caught.value).startswith("some.jsonl.gz:2: expected ")
    assert expected in str(caught.value)
    assert str(caught.value).endswith(f"Next: gzip -dc {path} | sed -n 2p")


def test_a_case_that_lacks_something_is_told_by_file_and_number(tmp_path: Path) -> None:
    """Instead of a traceback."""
    (case,) = cases_in(written(tmp_path, PREEMPT))
    with pytest.raises(BadCorpus, match=r"some.jsonl.gz:1: expected a whole case .*'nodes'"):
        case.differences()


@pytest.mark.parametrize("bytes", [b"{}\n", gzip.compress(b"{}\n" * 99, mtime=0)[:20]])
def test_a_file_that_is_not_packed_is_refused(tmp_path: Path, bytes: bytes) -> None:
    """So is one that was cut off."""
    path = tmp_path / "some.jsonl.gz"
    path.write_bytes(bytes)
    with pytest.raises(BadCorpus, match=r"expected a file that gzip has packed"):
        list(cases_in(path))


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    """So that silence is not taken for agreement."""
    with pytest.raises(BadCorpus, match=r"found none"):
        files_in(tmp_path)
    with pytest.raises(BadCorpus, match=r"no such folder"):
        files_in(tmp_path / "nowhere")
