"""Search planners for tests."""
import json
import sys

sys.stdin.readline()
print(json.dumps({"type": "hello", "protocol": 1, "methods": ["next"]}), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    params = call["params"]
    parameter, history = params["parameters"][0], params["history"]
    value = parameter["min"] * 2 ** len(history)
    result = {"values": {parameter["name"]: value}}
    if history and history[-1]["metrics"][params["objective"]["metric"]] < 16:
        result = {"done": True, "reason": "the objective fell at %g (seed %d)" % (history[-1]["values"][parameter["name"]], params["seed"])}
    if "wild" in sys.argv and history:
        result = {"values": {parameter["name"]: 1e6}}
    print(json.dumps({"id": call["id"], "result": result}), flush=True)
