#!/usr/bin/env bash
# Exporters and receivers that others wrote: pages of prometheus_client with every type, as text and as OpenMetrics, node_exporter's (Debian's
# prometheus-node-exporter), a Prometheus (Debian's prometheus) that scrapes our page, a receiver made of OpenTelemetry's own Python messages.
. "$(dirname "$0")/lib.sh"
command -v prometheus > /dev/null || skip "no prometheus (Debian: apt-get install prometheus prometheus-node-exporter)"
command -v prometheus-node-exporter > /dev/null || skip "no prometheus-node-exporter (Debian)"
venv telemetry prometheus_client opentelemetry-proto
python=$work/telemetry/bin/python
client=$(port); open=$(port); node=$(port); otel=$(port); ours=$(port); prom=$(port)
serve pages.log "$python" "$here/pages.py" "$client" "$open"
serve node.log prometheus-node-exporter --web.listen-address="127.0.0.1:$node"
"$python" "$here/otlp.py" "$otel" "$work/otlp.json" > "$work/otlp.log" 2>&1 &
receiver=$!; servers+=("$receiver")
cat > "$work/prometheus.yml" <<Y
global: {scrape_interval: 1s}
scrape_configs: [{job_name: aiperf, static_configs: [{targets: ["127.0.0.1:$ours"]}]}]
Y
rm -rf "$work/prometheus"
serve prometheus.log prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/prometheus" --web.listen-address="127.0.0.1:$prom" --log.level=warn
for p in "$client" "$open" "$node" "$otel" "$prom"; do listening "$p"; done
rm -rf "$work/telemetry-run"
"$aiperf" profile --artifact-dir "$work/telemetry-run" --ui none --no-gpu-telemetry --model m --tokenizer builtin --url 'mock://?ttft=20ms&itl=5ms&tokens=10' --streaming \
  --request-rate 20 --benchmark-duration 8 --server-metrics "127.0.0.1:$client" "127.0.0.1:$open" "127.0.0.1:$node" --server-metrics-formats json csv jsonl parquet \
  --metrics-listen "127.0.0.1:$ours" --otel-url "http://127.0.0.1:$otel" --stream metrics timing traces --otel-resource-attributes team=a > "$work/telemetry-run.out" 2>&1 ||
  { tail -n 20 "$work/telemetry-run.out"; exit 1; }
kill "$receiver"; wait "$receiver" || true
"$python" - "$work" "$client" "$open" "$node" "$prom" <<'P'
import json, sys, urllib.parse, urllib.request
work, client, openmetrics, node, prom = sys.argv[1:]
out = json.load(open(work + "/telemetry-run/server_metrics_export.json"))
run = json.load(open(work + "/telemetry-run/profile_export_aiperf.json"))
assert not out["summary"].get("error_summary"), out["summary"]["error_summary"]
series = lambda name, port: [s for s in out["metrics"][name]["series"] if f":{port}/" in s["endpoint_url"]]
for page in (client, openmetrics):
    a, b = (next(s["stats"]["total"] for s in series("jobs", page) if s["labels"]["kind"] == k) for k in ("a", 'b"\\'))
    took = series("took_seconds", page)[0]
    assert a == 2 * b > 0 and out["metrics"]["took_seconds"]["unit"] == "seconds", (a, b)
    assert took["stats"]["count"] == 8 * b and abs(took["stats"]["sum"] - 9 * b) < 1e-6 and took["buckets"] == {"1.0": 6 * b, "2.0": 6 * b, "4.0": 8 * b, "+Inf": 8 * b}, took
    assert 0 < took["stats"]["p50_estimate"] <= 1 and 2 < took["stats"]["p90_estimate"] <= 4, took
    assert series("build_info", page)[0]["labels"] == {"version": "1"} and series("level", page)[0]["stats"]["max"] < 7
# The state is a gauge in the text, and a state set, which has no figures, in OpenMetrics.
assert len(series("state", client)) == 2 and not series("state", openmetrics)
assert not any(n.endswith("_created") or n.startswith("size_bytes") for n in out["metrics"]) and "build_info" in out["metrics"], sorted(out["metrics"])
nodes = [n for n in out["metrics"] if n.startswith("node_")]
assert len(nodes) > 100 and "node_cpu_seconds" in nodes, len(nodes)
count = run["request_count"]["avg"]
ask = lambda q: json.load(urllib.request.urlopen(f"http://127.0.0.1:{prom}/api/v1/query?query=" + urllib.parse.quote(q)))["data"]["result"]
seen = ask('max_over_time(aiperf_request_latency_ms_count[1m])')
assert len(seen) == 1 and 0.5 * count < float(seen[0]["value"][1]) <= count and seen[0]["metric"]["model"] == "m", (seen, count)
assert ask('max_over_time(up{job="aiperf"}[1m])')[0]["value"][1] == "1"
assert len(ask('last_over_time(aiperf_time_to_first_token_ms{quantile="0.99"}[1m])')) == 1
got = json.load(open(work + "/otlp.json"))
unit, n, total = got["metrics"]["gen_ai.client.operation.duration"]
assert unit == "s" and n == count == len(got["spans"]) and abs(total - run["request_latency"]["sum" if "sum" in run["request_latency"] else "avg"] / 1e3 * (1 if "sum" in run["request_latency"] else count)) < 1e-3 * total, (got["metrics"], count)
assert all(s[0] == "chat m" and s[1] == 3 and s[3] > s[2] and s[4] for s in got["spans"]) and got["resource"]["team"] == "a"
print(f"{len(nodes)} metrics of node_exporter; {count:.0f} requests told to Prometheus and OpenTelemetry")
P
