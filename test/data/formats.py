"""Figures of large files of every format that stays on the disk: when a server of its own saw the first request, and how much memory the client took.

Usage: formats.py AIPERF [BYTES] [FORMAT…] (default 1e9, all; each file is made in the temporary directory and removed; baseten_trace needs pyarrow)"""
import concurrent.futures, json, multiprocessing, os, random, shutil, subprocess, sys, tempfile, time

TEXT = "the quick brown fox jumps over a lazy dog while rain falls and 42 trains leave " * 6
BODY = json.dumps([{"role": "user", "content": TEXT}])


def single(i):
    return json.dumps({"text": f"{i} {TEXT}", "output_length": 8}) + "\n"


def sessions(i):
    return json.dumps({"session_id": f"s{i % 100_000}", "text": f"{i} {TEXT}", "output_length": 8}) + "\n"


def multi(i):
    return json.dumps({"session_id": f"s{i // 2}", "turns": [{"text": f"{i} {TEXT}"}, {"text": "and then?", "delay": 5}]}) + "\n"


def mooncake(i):
    return f'{{"session_id":"s{i // 3}","timestamp":{i},"input_length":{1500 + i % 500},"output_length":9,"hash_ids":[0,1,{i + 10}]}}\n'


def plain(i):
    return f'{{"timestamp":{i},"input_length":{15000 + i % 500},"output_length":9,"hash_ids":[0,1,{",".join(map(str, range(27 * i, 27 * i + 27)))}]}}\n'


def bailian(i):
    ids = ",".join(map(str, [1, 2, 3] + list(range(30 * i, 30 * i + 27))))
    return f'{{"chat_id":{i},"parent_chat_id":{i - 1 if i % 4 else -1},"timestamp":{i / 100},"input_length":{470 + i % 10},"output_length":20,"type":"text","turn":{1 + i % 4},"hash_ids":[{ids}]}}\n'


def burst(i):
    return ("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n" if i == 0 else "") + f"{i / 50},ChatGPT,{100 + i % 900},{10 + i % 90},{110 + i % 990},Conversation log\n"


def capture(i):
    at = f"2025-03-{1 + i // 86400_00 % 28:02}T{i // 360000 % 24:02}:{i // 6000 % 60:02}:{i // 100 % 60:02}.{i % 100:02}0Z"
    return json.dumps({"captureData": {"endpointInput": {"data": f'{{"messages":{BODY},"max_tokens":16}}', "encoding": "JSON"}}, "eventMetadata": {"eventId": f"e-{i}", "inferenceTime": at}}) + "\n"


def payload(i):
    return f'{{"model":"m","messages":{BODY},"max_tokens":{1 + i % 9}}}\n'


def inputs(i):
    return ('{"data":[\n' if i == 0 else ",\n") + f'{{"session_id":"s{i}","payloads":[{{"model":"m","messages":{BODY}}},{{"model":"m","messages":{BODY}}}]}}'


def graph(i):
    """a session, and one that it starts"""
    one, two = (f'{{"session_id":"s{n}","turns":[{{"messages":{BODY},"max_tokens":9' for n in (2 * i, 2 * i + 1))
    return f'{one},"spawns":["s{2 * i + 1}"]}}]}}\n{two}}}]}}\n'


def pool(i):
    return json.dumps({"text": f"{i} {TEXT}"}) + "\n"


def weka(i):
    """a trace of 50 requests of an agent, and another agent that it starts"""
    requests, at = [], 10_000 * (i % 1000)
    for k in range(50):
        ids = ",".join(map(str, range(at, at + 100 + 10 * k)))
        requests.append(f'{{"t":{3 * k},"type":"n","model":"a","in":{64 * (100 + 10 * k)},"out":80,"hash_ids":[{ids}],"api_time":1.5}}')
    requests.insert(9, f'{{"t":26,"type":"subagent","agent_id":"x","subagent_type":"e","duration_ms":9000,"status":"completed","models":["b"],"requests":[{{"t":26.5,"type":"n","model":"b","in":640,"out":9,"hash_ids":[1,2,3,4,5,6,7,8,9,10],"api_time":2}}]}}')
    return f'{{"id":"t{i}","models":["a","b"],"block_size":64,"hash_id_scope":"local","requests":[{",".join(requests)}]}}\n'


def tracelab(i):
    at = f"2026-01-{1 + i // 86400 % 28:02}T{i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}"
    events = [{"event_type": "user_message", "timestamp": at + ".1Z"}, {"event_type": "text", "timestamp": at + ".9Z"}]
    return json.dumps({"session_id": f"s{i // 40}", "round_index": i % 40, "input_tokens_total": 6400 + 640 * (i % 40), "prefix_tokens": 5760 + 640 * (i % 40), "output_tokens": 90,
                       "model": "a", "user": "u", "project": f"p{i // 4000}", "timing_events": events, "tools": []}) + "\n"


