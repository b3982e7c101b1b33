from collections import Counter

from toolglot.gateway.config import Config, Provider, RouteConfig
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.gateway.relay.routing import Router

NAMES = {"one": 1.0, "two": 3.0, "three": 1.0}


def router(*routes):
    providers = {
        name: Provider(protocol="openai-chat", base_url=f"http://{name}/v1", weight=weight)
        for name, weight in NAMES.items()
    }
    config = Config(providers=providers, routes=tuple(RouteConfig(**route) for route in routes))
    return Router(config, make_upstreams(config, {}))


def names(targets):
    return [(target.name, target.model) for target in targets]


def test_the_first_route_that_matches_counts():
    found = router(
        {"match": "claude-*", "to": ("one/gpt-5.4", "two/*")},
        {"match": "*", "to": "three/*"},
    )
    assert names(found.targets("claude-x")) == [("one", "gpt-5.4"), ("two", "claude-x")]
    assert names(found.targets("other")) == [("three", "other")]


def test_a_model_may_name_its_provider():
    found = router({"match": "*", "to": "one/*"})
    assert names(found.targets("two/a/b")) == [("two", "a/b")]
    assert names(found.targets("demo/anything")) == [("demo", "anything")]
    assert names(found.targets("vendor/model")) == [("one", "vendor/model")]


def test_no_route_no_target():
    assert router({"match": "x", "to": "one/*"}).targets("y") == []


def test_without_routes_the_vendor_of_the_model_answers():
    config = Config(
        providers={"openai": Provider(profile="openai"), "anthropic": Provider(profile="anthropic")}
    )
    found = Router(config, make_upstreams(config, {}))
    assert found.targets("claude-opus-4-8")[0].name == "anthropic"
    assert found.targets("gpt-5.4")[0].name == "openai"
    assert found.targets("unheard-of")[0].name == "openai"
    assert names(Router(Config(), {}).targets("any")) == [("demo", "any")]


def test_weights():
    found = router({"match": "*", "to": ("one/*", "two/*"), "pick": "weighted"})
    first = Counter(found.targets("m")[0].name for _ in range(2000))
    assert 2.0 < first["two"] / first["one"] < 4.5
    assert len(found.targets("m")) == 2


def test_the_least_busy_first():
    found = router({"match": "*", "to": ("one/*", "two/*"), "pick": "least-busy"})
    found.upstreams["one"].health.busy = 1
    found.upstreams["two"].health.busy = 2
    assert found.targets("m")[0].name == "two", "three times the weight"
    found.upstreams["two"].health.busy = 4
    assert found.targets("m")[0].name == "one"


def test_a_conversation_stays_where_its_cache_is():
    to = ("one/*", "two/*", "three/*")
    found = router({"match": "*", "to": to, "pick": "affinity"})
    homes = {talk: found.targets("m", talk)[0].name for talk in map(str.encode, "abcdefghij")}
    assert len(set(homes.values())) > 1
    assert all(found.targets("m", talk)[0].name == home for talk, home in homes.items())
    fewer = router({"match": "*", "to": to[:2], "pick": "affinity"})
    for talk, home in homes.items():
        if home != "three":
            assert fewer.targets("m", talk)[0].name == home
