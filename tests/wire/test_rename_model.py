import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from toolglot.wire.rename_model import RenameModel

STREAM = (
    b'data: {"model":"theirs","text":"line\xe2\x80\xa8end"}\n\n'
    b': a comment about "model"\n\n'
    b'event: x\r\ndata:{"message":{"model":"theirs","deep":{"model":"kept"}}}\r\n\r\n'
    b'data: {"text":"\\"model\\":\\"theirs\\""}\n\n'
    b'data: "model"\n'
    b'{"model":"theirs"}\n'
    b'data: {"model":'
)
EXPECTED = STREAM.replace(b'{"model":"theirs"', b'{"model":"ours"')


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_only_the_places_of_the_model_change_wherever_it_is_cut(cuts):
    relabel = RenameModel(("model", "message.model"), "ours")
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in itertools.pairwise(edges)]
    written = b"".join(map(relabel.feed, pieces)) + relabel.close()
    assert written == EXPECTED


def test_a_whole_answer():
    body = json.loads('{"message":{"model":"theirs"},"model":3}')
    renamed = RenameModel(("model", "message.model"), "ours").body(body)
    assert renamed == {"message": {"model": "ours"}, "model": 3}
