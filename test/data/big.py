"""Figures of large data: how long the first request of a large trace waits and how much memory it takes, rows and pictures a second of one core.

Usage: big.py AIPERF [BYTES] (default 5e9; the file is made in the temporary directory and removed)"""
import json, os, subprocess, sys, tempfile, time

MOCK = "mock://?ttft=1ms&itl=1ms&tokens=1"


def trace(path, size):
    """writes a trace of hash ids in the order of its times, 260 bytes a row; returns the number of rows"""
    written = rows = 0
    fresh = 50
    with open(path, "w", buffering=1 << 24) as out:
        while written < size:
            depth = 4 + (rows * 7919) % 24
            ids = f"0, 1, 2, {3 + rows // 64 % 40}, " + ", ".join(map(str, range(fresh, fresh + depth)))
            fresh += depth
            row = f'{{"timestamp": {rows * 3}, "input_length": {(depth + 4) * 512 - rows * 37 % 500}, "output_length": {20 + rows % 300}, "hash_ids": [{ids}]}}\n'
            out.write(row)
            written, rows = written + len(row), rows + 1
    return rows


def texts(path, rows):
    """writes rows of mixed texts"""
    words = "the quick brown fox jumps over a lazy dog while rain falls on Málaga and 42 trains leave".split()
    with open(path, "w") as out:
        for i in range(rows):
            text = " ".join(words[(i * 7 + k * k) % len(words)] for k in range(5 + i % 120))
            out.write(json.dumps({"text": f"{i} {text}", "output_length": 1 + i % 50}) + "\n")


def run(aiperf, *args, **environment):
    """runs a profile; returns s, s of processors and the peak memory in MB"""
    with tempfile.TemporaryDirectory() as out:
        begun = time.monotonic()
        p = subprocess.Popen([aiperf, "profile", "-m", "m", "--tokenizer", "builtin", "--url", MOCK, "--endpoint-type", "chat", "--random-seed", "7", "--ui-type", "none",
                              "--artifact-dir", out, "--no-gpu-telemetry", "--no-server-metrics", *args],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, **environment))
        said = p.stderr.read()
        _, status, used = os.wait4(p.pid, 0)
        if status: sys.exit(f"{args}: {said.decode()[-800:]}")
        return time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    aiperf, size = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 5e9
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "big.jsonl")
        rows = trace(path, size)
        for name, args in {"on its schedule": ["--fixed-schedule"], "without one": ["--no-fixed-schedule", "--concurrency", "2"]}.items():
            wall, _, peak = run(aiperf, "--input-file", path, "--custom-dataset-type", "mooncake_trace", "--request-count", "20", *args)
            print(f"a trace of {os.path.getsize(path) / 1e9:.1f} GB, {rows} rows, {name}: 20 requests done after {wall:.1f} s, at most {peak:.0f} MB", flush=True)
        os.remove(path)
        texts(path, 100_000)
        _, cpu, peak = run(aiperf, "--input-file", path, "--custom-dataset-type", "single_turn", "--dry-run", GOMAXPROCS="1")
        print(f"100,000 rows of mixed text read, checked and worded: {100_000 / cpu * 60:,.0f} rows a minute of one core, at most {peak:.0f} MB", flush=True)
        few, many = (run(aiperf, "--image-width-mean", "512", "--image-height-mean", "512", "--image-format", "png", "--isl", "5", "--request-count", str(n),
                         "--num-dataset-entries", str(n), "--concurrency", "1", GOMAXPROCS="1")[1] for n in (20, 320))
        print(f"requests with a picture of 512x512 (PNG) made and sent: {300 / (many - few):,.0f} a second of one core")


if __name__ == "__main__": main()
