"""Arguments as the client declared them, and as the provider gets them."""

import pytest

from toolglot.schema.convert import Plan, Texts, merged, send, widen


def plan(**fields):
    made = Plan()
    for name, value in fields.items():
        setattr(made, name, value)
    return made.done()


LABELS = plan(labels={"1": 1, "true": True, "a": "a"})


@pytest.mark.parametrize(("client", "provider"), [(1, "1"), (True, "true"), ("a", "a")])
def test_labels_stand_for_values(client, provider):
    assert widen(LABELS, provider) == client
    assert type(widen(LABELS, provider)) is type(client)
    assert send(LABELS, client) == provider


def test_what_is_not_listed_stays():
    assert widen(LABELS, "7") == "7"
    assert send(LABELS, 7) == 7


def test_null_means_absent_where_it_was_added():
    made = plan(null=frozenset({"b"}), order=("a", "b"))
    assert widen(made, {"a": 1, "b": None}) == {"a": 1}
    assert send(made, {"a": 1}) == {"a": 1, "b": None}
    assert widen(made, {"a": None}) == {"a": None}
    assert list(send(made, {"c": 1, "a": 2})) == ["a", "b", "c"]


def test_members_items_and_others_are_converted():
    made = plan(members={"a": LABELS}, order=("a", "b"), rest=LABELS)
    assert widen(made, {"a": "1", "b": "1", "c": "1"}) == {"a": 1, "b": "1", "c": 1}
    assert send(made, {"a": 1, "b": 1, "c": 1}) == {"a": "1", "b": 1, "c": "1"}
    listed = plan(items=LABELS)
    assert widen(listed, ["1", "x"]) == [1, "x"]
    assert send(listed, [1]) == ["1"]


def test_what_does_not_differ_is_the_same_object():
    made = plan(members={"a": LABELS}, items=LABELS, order=("a",))
    for value in ({"a": "a"}, ["a"], 1, None):
        assert widen(made, value) is value


def test_what_was_wrapped_is_unwrapped():
    made = plan(wrap=True, members={"value": LABELS})
    assert widen(made, {"value": "1"}) == 1
    assert widen(made, {"value": "1", "more": 1}) == {"value": 1, "more": 1}
    assert send(made, 1) == {"value": "1"}
    assert send(plan(wrap=True), [1]) == {"value": [1]}


def test_a_plan_without_differences_is_false():
    assert not plan()
    assert not plan(members={"a": Plan()}, order=("a",))
    assert plan(members={"a": LABELS})


def test_only_what_holds_for_all_plans_is_merged():
    one = plan(null=frozenset({"a", "b"}), order=("a", "b"), members={"a": LABELS})
    two = plan(keeps=frozenset({"b"}), order=("b",), items=LABELS)
    both = merged([one, two])
    assert both.null == {"a"}
    assert both.order == ("a", "b")
    assert both.members["a"] is LABELS
    assert both.items is LABELS
    assert not both.fill
    assert merged([one]) is one


@pytest.mark.parametrize("text", ["{", "[1", "", '{"a": 1}'])
def test_texts_that_cannot_be_read_or_do_not_differ_stay(text):
    texts = Texts(plan(members={"b": LABELS}, order=("b",)))
    assert texts.widen(text) == text
    assert texts.send(text) == text


def test_texts_are_converted():
    texts = Texts(plan(members={"b": LABELS}, order=("b",)))
    assert texts.widen('{"b": "1"}') == '{"b":1}'
    assert texts.send('{"b": 1}') == '{"b":"1"}'
