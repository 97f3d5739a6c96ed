"""Figures of large files of every format that stays on the disk: when the first request is done and how much memory it takes.

Usage: formats.py AIPERF [BYTES] [FORMAT…] (default 1e9, all; each file is made in the temporary directory and removed)"""
import json, os, shutil, sys, tempfile

import big

TEXT = "the quick brown fox jumps over a lazy dog while rain falls and 42 trains leave " * 6
BODY = json.dumps([{"role": "user", "content": TEXT}])


def single(i):
    return json.dumps({"session_id": f"s{i % 100_000}", "text": f"{i} {TEXT}", "output_length": 8}) + "\n"


def multi(i):
    return json.dumps({"session_id": f"s{i // 2}", "turns": [{"text": f"{i} {TEXT}"}, {"text": "and then?", "delay": 5}]}) + "\n"


def mooncake(i):
    return f'{{"session_id":"s{i // 3}","timestamp":{i},"input_length":{1500 + i % 500},"output_length":9,"hash_ids":[0,1,{i + 10}]}}\n'


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
    turn = f'{{"messages":{BODY},"max_tokens":9{", " + chr(34) + "spawns" + chr(34) + f": [{chr(34)}s{i + 1}{chr(34)}]" if i % 2 == 0 else ""}}}'
    return f'{{"session_id":"s{i}","turns":[{turn}]}}\n'


def pool(i):
    return json.dumps({"text": f"{i} {TEXT}"}) + "\n"


FORMATS = {
    "single_turn": (single, "", ["--concurrency", "2"]), "multi_turn": (multi, "", ["--concurrency", "2"]), "mooncake_trace": (mooncake, "", []),
    "bailian_trace": (bailian, "", []), "burst_gpt_trace": (burst, "", ["--fixed-schedule"]), "sagemaker_data_capture": (capture, "", ["--concurrency", "2"]),
    "raw_payload": (payload, "", ["--concurrency", "2"]), "inputs_json": (inputs, "]}\n", ["--concurrency", "2"]), "dag_jsonl": (graph, "", ["--concurrency", "2"]),
    "random_pool": (pool, "", ["--concurrency", "2"]),
    "rescaled mooncake_trace": (mooncake, "", ["--synthesis-prompt-len-multiplier", "2", "--synthesis-speedup-ratio", "2"]),
}


def main():
    aiperf, size, names = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1e9, sys.argv[3:] or FORMATS
    folder = tempfile.mkdtemp()
    try:
        for name in names:
            row, end, args = FORMATS[name]
            path, rows, written = os.path.join(folder, "big.json"), 0, 0
            with open(path, "w", buffering=1 << 22) as out:
                while written < size:
                    written, rows = written + out.write(row(rows)), rows + 1
                out.write(end)
            kind = name.split()[-1]
            if kind in ("single_turn", "multi_turn"): rows_told = f"{rows} rows of sessions"
            else: rows_told = f"{rows} rows"
            wall, cpu, peak = big.run(aiperf, "--input-file", path, "--custom-dataset-type", kind, "--request-count", "20", *args)
            print(f"{name}, {os.path.getsize(path) / 1e9:.1f} GB, {rows_told}: 20 requests done after {wall:.1f} s ({cpu:.1f} s of processors), at most {peak:.0f} MB", flush=True)
            os.remove(path)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__": main()
