"""Which route a request takes."""

import pytest

from toolglot.http1.url_router import Found, UrlRouter


@pytest.fixture
def router():
    made = UrlRouter()
    for method, path in [
        ("GET", "/"),
        ("POST", "/v1/messages"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/{model:.+}"),
        ("POST", "/v1/models/{call:.+}"),
        ("GET", "/v1/items/{id}"),
        ("DELETE", "/v1/items/{id}"),
        ("GET", "/v1/items/{id}/parts/{part}"),
    ]:
        made.add(method, path, f"{method} {path}")
    return made


@pytest.mark.parametrize(
    ("method", "path", "route", "match"),
    [
        ("GET", "/", "GET /", {}),
        ("HEAD", "/", "GET /", {}),
        ("POST", "/v1/messages", "POST /v1/messages", {}),
        ("GET", "/v1/models/a/b", "GET /v1/models/{model:.+}", {"model": "a/b"}),
        ("GET", "/v1/models/a%2Fb%3F", "GET /v1/models/{model:.+}", {"model": "a/b?"}),
        ("POST", "/v1/models/m:do", "POST /v1/models/{call:.+}", {"call": "m:do"}),
        ("DELETE", "/v1/items/x.1", "DELETE /v1/items/{id}", {"id": "x.1"}),
        ("GET", "/v1/items/x/parts/y", "GET /v1/items/{id}/parts/{part}", {"id": "x", "part": "y"}),
    ],
)
def test_the_route_of_a_request(router, method, path, route, match):
    assert router.find(method, path) == Found(route, match)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/messages", {"POST"}),
        ("POST", "/v1/items/x", {"GET", "DELETE"}),
        ("PUT", "/v1/models/m", {"GET", "POST"}),
        ("GET", "/v1/items/x/y", set()),
        ("GET", "/v1/items/", set()),
        ("GET", "/v1/message", set()),
        ("GET", "/v1/messages/", set()),
        ("GET", "", set()),
    ],
)
def test_what_has_no_route_is_told_what_is_allowed(router, method, path, allowed):
    assert router.find(method, path) == allowed


def test_the_first_of_two_routes_counts(router):
    router.add("GET", "/", "other")
    router.add("GET", "/v1/items/{id}", "other")
    assert router.find("GET", "/").route == "GET /"
    assert router.find("GET", "/v1/items/x").route == "GET /v1/items/{id}"


def test_a_path_is_no_pattern(router):
    router.add("GET", "/a.b/{x}", "dot")
    assert router.find("GET", "/aXb/1") == set()
