"""An endpoint for tests: it speaks the protocol by hand and does what the built-in type chat does with texts."""
import json
import sys

how = sys.argv[1] if len(sys.argv) > 1 else ""
calls = 0


def message(turn):
    return {"role": turn.get("role") or "user", "content": "".join(turn["texts"])}


def format(p):
    global calls
    calls += 1
    if how == "dies" and calls > 3:
        sys.exit("out of paper")
    if how == "bodiless":
        return {"body": None}
    body = {"messages": [message(t) for t in p["history"] + [p["turn"]]], "model": p["model"], "stream": p["stream"]}
    if p["max_tokens"] is not None:
        body["max_completion_tokens"] = p["max_tokens"]
    if p["stream"]:
        body["stream_options"] = {"include_usage": True}
    return {"body": {**body, **p["extra"]}, "headers": {"X-Talk": "yes"}}


def parse_one(text, stream):
    if text == "[DONE]":
        return None
    answer, said = json.loads(text), {}
    for choice in answer.get("choices", [])[:1]:
        said["text"] = choice["delta" if stream else "message"].get("content") or ""
        if choice.get("finish_reason"):
            said["finish_reason"] = choice["finish_reason"]
    usage = answer.get("usage")
    if usage:
        said["usage"] = {k: usage[k] for k in ("prompt_tokens", "completion_tokens", "total_tokens") if k in usage}
    return said


def parse(p):
    said = [parse_one(m, p["stream"]) for m in p["messages"]]
    return {"messages": said[:-1] if how == "short" else said}


sys.stdin.readline()
print(json.dumps({"type": "hello", "protocol": 1, "methods": ["format", "parse"]}), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    if how == "silent" and call["method"] == "parse":
        continue
    result = {"format": format, "parse": parse}[call["method"]](call["params"])
    print(json.dumps({"id": call["id"], "result": result}), flush=True)
