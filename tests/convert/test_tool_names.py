import pytest
from tests.convert.conversations import call, read, result, said

from toolglot.convert import convert_rows, get_format
from toolglot.convert.tool_names import _COLUMNS, _ROWS, _cell

SESSION = {
    "messages": [
        {"role": "user", "content": "What is in one.txt?"},
        {
            "role": "assistant",
            "content": "I will look.",
            "tool_calls": [call(1, "Bash", '{"command":"cat one.txt","description":"Read"}')],
        },
        result(1, "one"),
        {"role": "assistant", "content": None, "tool_calls": [call(2, "Strange", "{}")]},
        result(2, "two"),
        {"role": "assistant", "content": "It says one."},
    ]
}


@pytest.fixture
def claude():
    return convert_rows([SESSION], get_format("openai"), get_format("claude-code")).rows


def test_calls_name_the_tools_of_the_other_agent(claude):
    done = convert_rows(claude, get_format("claude-code"), get_format("codex"))
    calls = [row["payload"] for row in done.rows if row["payload"].get("type") == "function_call"]
    assert [each["name"] for each in calls] == ["exec_command", "Strange"]
    assert calls[0]["arguments"] == '{"cmd":"cat one.txt","description":"Read"}'
    assert done.receipt.codes()["value-respelled"] == 1


@pytest.mark.parametrize("agent", [name for name in _COLUMNS if name != "claude-code"])
def test_and_back(claude, agent):
    start, through = get_format("claude-code"), get_format(agent)
    there = convert_rows(claude, start, through)
    back = convert_rows(there.rows, through, start)
    assert said(read(back.rows, start)) == said(read(claude, start))


def test_elsewhere_names_stay(claude):
    done = convert_rows(claude, get_format("claude-code"), get_format("openai"))
    names = [
        c["function"]["name"] for m in done.rows[0]["messages"] for c in m.get("tool_calls", ())
    ]
    assert names == ["Bash", "Strange"]


def test_rows_of_the_table_have_as_many_arguments_in_each_cell():
    for row in _ROWS:
        assert len(row) == len(_COLUMNS)
        assert len({len(_cell(cell)[1]) for cell in row if cell}) == 1
