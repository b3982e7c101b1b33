"""The bar: on a terminal only, gone at the end."""

import io

from toolglot.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def drawn(total, done, stream, out):
    with Progress(total, stream, out) as progress:
        for _ in range(done):
            progress.advance()
    return stream.getvalue()


def test_a_terminal_sees_how_much_is_done_and_nothing_stays():
    text = drawn(4, 4, Terminal(), io.StringIO())
    assert "█" * 7 + "░" * 23 + " 1/4" in text
    assert "█" * 30 + " 4/4" in text
    assert text.endswith("\r\x1b[K")


def test_nobody_else_sees_anything():
    assert drawn(4, 4, io.StringIO(), io.StringIO()) == ""
    assert drawn(4, 4, Terminal(), Terminal()) == ""
    assert drawn(0, 4, Terminal(), io.StringIO()) == ""


def test_many_lines_are_not_many_bars():
    text = drawn(100_000, 100_000, Terminal(), io.StringIO())
    assert text.count("\r") <= 201
