"""my_plugin is an endpoint type: it makes request bodies and reads answers, here those of a chat API."""

import json

from aiperf_plugin import Request, endpoint, run


@endpoint("my_plugin")
class Chat:
    def format(self, turn, history, model, stream, max_tokens, extra):
        messages = [message(t) for t in history] + [message(turn)]
        body = {"model": model, "messages": messages, "stream": stream, **(extra or {})}
        if max_tokens:
            body["max_tokens"] = max_tokens
        return Request(body, headers={"X-Plugin": "my_plugin"})

    def parse(self, message, stream):
        if message == "[DONE]":
            return None
        answer = json.loads(message)
        parsed = {}
        for choice in answer.get("choices", [])[:1]:
            parsed["text"] = choice["delta" if stream else "message"].get("content") or ""
        if answer.get("usage"):
            parsed["usage"] = {k: answer["usage"][k] for k in ("prompt_tokens", "completion_tokens") if k in answer["usage"]}
        return parsed


def message(turn):
    return {"role": turn.get("role") or "user", "content": "".join(turn.get("texts") or [])}


if __name__ == "__main__":
    run()
