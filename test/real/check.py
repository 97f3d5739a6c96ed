"""Compares the records of a run with what its server said of itself.

usage: check.py FOLDER REQUESTS [--usage] [--output N] [--chunks N]

--usage: the counts of tokens are the server's own in every record. --output N: every answer has N tokens. --chunks N: every answer came in N events
with content.
"""
import argparse
import json
import os
import sys

args = argparse.ArgumentParser()
args.add_argument("folder")
args.add_argument("requests", type=int)
args.add_argument("--usage", action="store_true")
args.add_argument("--output", type=int)
args.add_argument("--chunks", type=int)
args = args.parse_args()

wrong, equal = [], 0
with open(os.path.join(args.folder, "profile_export.jsonl")) as f:
    records = [json.loads(line) for line in f]
if len(records) != args.requests:
    wrong.append(f"{len(records)} records, want {args.requests}")
for i, record in enumerate(records):
    if record.get("error"):
        wrong.append(f"record {i}: {record['error']}")
        continue
    value = {name: m["value"] for name, m in record["metrics"].items()}
    pairs = []
    if args.usage:
        pairs += [("input_sequence_length", value.get("usage_prompt_tokens")), ("output_sequence_length", value.get("usage_completion_tokens"))]
    if args.output is not None:
        pairs.append(("output_sequence_length", args.output))
    for name, want in pairs:
        if want is None or value.get(name) != want:
            wrong.append(f"record {i}: {name} {value.get(name)}, the server says {want}")
    if args.chunks is not None:
        gaps = value.get("inter_chunk_latency") or []
        if len(gaps) + 1 != args.chunks:
            wrong.append(f"record {i}: {len(gaps) + 1} events with content, want {args.chunks}")
        if gaps and not value["time_to_first_token"] + sum(gaps) <= value["request_latency"] + 1e-6:
            wrong.append(f"record {i}: TTFT and gaps are longer than the latency")
    equal += 1
print(f"{equal} of {args.requests} records compared, {len(wrong)} differences")
for line in wrong[:10]:
    print("  " + line)
sys.exit(bool(wrong))
