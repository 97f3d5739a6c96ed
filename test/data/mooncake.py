"""Figures of a whole Mooncake trace: do prompts share what their hash ids share, how long is the wait for the first request, how much memory.

Usage: mooncake.py AIPERF TRACE.jsonl RANKS.tiktoken [PYTHON_AIPERF]
Needs tiktoken, the reference of the tokenizer o200k_base, and its ranks as a file. PYTHON_AIPERF is the Python tool, timed beside ours.
Every request of the trace is sent to a server in this process, which keeps its prompt; the prompts are tokenized again and cut into the blocks of
the trace. Two rows must begin with the same blocks exactly as far as their hash ids begin with the same ones."""
import base64, hashlib, http.server, json, os, resource, subprocess, sys, tempfile, threading, time

import tiktoken

BLOCK = 512
PATTERN = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])


def reference(path):
    ranks = {base64.b64decode(t): int(r) for t, r in (l.split() for l in open(path, "rb") if l.strip())}
    return tiktoken.Encoding("o200k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018})


class Server(http.server.ThreadingHTTPServer):
    """answers chat requests, and gives what they hold to take"""
    daemon_threads, request_queue_size = True, 256

    def __init__(self, take):
        self.take, self.first, self.lock = take, None, threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_): pass

    def reply(self, body):
        self.send_response(200); self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(body)))
        self.end_headers(); self.wfile.write(body)

    def do_GET(self): self.reply(b'{"data":[{"id":"m","object":"model"}],"object":"list"}')

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            if self.server.first is None: self.server.first = time.monotonic()
            self.server.take(body)
        self.reply(b'{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"a"}}],'
                   b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}')


def run(command, trace, count, take, extra=()):
    """runs the tool; returns s until the first request, s in all and the peak memory in MB"""
    server = Server(take); out = tempfile.mkdtemp()
    args = command + ["profile", "-m", "m", "--tokenizer", "builtin", "--url", f"http://127.0.0.1:{server.server_port}", "--endpoint-type", "chat", "--input-file", trace,
                      "--custom-dataset-type", "mooncake_trace", "--no-fixed-schedule", "--request-count", str(count), "--concurrency", "8", "--random-seed", "7",
                      "--ui-type", "none", "--artifact-dir", out, "--no-gpu-telemetry", "--no-server-metrics", *extra]
    begun = time.monotonic()
    # the Python tool keeps prepared data sets between runs
    p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "AIPERF_DATASET_MMAP_CACHE_ENABLED": "false"})
    err = p.stderr.read(); p.wait(); ended = time.monotonic()
    if p.returncode: sys.exit(f"{command}: status {p.returncode}: {err.decode()[-800:]}")
    server.shutdown()
    return server.first - begun, ended - begun, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main():
    aiperf, trace, ranks = sys.argv[1:4]
    rows = [json.loads(l) for l in open(trace) if l.strip()]
    words, prompts = reference(ranks), []
    first, total, memory = run([aiperf], trace, len(rows), lambda body: prompts.append(body["messages"][-1]["content"]))
    print(f"{len(rows)} requests: the first after {first:.2f} s, all after {total:.1f} s, at most {memory:.0f} MB")
    seen, want = {}, {}  # (tokens, prefixes of whole blocks, the last maybe not whole) -> prompts
    for text in prompts:
        ids, h, marks = words.encode(text, allowed_special="all"), hashlib.blake2b(digest_size=8), []
        for i in range(0, len(ids), BLOCK):
            h.update(repr(ids[i:i + BLOCK]).encode()); marks.append(h.digest())
        key = (len(ids), tuple(marks)); seen[key] = seen.get(key, 0) + 1
    for r in rows:
        key = (r["input_length"], tuple(r["hash_ids"])); want[key] = want.get(key, 0) + 1
    print(f"lengths as recorded (tokenized again): {sum(min(n, count(seen).get(l, 0)) for l, n in count(want).items())} of {len(rows)}")
    # the trees of prefixes are the same when, at every depth, as many prompts share each prefix
    def tree(d, whole):
        at = {}
        for (length, chain), n in d.items():
            for depth in range(1, length // BLOCK + 1): at.setdefault(depth, {}).setdefault(chain[:depth] if whole else chain[depth - 1], []).append(n)
        return {k: sorted(sum(v) for v in g.values()) for k, g in at.items()}
    a, b = tree(want, True), tree(seen, False)
    print(f"prefixes of whole blocks: {sum(map(len, a.values()))} by hash ids, {sum(map(len, b.values()))} by tokens; the same sharing at {sum(a[k] == b.get(k) for k in a)} of {len(a)} depths")
    if len(sys.argv) > 4:
        other, _, other_memory = run([sys.argv[4]], trace, 8, lambda _: None, ("--workers-max", "1", "--record-processors", "1"))
        ours, _, _ = run([aiperf], trace, 8, lambda _: None)
        print(f"first request of the Python tool after {other:.1f} s, of ours after {ours:.2f} s: {other / ours:.0f} times; its memory at most {other_memory:.0f} MB in one process")


def count(d):
    out = {}
    for (length, _), n in d.items(): out[length] = out.get(length, 0) + n
    return out


main()
