import pytest

from toolglot.attempts import Candidate
from toolglot.gateway.config import Config, ConfigError, Provider
from toolglot.gateway.relay.providers import Health, Keys, make_upstreams


def made(environ=None, **fields):
    return make_upstreams(Config(providers={"it": Provider(**fields)}), environ or {})["it"]


def test_a_provider_is_asked_in_the_clients_own_protocol_if_it_speaks_it():
    upstream = made(profile="openai")
    assert upstream.protocol_for("openai-responses") == "openai-responses"
    assert upstream.protocol_for("anthropic", "gpt-5.4") == "openai-responses"
    assert upstream.protocol_for("openai-chat", "gpt-5.4") == "openai-chat"
    assert upstream.protocol_for("openai-chat", "gpt-5.1-codex") == "openai-responses"
    assert made(profile="llama.cpp").protocol_for("openai-responses") == "openai-chat"
    pinned = made(profile="openai", protocol="openai-responses")
    assert pinned.protocol_for("openai-chat") == "openai-responses"


def test_addresses():
    upstream = made(profile="openai", base_url="http://127.0.0.1:9100/v1/")
    url = upstream.url("openai-responses", "/v1/responses", "m")
    assert url == "http://127.0.0.1:9100/v1/responses"
    gemini = made(protocol="gemini", base_url="http://127.0.0.1:1/v1beta")
    path = "/v1/models/g:generateContent"
    assert gemini.url("gemini", path, "g") == "http://127.0.0.1:1/v1beta/models/g:generateContent"


def test_keys_come_from_the_configuration_or_under_their_usual_name():
    """S4-19: the headers by which a client names itself are sent."""
    upstream = made({"K": "one"}, profile="anthropic", api_key="env:K", headers={"X-Title": "us"})
    assert upstream.headers(*upstream.keys.order(0.0)) == {
        "x-api-key": "one",
        "anthropic-version": "2023-06-01",
        "X-Title": "us",
    }
    assert made({"OPENAI_API_KEY": "two"}, profile="openai").keys.order(0.0) == ["two"]
    with pytest.raises(ConfigError, match=r"providers\.it\.api_key: .*K is not set"):
        made(profile="openai", api_key="env:K")


def test_a_key_goes_where_the_provider_wants_it():
    url = "http://127.0.0.1:1/v1"
    plain = made(protocol="openai-chat", base_url=url, auth="api-key")
    assert plain.headers("k") == {"api-key": "k"}
    usual = made(protocol="anthropic", base_url=url, auth="Authorization")
    assert usual.headers("k")["Authorization"] == "Bearer k"


def test_keys_take_turns_and_a_refused_one_comes_last():
    keys = Keys(("a", "b"))
    assert [keys.order(0.0) for _ in range(3)] == [["a", "b"], ["b", "a"], ["a", "b"]]
    keys.cool("b", 10.0)
    assert [keys.order(5.0) for _ in range(4)] == [["a", "b"]] * 4
    assert {keys.order(11.0)[0] for _ in range(4)} == {"a", "b"}
    keys.cool("a", 20.0)
    keys.cool("b", 20.0)
    assert sorted(keys.order(12.0)) == ["a", "b"]
    assert Keys(()).order(0.0) == []


def test_how_often_a_provider_is_asked():
    url, environ = "http://127.0.0.1:1/v1", {"A": "a", "B": "b"}
    both = ("env:A", "env:B")
    two = made(environ, protocol="openai-chat", base_url=url, api_key=both, retries=3)
    assert two.candidate(0.0) == Candidate(retries=3, keys=2)
    assert sorted(two.keys_for("theirs")) == ["a", "b"]
    for _ in range(5):
        two.health.bad(100.0)
    assert two.candidate(101.0).resting
    passing = made(environ, protocol="openai-chat", base_url=url, api_key=("client", *both))
    assert passing.candidate(0.0).keys == 1
    assert passing.keys_for("theirs") == ["theirs"]
    assert made(protocol="openai-chat", base_url=url).keys_for("theirs") == [None]


def test_how_busy_a_provider_is():
    health = Health()

    def fails():
        with health, health:
            assert health.busy == 2
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        fails()
    assert health.busy == 0


def test_a_provider_that_fails_again_and_again_rests():
    health = Health()
    for _ in range(4):
        health.bad(100.0)
    assert not health.resting(100.0)
    health.bad(100.0)
    assert health.resting(101.0)
    assert not health.resting(121.0)
    health.good()
    assert not health.resting(101.0)


def test_a_provider_that_answered_again_may_fail_as_often_as_before():
    health = Health()
    for _ in range(5):
        health.bad(0.0)
    assert health.resting(1.0)
    health.good()
    for _ in range(4):
        health.bad(2.0)
    assert not health.resting(3.0)
    health.bad(4.0)
    assert health.resting(5.0)


