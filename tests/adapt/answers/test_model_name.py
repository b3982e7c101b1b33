"""The model of an answer under the name that the client asked for."""

import pytest
from tests.wires import asking, pair, user

from toolglot import Options
from toolglot.adapt.answers.model_name import NameModel, requested_model
from toolglot.events import Started, UsageSeen
from toolglot.ir import Usage

STARTED = Started(id="r", model="theirs")


@pytest.mark.parametrize(
    ("asked", "model", "named"),
    [(True, "theirs", "some-model"), (True, None, ""), (False, "theirs", "")],
)
def test_the_model_has_another_name_only_if_the_provider_was_asked_for_another(asked, model, named):
    request = asking(user("hi")) if asked else None
    ctx = pair("ollama", "ollama", options=Options(model=model), request=request)
    assert requested_model(ctx) == named
    (started,) = NameModel(ctx).feed(STARTED)
    assert started.model == (named or "theirs")


def test_other_events_pass():
    ctx = pair("ollama", "ollama", options=Options(model="m"), request=asking(user("hi")))
    event = UsageSeen(Usage(output=1))
    assert NameModel(ctx).feed(event) == (event,)
