#!/usr/bin/env bash
# MLServer (Python, grpc.aio): the Open Inference Protocol over gRPC, streamed and unary, and over HTTP. Its stream sends responses as they are, without
# the message that Triton puts around them.
. "$(dirname "$0")/lib.sh"
venv mlserver mlserver==1.7.1
model=$work/mlserver-model
mkdir -p "$model"
cat > "$model/model.py" <<'PY'
import asyncio
from mlserver import MLModel
from mlserver.codecs import StringCodec
from mlserver.types import InferenceResponse

WORDS = "one two three four five six".split()


class Words(MLModel):
    async def load(self):
        return True

    def answer(self, text):
        return InferenceResponse(model_name=self.name, outputs=[StringCodec.encode_output("text_output", [text])])

    async def predict(self, payload):
        await asyncio.sleep(0.02)
        return self.answer(" ".join(WORDS))

    async def predict_stream(self, payloads):
        async for _ in payloads:
            for i, word in enumerate(WORDS):
                await asyncio.sleep(0.01)
                yield self.answer(word if i == 0 else " " + word)
PY
http=$(port); grpc=$(port); metrics=$(port)
cat > "$model/settings.json" <<JSON
{"host": "127.0.0.1", "http_port": $http, "grpc_port": $grpc, "metrics_port": $metrics, "parallel_workers": 0, "gzip_enabled": false, "debug": false}
JSON
cat > "$model/model-settings.json" <<'JSON'
{"name": "words", "implementation": "model.Words",
 "inputs": [{"name": "text_input", "datatype": "BYTES", "shape": [-1, 1]}], "outputs": [{"name": "text_output", "datatype": "BYTES", "shape": [-1, 1]}]}
JSON
cd "$model"
PYTHONPATH=. serve mlserver.log "$work/mlserver/bin/mlserver" start .
listening "$http"; listening "$grpc"
common=(--model words --tokenizer builtin --endpoint-type kserve --concurrency 8 --request-count 80 --isl 30 --export-level raw)
profile mlserver-stream "${common[@]}" --streaming --url "grpc://127.0.0.1:$grpc"
profile mlserver-unary "${common[@]}" --grpc-method ModelInfer --url "127.0.0.1:$grpc"
profile mlserver-http "${common[@]}" --url "http://127.0.0.1:$http"
for way in stream unary http; do
  python3 - "$work/mlserver-$way/profile_export.jsonl" "$way" <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
way, value = sys.argv[2], lambda row, tag: row["metrics"].get(tag, {}).get("value")
assert len(rows) == 80 and not any(row.get("error") for row in rows), f"{way}: {len(rows)} records, {[r['error'] for r in rows if r.get('error')][:1]}"
assert all(value(row, "output_sequence_length") == 6 for row in rows), f"{way}: six words are six tokens"
if way == "stream":
    assert all(len(value(row, "inter_chunk_latency")) == 5 for row in rows), "six messages have five gaps"
    assert all(value(row, "time_to_first_token") >= 10 for row in rows), "the first word comes after 10 ms"
    assert all(value(row, "request_latency") >= 60 for row in rows), "the last word comes after 60 ms"
else:
    assert all(value(row, "request_latency") >= 20 for row in rows), f"{way}: the answer comes after 20 ms"
print(f"{way}: 80 requests, as many tokens and instants as the server makes")
PY
done
