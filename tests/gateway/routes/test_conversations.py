"""Conversations through the official client."""

import openai
import pytest
from tests.gateway.scripts import Script, running, says


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_responses_share_a_conversation(name):
    """S1-06: whoever answers gets the items of the conversation first."""
    script = Script(name, says("Hello.", 1), says("Fine.", 2), says("Right.", 3))

    async def use(client, _session):
        made = await client.conversations.create(
            items=[{"type": "message", "role": "user", "content": "I am Ann."}],
            metadata={"topic": "names"},
        )
        one = await client.responses.create(model="m", input="Hi", conversation=made.id)
        two = await client.responses.create(
            model="m", input="How are you?", conversation={"id": made.id}
        )
        if name != "openai-responses":
            assert two.conversation.id == made.id
        listed = await client.conversations.items.list(made.id, order="asc")
        texts = [item.content[0].text for item in listed.data]
        assert texts == ["I am Ann.", "Hi", "Hello.", "How are you?", "Fine."]
        assert listed.data[2].id == one.output[0].id
        # A response of a conversation can be continued without it, from where it was.
        await client.responses.create(model="m", input="Who?", previous_response_id=one.id)

    running(script, use)
    assert script.texts(1) == ["I am Ann.", "Hi", "Hello.", "How are you?"]
    if name != "openai-responses":
        assert script.texts(2) == ["I am Ann.", "Hi", "Hello.", "Who?"]
    assert "conversation" not in script.bodies[0]


def test_a_conversation_is_made_changed_and_deleted():
    async def use(client, session):
        made = await client.conversations.create()
        assert made.metadata == {}
        changed = await client.conversations.update(made.id, metadata={"a": "b"})
        assert (await client.conversations.retrieve(made.id)) == changed
        assert changed.metadata == {"a": "b"}
        added = await client.conversations.items.create(
            made.id,
            items=[
                {"role": "user", "content": "One"},
                {"role": "assistant", "content": "Two"},
            ],
        )
        one, two = added.data
        assert two.content[0].type == "output_text"
        found = await client.conversations.items.retrieve(two.id, conversation_id=made.id)
        assert found == two
        await client.conversations.items.delete(two.id, conversation_id=made.id)
        left = await client.conversations.items.list(made.id)
        assert [item.id for item in left.data] == [one.id]
        with pytest.raises(openai.NotFoundError):
            await client.conversations.items.retrieve(two.id, conversation_id=made.id)
        gone = await client.conversations.delete(made.id)
        assert gone.deleted
        for call in (
            client.conversations.retrieve(made.id),
            client.conversations.delete(made.id),
            client.responses.create(model="m", input="Hi", conversation=made.id),
        ):
            with pytest.raises(openai.NotFoundError, match=made.id):
                await call
        for wrong in ({"metadata": 1}, {"items": 1}, {"items": [1]}):
            async with session.post("/v1/conversations", json=wrong) as reply:
                assert reply.status == 400

    running(Script("openai-chat"), use)
