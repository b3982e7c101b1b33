"""Every protocol package has the same modules and the same public names."""

from pathlib import Path

import pytest

from toolglot.registry import PROTOCOLS

COMMON = {
    "surface",
    "parts",
    "tools",
    "request",
    "response",
    "stream_decoder",
    "stream_encoder",
}
"""What only one protocol needs stands in modules whose names begin with an underscore."""

PACKAGES = list(PROTOCOLS.values())


def modules(package):
    files = Path(package.__file__).parent.glob("*.py")
    return {file.stem for file in files if not file.stem.startswith("_")}


@pytest.mark.parametrize("package", PACKAGES, ids=list(PROTOCOLS))
def test_the_modules_are_the_same(package):
    assert modules(package) == modules(PACKAGES[0])
    assert modules(package) > COMMON


@pytest.mark.parametrize("package", PACKAGES, ids=list(PROTOCOLS))
def test_the_public_names_are_the_same(package):
    assert package.__all__ == PACKAGES[0].__all__
    assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize("package", PACKAGES, ids=list(PROTOCOLS))
def test_the_module_of_a_name_is_the_same(package):
    def homes(each):
        names = (getattr(each, name) for name in each.__all__)
        found = (getattr(value, "__module__", "") for value in names if not isinstance(value, str))
        return [home.removeprefix(each.__name__) for home in found]

    assert homes(package) == homes(PACKAGES[0])


def test_every_package_is_registered():
    folder = Path(PACKAGES[0].__file__).parents[1]
    folders = {path.name for path in folder.iterdir() if (path / "__init__.py").is_file()}
    assert folders == {package.__name__.rpartition(".")[2] for package in PACKAGES}
