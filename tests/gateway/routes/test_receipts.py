"""Receipts over HTTP."""

import asyncio

from tests.gateway.exchanges import asked
from tests.gateway.running import gateway

from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key


def test_a_receipt_belongs_to_whoever_asked(tmp_path):
    path = tmp_path / "d.sqlite"
    with database(path) as db:
        keys = [{"x-api-key": create_key(db, name, 0.0)[0]} for name in ("one", "two")]

    async def run():
        async with gateway(keys=True, database=str(path)) as session:
            wire = asked("openai-chat")
            headers = {"x-request-id": "mine", **keys[0]}
            async with session.post(wire["path"], data=wire["data"], headers=headers) as reply:
                assert reply.status == 200
            found = []
            for given in (*keys, {}):
                async with session.get("/toolglot/receipts/mine", headers=given) as reply:
                    found.append((reply.status, await reply.json()))
            return found

    one, two, nobody = asyncio.run(run())
    assert one[0] == 200
    assert one[1]["provider"] == "demo"
    assert two[0] == 404
    assert "only the latest are stored" in two[1]["error"]["message"]
    assert nobody[0] == 401