def table(path, size):
    """writes a table of completions whose prompts do not compress, those of a row group again in the next with other numbers before them; returns the number of rows"""
    import pyarrow, pyarrow.parquet
    draw = random.Random(1)
    words = [f"{draw.getrandbits(40):x}" for _ in range(50_000)]
    names = ["timestamp_start_unix_ms", "prompt", "input_tokens", "output_tokens", "duration_e2e_ms", "provided_session_id", "total_hashes", "block_size"]
    texts = [" ".join(draw.choices(words, k=600)) for _ in range(5000)]
    writer, rows = None, 0
    while rows == 0 or os.path.getsize(path) < size:
        part = range(rows, rows + 5000)
        columns = [[5 * i for i in part], [f"{i} {text}" for i, text in zip(part, texts)], [1800] * 5000, [9] * 5000, [100] * 5000, [f"s{i // 4}" for i in part],
                   [[1, 2, i] for i in part], [64] * 5000]
        batch = pyarrow.table(columns, names=names)
        writer = writer or pyarrow.parquet.ParquetWriter(path, batch.schema, use_dictionary=["provided_session_id"])
        writer.write_table(batch)
        rows += 5000
    writer.close()
    return rows


TWO = ["--concurrency", "2"]
FORMATS = {
    "single_turn": (single, "", TWO), "sessions of single_turn": (sessions, "", TWO), "multi_turn": (multi, "", TWO), "mooncake_trace": (plain, "", []),
    "sessions of mooncake_trace": (mooncake, "", []), "bailian_trace": (bailian, "", []), "burst_gpt_trace": (burst, "", ["--fixed-schedule"]),
    "sagemaker_data_capture": (capture, "", TWO), "raw_payload": (payload, "", TWO), "inputs_json": (inputs, "]}\n", TWO), "dag_jsonl": (graph, "", TWO), "random_pool": (pool, "", TWO),
    "weka_trace": (weka, "", TWO), "tracelab": (tracelab, "", TWO), "baseten_trace": (table, "", []),
    "rescaled mooncake_trace": (mooncake, "", ["--synthesis-prompt-len-multiplier", "2", "--synthesis-speedup-ratio", "2"]),
}


DESCRIBED, CONVERTED = {"sessions of mooncake_trace", "weka_trace", "tracelab", "baseten_trace"}, {"single_turn"}


def write(path, name, size):
    """writes a file of a format; returns the number of rows"""
    row, end, _ = FORMATS[name]
    if row is table: # in a process of its own: the peak of a child begins at that of its parent
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as beside: return beside.submit(table, path, size).result()
    rows = written = 0
    with open(path, "w", buffering=1 << 22) as out:
        while written < size:
            written, rows = written + out.write(row(rows)), rows + 1
        out.write(end)
    return rows


def wait(command, **pipes):
    """runs a command; returns s and the peak memory in MB"""
    begun = time.monotonic()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **pipes)
    said = p.stderr.read()
    _, status, used = os.wait4(p.pid, 0)
    if status: sys.exit(f"{command}: {said.decode()[-800:]}")
    return time.monotonic() - begun, used.ru_maxrss / 1024


def main():
    aiperf, size, names = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1e9, sys.argv[3:] or FORMATS
    folder = tempfile.mkdtemp()
    path, log = os.path.join(folder, "big.json"), os.path.join(folder, "truth.jsonl")
    try:
        for name in names:
            rows, kind = write(path, name, size), name.split()[-1]
            server = subprocess.Popen([aiperf, "mock-server", "--port", "0", "--ttft", "1ms", "--itl", "1ms", "--tokens", "1", "--truth-log", log, "--lifeline"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            url = server.stdout.readline().split()[-1]
            begun = time.time_ns()
            wall, peak = wait([aiperf, "profile", "-m", "m", "--tokenizer", "builtin", "--url", url, "--endpoint-type", "chat", "--random-seed", "7", "--ui-type", "none",
                               "--artifact-dir", os.path.join(folder, "out"), "--no-gpu-telemetry", "--no-server-metrics", "--input-file", path, "--custom-dataset-type", kind,
                               "--request-count", "20", *FORMATS[name][2]])
            server.stdin.close()
            server.wait()
            with open(log) as lines: seen = [json.loads(line) for line in lines]
            first = (min(line["arrival_ns"] for line in seen) - begun) / 1e9
            print(f"| {name}, {os.path.getsize(path) / 1e9:.1f} GB | {rows:,} | {first:.1f} | {wall:.1f} | {peak:.0f} |", flush=True)
            shutil.rmtree(os.path.join(folder, "out")) # as long as the file where it holds inputs.json
            if name in DESCRIBED:
                told, peak = wait([aiperf, "dataset", "describe", path, "--custom-dataset-type", kind, "--json"])
                print(f"| `dataset describe` of it | | | {told:.1f} | {peak:.0f} |", flush=True)
            if name in CONVERTED:
                told, peak = wait(["sh", "-c", 'cat "$2" | "$1" dataset convert /dev/stdin "$3" --custom-dataset-type single_turn --to multi_turn', "sh", aiperf, path, os.path.join(folder, "to")])
                print(f"| `dataset convert` of it through a pipe | | | {told:.1f} | {peak:.0f} |", flush=True)
                os.remove(os.path.join(folder, "to"))
            os.remove(path)
            os.remove(log)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__": main()
