"""Typed functions as tools."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from toolglot.inprocess.tool_functions import ToolFunctionError, tool_function


def forecast(city: str, days: int = 3, unit: Literal["c", "f"] = "c") -> str:
    """The weather of the coming days.

    It is never wrong.

    Args:
        city: The name of the city,
            in English.
        days (int): How many days.

    Returns:
        city: not a parameter.
    """
    return f"{city} {days} {unit}"


def test_a_function_with_a_docstring():
    tool = tool_function(forecast).tool
    assert tool.name == "forecast"
    assert tool.description == "The weather of the coming days.\n\nIt is never wrong."
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The name of the city, in English."},
            "days": {"type": "integer", "description": "How many days.", "default": 3},
            "unit": {"enum": ["c", "f"], "default": "c"},
        },
        "required": ["city"],
    }


@dataclass
class Place:
    name: str
    floor: int = 0


def find(
    places: list[Place],
    *,
    near: Annotated[str, "Where to begin."],
    most: Annotated[int, Meta(ge=1)] = 5,
) -> list[Place]:
    return places[:most]


def test_types_of_ones_own_and_annotations():
    schema = tool_function(find).tool.parameters
    assert schema["properties"]["places"] == {"type": "array", "items": {"$ref": "#/$defs/Place"}}
    assert schema["$defs"]["Place"]["required"] == ["name"]
    assert schema["properties"]["near"] == {"type": "string", "description": "Where to begin."}
    assert schema["properties"]["most"]["minimum"] == 1


def test_calls_get_typed_arguments():
    made = tool_function(find)
    assert made.call('{"places":[{"name":"attic","floor":"3"}],"near":"x"}') == [Place("attic", 3)]
    assert tool_function(forecast).call('{"city":"Rome"}') == "Rome 3 c"


@pytest.mark.parametrize("given", ["{}", '{"city":1}', '{"city":"Rome","hours":2}', '{"city":'])
def test_calls_that_do_not_fit(given):
    with pytest.raises(msgspec.DecodeError):
        tool_function(forecast).call(given)


def no_type(city) -> str:
    return city


def any_number(*cities: str) -> str:
    return cities[0]


def by_place(city: str, /) -> str:
    return city


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_type, "no_type: parameter city needs a type"),
        (any_number, r"what \*cities takes"),
        (by_place, "city must be accepted by its name"),
        (lambda: 1, "no name"),
    ],
)
def test_functions_that_cannot_be_tools(function, words):
    with pytest.raises(ToolFunctionError, match=words):
        tool_function(function)
