"""A row: what it says by default."""

from toolglot.dialects.dialect import TOOL_RESPONSE, Dialect
from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.writers import JsonWriter

FORM = JsonForm(openers=("<reef>",), closers=("</reef>",))


def row(**more):
    return Dialect(name="reef", models="Reef 1", forms=(FORM,), **more)


def test_a_row_is_written_as_its_first_form_usually_is():
    assert row().writer == FORM.writer()
    assert row().result is TOOL_RESPONSE
    call = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
    assert row().example == f"<reef>{call}</reef>"


def test_what_a_row_says_itself_comes_first():
    writer = JsonWriter(begin="[", end="]")
    assert row(write=writer).writer is writer
    assert row(write=writer).example.startswith('[{"name": "get_weather"')
    assert row(example="as it is").example == "as it is"


def test_rows_are_compared_by_identity():
    one, other = row(), row()
    assert one != other
    assert len({one, other}) == 2
