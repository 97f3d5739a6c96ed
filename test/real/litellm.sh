#!/usr/bin/env bash
# The proxy of litellm (Python, uvicorn) with answers that it makes up itself: streamed and not, with usage as it reports it.
. "$(dirname "$0")/lib.sh"
INSTALL_LIMIT=600 venv litellm 'litellm[proxy]'
cat > "$work/litellm.yaml" <<'YAML'
model_list:
  - model_name: m
    litellm_params: {model: openai/m, api_key: none, mock_response: "one two three four five six seven eight nine ten"}
YAML
at=$(port)
export LITELLM_MASTER_KEY=sk-0123456789abcdef0123456789abcdef
serve litellm.log "$work/litellm/bin/litellm" --config "$work/litellm.yaml" --host 127.0.0.1 --port "$at" --telemetry False
listening "$at"
common=(--api-key "$LITELLM_MASTER_KEY" --model m --tokenizer builtin --url "http://127.0.0.1:$at" --concurrency 4 --request-count 40 --isl 30)
profile litellm-whole "${common[@]}"
check litellm-whole 40
profile litellm-stream "${common[@]}" --streaming
check litellm-stream 40
