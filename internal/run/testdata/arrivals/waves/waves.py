"""Arrival patterns for tests."""
import json
import random
import sys

how = sys.argv[1] if len(sys.argv) > 1 else ""
sys.stdin.readline()
print(json.dumps({"type": "hello", "protocol": 1, "methods": ["intervals"]}), flush=True)
for n, line in enumerate(sys.stdin):
    call = json.loads(line)
    params = call["params"]
    gaps = random.Random("%d %d" % (params["seed"], params["first"]))
    intervals = [2 * gaps.random() / params["rate"] for _ in range(params["count"])]
    if how == "stops":
        intervals = [0] * params["count"]
    if how == "ends" and n == 1:
        sys.exit("no more gaps")
    print(json.dumps({"id": call["id"], "result": {"intervals_s": intervals}}), flush=True)
