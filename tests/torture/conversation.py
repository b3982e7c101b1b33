"""Conversations in which every text, argument and result has a marker of its own.

A marker says to which conversation it belongs and what it is, in letters and digits that no
protocol escapes. Whatever is lost, doubled or shown to another client is found by looking for them.
"""

import json
import random
import re
from dataclasses import dataclass
from types import ModuleType

from tests.upstreams.server import SPEAKERS, frame
from tests.upstreams.values import Asked, Call, Reply, Say

from toolglot import ir
from toolglot.translate import encode_request

NAMES = tuple(SPEAKERS)
PAIRS = tuple((ours, theirs) for ours in NAMES for theirs in NAMES)
MARKER = re.compile(rb"mk(\d{8})([a-z])(\d{2})km")
TOOL = "look_up"
_AWKWARD = ("", " ", '\n"', "\\n", "é", "😀", "data: {}\n\n", "</tool>", "\r\n", "\u2028", "[DONE]")
"""What stands between markers: what framings and escapes are known to stumble over."""


@dataclass(frozen=True)
class Conversation:
    """One exchange: what is asked, and what the provider is going to answer."""

    number: int
    ours: str
    theirs: str
    stream: bool
    calls: int
    says: bool
    between: str

    def mark(self, kind: str, index: int = 0) -> str:
        """A marker of this conversation."""
        return f"mk{self.number:08d}{kind}{index:02d}km"

    @property
    def text(self) -> str:
        """The text of the answer."""
        return f"{self.mark('t', 0)}{self.between}{self.mark('t', 1)}" if self.says else ""

    @property
    def arguments(self) -> list[dict[str, object]]:
        """The arguments of the calls of the answer, in order."""
        return [
            {"key": self.mark("c", index), "note": self.between, "n": index}
            for index in range(self.calls)
        ]

    @property
    def asked_markers(self) -> list[str]:
        """The markers of the request, each of which the provider must see once."""
        return [self.mark(kind) for kind in "sdqar"]


def draw(number: int, pair: tuple[str, str], rng: random.Random) -> Conversation:
    """A conversation of some shape."""
    calls = rng.choice((0, 1, 1, 2, 3, 12))
    return Conversation(
        number=number,
        ours=pair[0],
        theirs=pair[1],
        stream=rng.random() < 0.8,
        calls=calls,
        says=not calls or rng.random() < 0.7,
        between="".join(rng.choices(_AWKWARD, k=3)),
    )


def target(theirs: str) -> str:
    """The name of the model that is answered by a provider of a protocol."""
    return f"to-{theirs}"


def question(talk: Conversation) -> tuple[str, bytes]:
    """The path and the body of the request, as its client sends it."""
    call = ir.ToolCall(id=f"call_{talk.number:08d}", name=TOOL, arguments=_given(talk))
    messages = (
        ir.Message(role="user", parts=(ir.Text(text=talk.mark("q")),)),
        ir.Message(role="assistant", parts=(call,)),
        ir.Message(
            role="user",
            parts=(ir.ToolResult(id=call.id, parts=(ir.Text(text=talk.mark("r")),)),),
        ),
    )
    schema = {
        "type": "object",
        "properties": {
            "key": {"type": "string"},
            "note": {"type": "string"},
            "n": {"type": "integer"},
        },
    }
    tool = ir.FunctionTool(name=TOOL, description=talk.mark("d"), parameters=schema)
    wire = encode_request(
        ir.Request(
            model=target(talk.theirs),
            system=ir.Message(role="system", parts=(ir.Text(text=talk.mark("s")),)),
            messages=messages,
            tools=(tool,),
            stream=talk.stream,
            max_tokens=99,
        ),
        target=talk.ours,
    )
    query = "&".join(f"{name}={value}" for name, value in wire.query.items())
    return (f"{wire.path}?{query}" if query else wire.path), wire.data()


def _given(talk: Conversation) -> str:
    return json.dumps({"key": talk.mark("a")})


def number_in(body: bytes) -> int:
    """The conversation to which a request belongs, as its first marker says."""
    found = MARKER.search(body)
    return int(found[1]) if found else -1


def foreign(talk: Conversation, data: bytes) -> list[str]:
    """Markers of other conversations."""
    return [each[0].decode() for each in MARKER.finditer(data) if int(each[1]) != talk.number]


def misread(talk: Conversation, path: str, body: bytes) -> list[str]:
    """What a provider finds wrong with a request: lost, doubled, mixed."""
    found = [each[0].decode() for each in MARKER.finditer(body)]
    wrong = [f"{each} came to another request" for each in foreign(talk, body)]
    return wrong + [
        f"{each} came {found.count(each)} times to the provider"
        for each in talk.asked_markers
        if found.count(each) != 1
    ]


# --- what the provider answers --------------------------------------------------------------------


def asked(talk: Conversation, path: str, body: bytes) -> Asked:
    """The request as its provider reads it."""
    return speaker(talk).read(path, json.loads(body))


def speaker(talk: Conversation) -> ModuleType:
    """What writes the provider's protocol."""
    return SPEAKERS[talk.theirs]


def reply(talk: Conversation, request: Asked) -> Reply:
    """The answer, in no protocol in particular."""
    tool = request.tools[0]
    form = speaker(talk).CALL_ID
    calls = [
        Call(tool, arguments, form.format(talk.number * 100 + index))
        for index, arguments in enumerate(talk.arguments)
    ]
    said = [Say(talk.text)] if talk.says else []
    return Reply((*said, *calls))


def whole(talk: Conversation, request: Asked) -> bytes:
    """The answer as one body."""
    return json.dumps(speaker(talk).whole(reply(talk, request), request)).encode()


def pieces(talk: Conversation, request: Asked) -> list[bytes]:
    """The answer as the events of a stream."""
    it = speaker(talk)
    return [frame(event, it) for event in it.events(reply(talk, request), request)]
