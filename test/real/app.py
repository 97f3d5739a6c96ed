"""An ASGI application that streams a chat answer: as many events as tokens were asked for, 5 ms apart."""
import asyncio
import json


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": message["type"] + ".complete"})
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    ask = json.loads(body)
    words = ask.get("max_completion_tokens") or ask.get("max_tokens") or 8
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    for i in range(words):
        await asyncio.sleep(0.005)
        # The protocol that the server saw is part of the answer.
        text = " hi" if i else scope["http_version"]
        event = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}
        await send({"type": "http.response.body", "body": b"data: " + json.dumps(event).encode() + b"\n\n", "more_body": True})
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})
