"""Who is let in, and what is written down at the end."""

import asyncio

import pytest
from tests.gateway.handling import made_request

from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.config import Server
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.request_info import protocol_of
from toolglot.gateway.incoming import read_incoming
from toolglot.gateway.routes.admission import Admission
from toolglot.gateway.storage.backends import open_storage
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key
from toolglot.gateway.telemetry.request_telemetry import Telemetry


def admitted(server, headers):
    http = made_request("POST", "/v1/messages", headers=headers)
    telemetry = Telemetry()

    async def run():
        storage = open_storage(server)
        admission = Admission(AccessControl(storage.keys, storage.ledger), telemetry)
        followed = admission.begin(http, "anthropic")
        try:
            known = await admission.identify(http, followed)
            request = read_incoming(http, "anthropic", http.path, b'{"model":"m"}', known.holder)
            await admission.check(request, known, followed)
            holder = await admission.authenticate(http)
            owner = holder.id if holder else ""
            admission.end(followed, known)
        finally:
            await storage.close()
        return request, followed.record, owner

    return asyncio.run(run()), http, telemetry


def test_without_keys_anyone_is_let_in():
    (request, seen, owner), http, telemetry = admitted(Server(), {"x-api-key": "any"})
    assert (request.holder, request.key, owner) == (None, "any", "")
    assert (seen.asked_model, seen.key_id) == ("m", "")
    assert protocol_of(http) == "anthropic"
    assert 'toolglot_open_requests{client="anthropic",worker="0"} 0' in telemetry.metrics.text()


def test_with_keys_only_their_holders_are(tmp_path):
    path = tmp_path / "d.sqlite"
    with database(path) as db:
        token, key = create_key(db, "one", 0.0)
    server = Server(keys=True, database=str(path))
    (request, seen, owner), _, _ = admitted(server, {"x-api-key": token})
    assert request.holder.id == request.owner == seen.key_id == owner == key.id
    with pytest.raises(RequestRejectedError, match="a key is needed"):
        admitted(server, {})


def test_a_key_is_held_to_its_models(tmp_path):
    path = tmp_path / "d.sqlite"
    with database(path) as db:
        token, _ = create_key(db, "one", 0.0, models=("other",))
    with pytest.raises(RequestRejectedError, match="may not use the model m"):
        admitted(Server(keys=True, database=str(path)), {"x-api-key": token})
