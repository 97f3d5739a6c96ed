"""Data exporters for tests."""
import json
import os
import sys

how = sys.argv[1] if len(sys.argv) > 1 else ""
sys.stdin.readline()
print(json.dumps({"type": "hello", "protocol": 1, "methods": ["export"]}), flush=True)
call = json.loads(sys.stdin.readline())
params = call["params"]
files = [{"path": "invented.txt"}]
if how == "fails":
    print(json.dumps({"id": call["id"], "error": {"message": "the disk is full"}}), flush=True)
else:
    if how == "":
        with open(params["records"], encoding="utf-8") as records:
            count = len(records.readlines())
        notes = {"summary": params["summary"]["request_count"]["avg"], "records": count, "model": params["config"]["models"], "key": os.environ.get("OPENAI_API_KEY")}
        with open(os.path.join(params["artifact_directory"], "notes.json"), "w", encoding="utf-8") as out:
            json.dump(notes, out)
        files = [{"path": "notes.json", "description": "Notes"}]
    print(json.dumps({"id": call["id"], "result": {"files": files}}), flush=True)
sys.stdin.read()
