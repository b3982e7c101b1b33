"""Laws of schemas: whatever a client declares, the target can take, and arguments come back."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.laws.corpus import PAIRS, PATH
from tests.schema.generated import conforming, forbidden, is_valid, schemas
from toolglot.registry import get_protocol
from toolglot.schema.dialects import DIALECTS
from toolglot.schema.narrow import narrow
from toolglot.schema.openapi import from_openapi

slow_ok = settings(
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ]
)
dialects = pytest.mark.parametrize("dialect", DIALECTS)


@dialects
@given(data=st.data())
@slow_ok
def test_x_21_no_schema_breaks_a_narrower_or_its_rules(dialect: str, data: Any) -> None:
    """X-21, case-22: total, pure, within the rules, and done after one time."""
    schema = data.draw(schemas(closed=data.draw(st.booleans())))
    kept = copy.deepcopy(schema)
    narrowed = narrow(schema, DIALECTS[dialect])
    assert schema == kept, "the client's schema is not touched"
    if narrowed is None:
        assert DIALECTS[dialect].closed
        return
    assert forbidden(narrowed.schema, dialect) == []
    again = narrow(narrowed.schema, DIALECTS[dialect])
    assert again is not None
    assert again.schema is narrowed.schema, "twice is once"
    assert again.plan is None


@dialects
@given(data=st.data())
@slow_ok
def test_case_23_arguments_come_back_as_they_were_declared(dialect: str, data: Any) -> None:
    """case-23, X-21: what a client may be called with can be said to the target, and comes back."""
    rules = DIALECTS[dialect]
    schema = data.draw(schemas(closed=rules.closed))
    value = data.draw(conforming(schema))
    assume(value is not None)
    narrowed = narrow(schema, rules)
    assume(narrowed is not None)
    told = narrowed.send(value)
    assert narrowed.widen(told) == value
    assert json.dumps(narrowed.widen(told)) == json.dumps(value), "in its order, 1 and true apart"
    assert is_valid(from_openapi(narrowed.schema), told)
