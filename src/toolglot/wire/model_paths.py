"""Paths that name a model: `/v1beta/models/{model}:generateContent`, `/model/{model}/converse`.

Where a slash follows the model, one inside its name is written `%2F`.
"""

from typing import Final
from urllib.parse import quote, unquote

IN_PATH: Final = "{model}"
"""What the path of a protocol has in it that names the model there."""


def _separator(template: str) -> str:
    return template.partition(IN_PATH)[2][:1]


def split_path(path: str, template: str) -> tuple[str, str]:
    """The model that a path names, and what is asked of it."""
    before = template.partition(IN_PATH)[0].rstrip("/").rpartition("/")[2]
    _, found, words = path.partition("?")[0].partition(f"/{before}/")
    name, _, operation = (words if found else path.rpartition("/")[2]).rpartition(
        _separator(template)
    )
    return unquote(name), operation


def resource_name(path: str, template: str) -> str:
    """The model that a path names, with its collection: `models/NAME`, `tunedModels/NAME`."""
    version = template.partition(IN_PATH)[0].rstrip("/").rpartition("/")[0]
    name = path.partition("?")[0].removeprefix(f"{version}/")
    return unquote(name.rpartition(_separator(template))[0])


def quoted_model(model: str, template: str) -> str:
    """The name of a model as a path has it."""
    return quote(model, safe=":@" if _separator(template) == "/" else "/:@")


def path_of(template: str, model: str, operation: str = "") -> str:
    """The path that names a model; `operation` in place of the usual one."""
    path = template.replace(IN_PATH, quoted_model(model, template))
    if not operation:
        return path
    separator = _separator(template)
    return path.rpartition(separator)[0] + separator + operation
