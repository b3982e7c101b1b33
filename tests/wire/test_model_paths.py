"""Paths that name a model, in the two forms that protocols have."""

import pytest

from toolglot.wire.model_paths import path_of, quoted_model, resource_name, split_path

COLON = "/v1beta/models/{model}:generateContent"
SLASH = "/model/{model}/converse"
ARN = "arn:aws:bedrock:us-east-1:1:inference-profile/us.m-v1:0"


@pytest.mark.parametrize(
    ("path", "template", "found"),
    [
        ("/v1beta/models/m:generateContent", COLON, ("m", "generateContent")),
        ("/v1/models/a/b:countTokens?x=1", COLON, ("a/b", "countTokens")),
        ("/v1beta/models/m%3A1:generateContent", COLON, ("m:1", "generateContent")),
        ("/model/us.m-v1:0/converse-stream", SLASH, ("us.m-v1:0", "converse-stream")),
        ("/model/us.m-v1%3A0/converse", SLASH, ("us.m-v1:0", "converse")),
        (f"/model/{ARN}/converse", SLASH, (ARN, "converse")),
        (f"/prefix/model/{ARN.replace('/', '%2F')}/converse", SLASH, (ARN, "converse")),
    ],
)
def test_a_path_names_a_model_and_what_is_asked_of_it(path, template, found):
    assert split_path(path, template) == found


@pytest.mark.parametrize("model", ["m", "us.m-v1:0", ARN, "a b", "publishers/x@1"])
@pytest.mark.parametrize("template", [COLON, SLASH])
def test_a_model_comes_back_out_of_its_path(template, model):
    assert split_path(path_of(template, model), template)[0] == model
    assert split_path(path_of(template, model, "other"), template) == (model, "other")


def test_a_slash_is_kept_where_it_cannot_be_mistaken():
    assert quoted_model("a/b", COLON) == "a/b"
    assert quoted_model("a/b", SLASH) == "a%2Fb"


@pytest.mark.parametrize("name", ["models/m", "tunedModels/mine", "models/a/b"])
def test_a_resource_has_the_name_of_its_collection(name):
    assert resource_name(f"/v1beta/{name}:streamGenerateContent?alt=sse", COLON) == name
