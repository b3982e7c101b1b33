"""The runner of `make mutants`: how it finds what it breaks, and that it puts it back."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parent.parent / "scripts" / "mutants.py"


@pytest.fixture(scope="module")
def mutants():
    spec = importlib.util.spec_from_file_location("mutants", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    package = tmp_path / "src" / "toolglot"
    (package / "wire").mkdir(parents=True)
    (package / "wire" / "a.py").write_text("x = 1\ny = 2\n")
    (package / "wire" / "b.py").write_text("x = 1\nz = 3\n")
    return tmp_path


def mutant(module, file, old, new="x = 9"):
    return module.Mutant("core", file, old, new, "why", ("tests/test_a.py",), ())


def test_a_fragment_is_found_where_it_is_said_to_be_or_where_it_moved(mutants, tree):
    def found(*given):
        path = mutants.locate(mutant(mutants, *given), tree)
        return path and path.name

    assert found("wire/a.py", "x = 1") == "a.py"
    assert found("wire/old.py", "z = 3") == "b.py"
    assert found("wire/[b].py", "x = 1") == "b.py"
    assert found("wire/old.py", "x = 1") is None, "it is there twice"
    assert found("wire/a.py", "gone") is None


def test_tests_that_moved_are_found_by_their_name(mutants, tree):
    (tree / "tests" / "deep").mkdir(parents=True)
    (tree / "tests" / "deep" / "test_a.py").touch()
    assert mutants.existing(["tests/test_a.py", "tests/test_b.py"], tree) == [
        "tests/deep/test_a.py"
    ]


def test_a_file_is_broken_for_a_while(mutants, tree):
    path = tree / "src" / "toolglot" / "wire" / "a.py"
    before = path.stat().st_mtime
    with mutants.broken(path, mutant(mutants, "wire/a.py", "x = 1")):
        assert path.read_text() == "x = 9\ny = 2\n"
        assert int(path.stat().st_mtime) != int(before)
    assert path.read_text() == "x = 1\ny = 2\n"
    assert path.stat().st_mtime == pytest.approx(before)


def test_the_table_fails_below_a_threshold_and_for_stale_mutants(mutants, capsys):
    one = mutant(mutants, "wire/a.py", "x = 1")
    killed, survives = mutants.Result(one, "own"), mutants.Result(one, "survives", "a.py:1")
    assert mutants.report([killed]) == 0
    assert mutants.report([killed, survives]) == 1
    assert "survives: a.py:1: why" in capsys.readouterr().out
    assert mutants.report([killed, mutants.Result(one, "stale", "the fragment")]) == 1


def test_the_list_can_be_read_and_changes_something(mutants):
    found = mutants.read_list(mutants.LIST)
    assert sum(each.area == "core" for each in found) >= 90
    assert sum(each.area == "gateway" for each in found) >= 40
    assert len({str(each) for each in found}) == len(found)
    assert all(each.old != each.new and each.tests for each in found)
