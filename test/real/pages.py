"""pages.py PORT: a page of prometheus_client with every type of metric, as text or as OpenMetrics, whichever is asked for; it moves with every look."""
import sys, threading, time
from prometheus_client import Counter, Enum, Gauge, Histogram, Info, Summary, start_http_server

jobs, level, seconds, size = Counter("jobs", "Jobs", ["kind"]), Gauge("level", 'A level, "quoted" \\ and\nbroken'), Histogram("took_seconds", "Time", buckets=[1, 2, 4]), Summary("size_bytes", "Sizes")
Info("build", "Build").info({"version": "1"}); Enum("state", "State", states=["up", "down"]).state("up")
start_http_server(int(sys.argv[1]), "127.0.0.1")
while True: # counters at a known ratio: 2 of a, 6 observations of 0.5, 2 of 3 each turn
    jobs.labels("a").inc(2); jobs.labels('b"\\').inc(); level.set(time.time() % 7); size.observe(100)
    for v in [0.5] * 6 + [3] * 2: seconds.observe(v)
    time.sleep(0.01)
