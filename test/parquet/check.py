"""check.py AIPERF: server_metrics_export.parquet as pyarrow and DuckDB read it: schema, metadata and every value, against pages whose law is
known. Page k of the stub has a gauge k, a counter 5 k and a histogram with 2 k observations of 0.5 and k of 4."""
import http.server, json, subprocess, sys, tempfile, threading
import duckdb, pyarrow as pa, pyarrow.parquet as pq

served = 0
class Stub(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        global served
        served += 1
        k = served
        body = f"""# HELP queue Requests that wait
# TYPE queue gauge
queue{{model="m",zone="a\\"b"}} {k}
# TYPE work counter
work_total {5 * k}
# TYPE lat_seconds histogram
lat_seconds_bucket{{le="1"}} {2 * k}
lat_seconds_bucket{{le="+Inf"}} {3 * k}
lat_seconds_sum {5 * k}
lat_seconds_count {3 * k}
""".encode()
        self.send_response(200); self.send_header("Content-Type", "text/plain; version=0.0.4"); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)

stub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
threading.Thread(target=stub.serve_forever, daemon=True).start()
page = f"http://127.0.0.1:{stub.server_address[1]}/metrics"
out = tempfile.mkdtemp()
run = subprocess.run([sys.argv[1], "profile", "--url", "mock://?ttft=50ms&itl=5ms&tokens=20", "--model", "m", "--tokenizer", "builtin", "--streaming", "--concurrency", "2",
    "--request-count", "24", "--isl", "10", "--ui", "none", "--no-gpu-telemetry", "--server-metrics", page, "--server-metrics-formats", "parquet", "jsonl", "--artifact-dir", out],
    env={"AIPERF_SERVER_METRICS_COLLECTION_FLUSH_PERIOD": "0.5", "PATH": "/usr/bin:/bin", "HOME": out}, capture_output=True, text=True)
assert run.returncode == 0, run.stderr

path = out + "/server_metrics_export.parquet"
table = pq.read_table(path)
text = ["endpoint_url", "metric_name", "metric_type", "unit", "description"]
labels = sorted(set(table.schema.names) - set(text) - {"timestamp_ns", "value", "sum", "count", "bucket_le", "bucket_count"})
want = [(n, pa.string()) for n in text] + [("timestamp_ns", pa.int64())] + [(n, pa.string()) for n in labels] + \
    [("value", pa.float64()), ("sum", pa.float64()), ("count", pa.float64()), ("bucket_le", pa.string()), ("bucket_count", pa.float64())]
have = [(f.name, f.type) for f in table.schema]
assert have == want, have
assert {"model", "zone"} <= set(labels), labels
meta = {k.decode(): v.decode() for k, v in table.schema.metadata.items() if k.startswith(b"aiperf.")}
start = int(meta["aiperf.time_filter_start_ns"])
assert meta["aiperf.label_count"] == str(len(labels)) and json.loads(meta["aiperf.label_columns"]) == labels, meta

# What each scrape had, from the file of lines: k is the gauge.
scrapes = {}
for line in open(out + "/server_metrics_export.jsonl"):
    one = json.loads(line)
    if one["endpoint_url"] == page:
        scrapes[one["timestamp_ns"]] = one["metrics"]["queue"][0]["value"]
reference = max(at for at in scrapes if at < start)
inside = sorted(at for at in scrapes if at >= start)
assert len(inside) >= 3, scrapes
expected = set()
for at in inside:
    k, d = scrapes[at], scrapes[at] - scrapes[reference]
    expected |= {("queue", at, "m", 'a"b', k, None, None, None, None), ("work", at, None, None, 5 * d, None, None, None, None),
        ("lat_seconds", at, None, None, None, 5 * d, 3 * d, "1", 2 * d), ("lat_seconds", at, None, None, None, 5 * d, 3 * d, "+Inf", 3 * d)}
columns = ["metric_name", "timestamp_ns", "model", "zone", "value", "sum", "count", "bucket_le", "bucket_count"]
blank = lambda v: None if v == "" else v
arrow = {tuple(blank(r[c]) for c in columns) for r in table.to_pylist() if r["endpoint_url"] == page}
duck = {tuple(map(blank, r)) for r in duckdb.sql(f"select {', '.join(chr(34) + c + chr(34) for c in columns)} from '{path}' where endpoint_url = '{page}'").fetchall()}
assert arrow == expected, sorted(map(str, arrow ^ expected))[:6]
assert duck == expected, sorted(map(str, duck ^ expected))[:6]
kinds = dict(duckdb.sql(f"select metric_name, any_value(metric_type || ' ' || coalesce(unit, '')) from '{path}' where endpoint_url = '{page}' group by 1").fetchall())
assert kinds["queue"] == "gauge " and kinds["work"] == "counter " and kinds["lat_seconds"] == "histogram seconds", kinds
print(f"{len(expected)} rows right, as pyarrow {pa.__version__} and DuckDB {duckdb.__version__} read them")
