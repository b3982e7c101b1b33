"""What was sent of a text, in bounded memory."""

import pytest

from toolglot.wire.sent_text import SentText


@pytest.mark.parametrize("size", [3, 300, 3000])
@pytest.mark.parametrize("kept", [10, 10**6])
def test_what_a_whole_text_has_beyond_it(size, kept):
    sent = SentText(kept)
    assert not sent
    pieces = [f"{number} ä\ud800" for number in range(size)]
    for piece in pieces:
        sent.append(piece)
    text = "".join(pieces)
    assert sent
    assert sent.beyond(text + " and more") == " and more"
    assert sent.beyond(text) == ""
    assert sent.beyond("x" + text) == ""
    assert sent.beyond(text[:-1]) == ""
    assert sent.text() in (None, text)
    assert (sent.text() is None) == (kept == 10 and size > 256)
