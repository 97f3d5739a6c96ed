"""otlp.py PORT FILE: an OTLP/HTTP receiver made of OpenTelemetry's own messages for Python; writes what it has got as JSON when it is stopped."""
import gzip, http.server, json, signal, sys
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

got = {"metrics": {}, "spans": [], "resource": {}}
class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def chunks(self):
        while (size := int(self.rfile.readline(), 16)):
            yield self.rfile.read(size); self.rfile.readline()
        self.rfile.readline()
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])) if self.headers["Content-Length"] else b"".join(self.chunks())
        if self.headers.get("Content-Encoding") == "gzip": body = gzip.decompress(body)
        assert self.headers["Content-Type"] == "application/x-protobuf", self.headers["Content-Type"]
        if self.path == "/v1/metrics":
            for r in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                got["resource"] = {a.key: a.value.string_value for a in r.resource.attributes}
                for s in r.scope_metrics:
                    for m in s.metrics: got["metrics"][m.name] = [m.unit, sum(p.count for p in m.histogram.data_points), sum(p.sum for p in m.histogram.data_points)]
        elif self.path == "/v1/traces":
            for r in ExportTraceServiceRequest.FromString(body).resource_spans:
                for s in r.scope_spans:
                    got["spans"] += [[p.name, p.kind, p.start_time_unix_nano, p.end_time_unix_nano, {a.key for a in p.attributes} >= {"gen_ai.operation.name", "gen_ai.request.model"}] for p in s.spans]
        self.send_response(200); self.send_header("Content-Type", "application/x-protobuf"); self.send_header("Content-Length", "0"); self.end_headers()

def stop(*_):
    json.dump(got, open(sys.argv[2], "w")); sys.exit(0)
signal.signal(signal.SIGTERM, stop)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
