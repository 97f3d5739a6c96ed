#!/usr/bin/env bash
# MLflow (PyPI): the results of a run on its server, read back by its own client.
. "$(dirname "$0")/lib.sh"
venv mlflow mlflow
python=$work/mlflow/bin/python
at=$(port); data=$work/mlflow-data
rm -rf "$data" && mkdir -p "$data"
serve mlflow.log "$work/mlflow/bin/mlflow" server --host 127.0.0.1 --port "$at" --workers 1 --backend-store-uri "sqlite:///$data/db" --artifacts-destination "$data/files"
ready "http://127.0.0.1:$at/health"
profile mlflow-run --model m --tokenizer builtin --url 'mock://?ttft=5ms&itl=1ms&tokens=5' --streaming --request-count 20 --concurrency 2 \
  --mlflow-tracking-uri "http://127.0.0.1:$at" --mlflow-experiment bench --mlflow-run-name one --mlflow-tag team:a
grep 'warning: MLflow' "$work/mlflow-run.out" && exit 1
"$python" - "$work/mlflow-run" "http://127.0.0.1:$at" <<'P'
import json, sys, mlflow
folder, uri = sys.argv[1:]
mlflow.set_tracking_uri(uri)
client = mlflow.MlflowClient()
run = client.search_runs([client.get_experiment_by_name("bench").experiment_id])[0]
own = json.load(open(folder + "/profile_export_aiperf.json"))
assert run.info.status == "FINISHED" and run.info.run_name == "one" and run.data.tags["team"] == "a", run.info
assert run.data.metrics["request_count"] == 20 and abs(run.data.metrics["request_latency_p99"] - own["request_latency"]["p99"]) < 1e-9
assert run.data.params["endpoint.type"] == "chat" and json.load(open(folder + "/mlflow_export.json"))["run_id"] == run.info.run_id
copy = client.download_artifacts(run.info.run_id, "profile_export_aiperf.json")
assert json.load(open(copy)) == own
print(f"{len(run.data.metrics)} figures, {len(run.data.params)} parameters, {len(client.list_artifacts(run.info.run_id))} files")
P
