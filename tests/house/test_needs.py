"""A test whose program is missing is left out, and told so; or it fails, if that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.needs import ALL, PROGRAMS

TESTS = """
    import pytest
    from tests.needs import needs

    @pytest.fixture(scope="module")
    def etcd():
        return needs("etcd")

    def test_one(etcd): pass
    def test_two(etcd): pass
    def test_page(): needs("chromium")
    def test_kernel(): pytest.skip("needs Landlock: a kernel of 5.13")
    def test_other(): pytest.skip("not today")
    def test_ours(): pass
"""


@pytest.fixture
def bare(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Such tests on a machine without any of the programs."""
    monkeypatch.setenv("PATH", str(pytester.mkdir("nothing")))
    monkeypatch.delenv(ALL, raising=False)
    monkeypatch.delenv("KUBECTL", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent.parent))
    pytester.makeini("[pytest]\naddopts = -p no:testbed.pytest_plugin\n")
    pytester.makeconftest("""
        from tests.needs import LeftOut
        def pytest_configure(config):
            config.pluginmanager.register(LeftOut())
    """)
    pytester.makepyfile(TESTS)
    return pytester


@pytest.mark.parametrize("processes", ["-n0", "-n2"])
def test_what_is_missing_is_left_out_and_told_in_a_line(
    bare: pytest.Pytester, processes: str
) -> None:
    """Also where the tests ran in other processes."""
    done = bare.runpytest_subprocess(processes)
    assert done.ret == 0
    done.stdout.fnmatch_lines([
        "*= left out =*",
        "left out: 4 tests (Landlock 1, chromium 1, etcd 2);"
        " apt-get install chromium etcd-server",
        "*1 passed, 5 skipped*",
    ])  # fmt: skip


def test_all_that_is_missing_fails_where_nothing_may_be_left_out(
    bare: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is where the project is checked."""
    monkeypatch.setenv(ALL, "1")
    done = bare.runpytest_subprocess("-n0")
    done.assert_outcomes(passed=1, failed=1, errors=2, skipped=2)
    done.stdout.fnmatch_lines(["*needs etcd: apt-get install etcd-server*"])


def test_a_program_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the environment, as kubectl is."""
    monkeypatch.setenv("KUBECTL", "/opt/kubectl")
    assert PROGRAMS["kubectl"].path == "/opt/kubectl"
