"""Arguments that are repaired to fit a schema."""

import json
from time import process_time

import pytest
from tests.counting import count_calls

from toolglot.adapt.calls.repair import breaks_off, from_xml, repair_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "ratio": {"type": "number"},
        "now": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "where": {"type": "object", "properties": {"zip": {"type": "string"}}},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
}


@pytest.mark.parametrize(
    ("text", "value", "lossy"),
    [
        ('"{\\"city\\":\\"Ghent\\"}"', {"city": "Ghent"}, False),
        ("{'city': 'Ghent', 'days': 2}", {"city": "Ghent", "days": 2}, False),
        ('{"city":"Ghent","days":2,}', {"city": "Ghent", "days": 2}, False),
        ('```json\n{"city":"Ghent"}\n```', {"city": "Ghent"}, False),
        ("```\n{'city':'Ghent',}\n```", {"city": "Ghent"}, False),
        ('{"city":"Ghent","days":2', {"city": "Ghent", "days": 2}, True),
        ('{"city":"Gh', {"city": "Gh"}, True),
        ('{"city":"a\nb"}', {"city": "a\nb"}, False),
        ("<city>Gh &amp; ent</city><days>2</days>", {"city": "Gh & ent", "days": 2}, False),
        ("", {}, False),
        ("null", {}, False),
    ],
)
def test_texts(text, value, lossy):
    """S0-63, S3-30, case-50: twice encoded, quoted, fenced, with a comma too many, cut off."""
    repair = repair_arguments(text, SCHEMA)
    assert repair is not None
    assert json.loads(repair.arguments) == value
    assert repair.lossy is lossy
    assert repair.how


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"days": "5"}, {"days": 5}),
        ({"days": "-5"}, {"days": -5}),
        ({"ratio": "0.5"}, {"ratio": 0.5}),
        ({"now": "true"}, {"now": True}),
        ({"now": "False"}, {"now": False}),
        ({"city": 5}, {"city": "5"}),
        ({"city": True}, {"city": "true"}),
        ({"tags": "a"}, {"tags": ["a"]}),
        ({"tags": 5}, {"tags": ["5"]}),
        ({"sizes": "7"}, {"sizes": [7]}),
        ({"sizes": "[7, 8]"}, {"sizes": [7, 8]}),
        ({"sizes": ["7", 8]}, {"sizes": [7, 8]}),
        ({"where": '{"zip": 9000}'}, {"where": {"zip": "9000"}}),
        ({"limit": "3"}, {"limit": 3}),
        ({"limit": "null"}, {"limit": None}),
        ({"days": "5", "other": "5"}, {"days": 5, "other": "5"}),
    ],
)
def test_types_change_as_the_schema_says(given, wanted):
    """S1-51: and a key that the schema does not know stays as it is."""
    repair = repair_arguments(json.dumps(given), SCHEMA)
    assert repair is not None
    assert json.loads(repair.arguments) == wanted
    assert not repair.lossy


@pytest.mark.parametrize(
    "given",
    [
        {"days": "005"},
        {"days": "five"},
        {"days": 5.5},
        {"days": [5]},
        {"now": "yes"},
        {"now": 1},
        {"city": ["Ghent"]},
        {"city": None},
        {"where": "Ghent"},
        {"tags": {"a": 1}},
    ],
)
def test_nothing_is_guessed(given):
    assert repair_arguments(json.dumps(given), SCHEMA) is None


def test_a_number_keeps_its_zeros_as_text():
    repair = repair_arguments('{"city": 3.10}', SCHEMA)
    assert repair is not None
    assert repair.arguments == '{"city":"3.10"}'


def test_what_need_not_change_keeps_its_text():
    repair = repair_arguments('{"ratio":1.0,"n":12345678901234567890,"days":"1"}', SCHEMA)
    assert repair is not None
    assert repair.arguments == '{"ratio":1.0,"n":12345678901234567890,"days":1}'


@pytest.mark.parametrize("text", ["hello", "[1]", '"x"', "5", "[[[" * 5000, '{"a":1}{"b":2}', "{"])
def test_what_is_no_object_stays(text):
    assert repair_arguments(text, SCHEMA) is None


def test_words_that_get_lost_are_a_loss():
    repair = repair_arguments("{'city': 'it''s'}", SCHEMA)
    assert repair is None or repair.lossy


def test_without_a_schema_an_object_will_do():
    repair = repair_arguments("{'a': 1}", None)
    assert repair is not None
    assert repair.arguments == '{"a":1}'
    assert repair_arguments("[1", None) is None


def test_a_schema_that_cannot_be_read_demands_nothing():
    repair = repair_arguments("{'a': 1}", {"type": "STRING"})
    assert repair is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<a>1</a><b>x</b>", {"a": "1", "b": "x"}),
        ("<args><a>1</a><b>x</b></args>", {"a": "1", "b": "x"}),
        ("<a><![CDATA[<b>&amp;</b>]]></a>", {"a": "<b>&amp;</b>"}),
        ("<a>&lt;&quot;&#39;</a>", {"a": '<"&#39;'}),
        ("<a>x", None),
        ("<a>1</a><a>2</a>", None),
        ("<a>1</a> and more", None),
        ("a", None),
    ],
)
def test_xml(text, value):
    """S3-30"""
    assert from_xml(text) == value


@pytest.mark.parametrize(
    ("text", "open_"),
    [('{"a":1', True), ('{"a":"x', True), ('{"a":"\\"}', True), ('{"a":"}"}', False), ("", False)],
)
def test_breaking_off(text, open_):
    assert breaks_off(text) is open_


LONG = "word \\n \\u00e4."


@pytest.mark.parametrize("count", [300, 3000])
@pytest.mark.parametrize(
    ("text", "how"),
    [
        ('{"a":"%s', "it broke off and was completed"),
        ('{"a":"%s\\', "it broke off and was completed"),
        ('{"a":"%s\\u00', "it broke off and was completed"),
        ('{"a":"%s","c', "it broke off and was completed"),
        ('{"a":"%s",', "it broke off and was completed"),
        ('{"a":"%s"', "it broke off and was completed"),
        ('{"a":"%s",}', "broken JSON"),
        ("{'a':'%s'}", "broken JSON"),
        ('{"a":"x\ny%s"}', "broken JSON"),
    ],
)
def test_long_arguments_are_repaired_too(text, how, count):
    repaired = repair_arguments(text.replace("%s", LONG * count), {"type": "object"})
    assert repaired is not None
    assert repaired.how == (how,)
    assert "word \n \u00e4." * count in json.loads(repaired.arguments)["a"]


@pytest.mark.parametrize(
    "run",
    ['\\"', '"', "\\", " ", "{", '{"a":', "[", "}", ",", "x", "'", "\\'", "<a>", "```", "{a: b, "],
)
@pytest.mark.parametrize("beginning", ['{"a":"', "{'a':'", '{"a":[', ""])
def test_repair_takes_linear_time(beginning, run):
    """No count sees what a pattern tries again, so this is also the time of the processor."""

    def work(size):
        repair_arguments(beginning + run * size, {"type": "object"})

    work(10)
    small, large = (count_calls(lambda size=each: work(size)) for each in (2_000, 8_000))
    assert large < 6 * max(small, 1_000)
    start = process_time()
    work(50_000)
    assert process_time() - start < 2
