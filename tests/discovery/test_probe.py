"""A probe carries the key only where it is said how, and its response says how it went."""

import pytest

from toolglot.discovery.probe import AUTHS, Probe, ProbeResponse


@pytest.mark.parametrize("auth", ["", *AUTHS])
def test_the_key_is_sent_as_the_probe_says(auth):
    probe = Probe(name="hello", method="GET", url="http://a.test", headers={"a": "b"}, auth=auth)
    sent = probe.signed("sk-1")
    assert sent.pop("a") == "b"
    usual = {"Authorization": "Bearer sk-1"} if auth == "bearer" else {auth: "sk-1"}
    assert sent == (usual if auth else {})


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (199, ""),
        (200, "ok"),
        (299, "ok"),
        (300, ""),
        (400, "refused"),
        (401, "locked"),
        (403, "locked"),
        (404, ""),
        (422, "refused"),
        (429, ""),
        (500, "refused"),
        (503, ""),
    ],
)
def test_what_a_status_says(status, said):
    response = ProbeResponse(status=status)
    assert {word for word in ("ok", "refused", "locked") if getattr(response, word)} == (
        {said} if said else set()
    )
    assert response.no == ("refused" if status < 500 else "fails")


def test_headers_are_found_in_any_case():
    response = ProbeResponse(headers={"Content-TYPE": "text/html"})
    assert response.header("content-type") == "text/html"
    assert response.header("server") == ""
