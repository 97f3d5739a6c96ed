"""pages.py PORT OTHER: pages of prometheus_client with every type of metric, as text at one port and as OpenMetrics at the other; they move all the
time, all metrics together."""
import http.server, sys, threading, time
from prometheus_client import REGISTRY, Counter, Enum, Gauge, Histogram, Info, Summary, exposition
from prometheus_client.openmetrics import exposition as openmetrics

jobs, level, seconds, size = Counter("jobs", "Jobs", ["kind"]), Gauge("level", 'A level, "quoted" \\ and\nbroken'), Histogram("took_seconds", "Time", buckets=[1, 2, 4]), Summary("size_bytes", "Sizes")
Info("build", "Build").info({"version": "1"}); Enum("state", "State", states=["up", "down"]).state("up")
together = threading.Lock()

def serve(port, form):
    class Page(http.server.BaseHTTPRequestHandler):
        def log_message(self, *a): pass
        def do_GET(self):
            with together: body = form.generate_latest(REGISTRY)
            self.send_response(200); self.send_header("Content-Type", form.CONTENT_TYPE_LATEST); self.send_header("Content-Length", str(len(body)))
            self.end_headers(); self.wfile.write(body)
    threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", port), Page).serve_forever, daemon=True).start()
serve(int(sys.argv[1]), exposition)
serve(int(sys.argv[2]), openmetrics)
while True: # counters at a known ratio: 2 of a, 6 observations of 0.5, 2 of 3 each turn
    with together:
        jobs.labels("a").inc(2, {"trace_id": "x"}); jobs.labels('b"\\').inc(); level.set(time.time() % 7); size.observe(100)
        for v in [0.5] * 6 + [3] * 2: seconds.observe(v)
    time.sleep(0.01)