def test_what_is_known_about_a_provider_becomes_options():
    options = made(profile="mistral").options("mistral-large", "mistral-large", strict=True)
    assert options.provider == "mistral"
    assert options.strict
    assert options.model is None
    assert made(profile="openai").options("gpt-5.4", "claude", strict=False).model == "gpt-5.4"


def test_calls_in_text_and_models_without_tools():
    url = "http://127.0.0.1:1/v1"
    plain = made(protocol="openai-chat", base_url=url)
    assert plain.options("gpt-5.4", "x", strict=False).dialect is None
    assert plain.options("qwen3-coder-30b", "x", strict=False).dialect == "qwen3_coder"
    off = made(protocol="openai-chat", base_url=url, dialect="off")
    assert off.options("qwen3-coder-30b", "x", strict=False).dialect is None
    emulated = made(protocol="openai-chat", base_url=url, tools="emulated:hermes")
    assert emulated.options("tiny", "x", strict=False).tools == "emulated:hermes"


def test_the_built_in_model_keeps_its_name():
    with pytest.raises(ConfigError, match="demo"):
        make_upstreams(Config(providers={"demo": Provider(profile="openai")}), {})


def options_of(model, **fields):
    return made(**fields).options(model, model, strict=False)


def test_models_of_several_vendors_do_not_read_each_others_state():
    """case-34"""
    url = "http://127.0.0.1:1/v1"
    router = {"protocol": "openai-chat", "base_url": url}
    assert options_of("anthropic/claude-opus-5", **router).issuer == "it:anthropic"
    assert options_of("google/gemini-3-pro", **router).issuer == "it:google"
    assert options_of("unheard-of", **router).issuer == "it"
    assert options_of("claude-opus-5", profile="anthropic").issuer == "it"
    assert options_of("claude-opus-5", issuer="both", **router).issuer == "both"


def test_clients_name_themselves_to_their_own_provider():
    url = "http://127.0.0.1:1/v1"
    assert options_of("m", profile="anthropic").attribution == "keep"
    assert options_of("m", profile="vllm", base_url=url).attribution == "drop"
    assert options_of("m", protocol="anthropic", base_url=url).attribution == "keep"


def test_what_was_found_for_a_model_is_found_again_however_many_models_there_are():
    upstream = made(protocol="openai-chat", base_url="http://a/v1")
    first = upstream.options("m", "m", strict=False)
    assert upstream.options("m", "m", strict=False) is first
    assert upstream.options("m", "n", strict=False).model == "m"
    assert upstream.options("m", "m", strict=True).strict
    for number in range(1000):
        assert upstream.url("openai-chat", "/v1/x", str(number)) == "http://a/v1/x"
    assert upstream.options("m", "m", strict=False) == first


def test_windows():
    options = options_of("m", profile="openai", context_window=32_000, client_window=200_000)
    assert (options.window, options.client_window) == (32_000, 200_000)


def test_what_was_learnt_of_a_provider_outlives_a_new_configuration():
    before = Config(providers={"a": Provider(profile="openai"), "b": Provider(profile="openai")})
    known = make_upstreams(before, {"OPENAI_API_KEY": "one"})
    after = Config(providers={"a": Provider(profile="openai"), "b": Provider(profile="google")})
    again = make_upstreams(after, {"OPENAI_API_KEY": "one"}, known=known)
    assert again["a"] is known["a"]
    assert again["b"] is not known["b"]
    rotated = make_upstreams(before, {"OPENAI_API_KEY": "two"}, known=known)
    assert rotated["a"].keys.order(0.0) == ["two"]


def test_a_provider_that_repeats_a_key_does_not_give_it_away():
    key = "sk-live-0123456789abcdef"
    said = Keys((key, "")).hidden(b'{"error": "no such key: sk-live-0123456789abcdef"}')
    assert said == '{"error": "no such key: sk-…cdef"}'.encode()


@pytest.mark.parametrize(
    ("whole", "own", "mends"),
    [("on", None, True), ("off", None, False), ("off", "on", True), ("on", "off", False)],
)
def test_whether_a_provider_is_mended(whole, own, mends):
    given = Provider(protocol="openai-chat", base_url="http://a/v1", mend=own)
    config = Config(mend=whole, providers={"them": given})
    made = make_upstreams(config, {})
    assert made["them"].mends is mends
    assert made["them"].options("m", "m", strict=False).mend == ("on" if mends else "off")
    assert make_upstreams(config, {}, known=made)["them"] is made["them"]
    other = Config(mend="off" if whole == "on" else "on", providers={"them": given})
    changed = make_upstreams(other, {}, known=made)["them"]
    assert (changed is made["them"]) is (own is not None)
