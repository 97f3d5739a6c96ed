"""Files of a random set of runs, read by AIPerf's own classes: those of the package aiperf 0.13.0 of PyPI.

usage: check.py AIPERF [SEED [RUNS]]
A run is drawn from what an option may be (endpoint, data, load, warm-up, phases, sweeps, failures, telemetry, exports); every file that it
leaves must be of a kind listed here, and every line of it must be read by its class. The same seed draws the same runs.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from aiperf.accuracy.models import AccuracyRecordsData
from aiperf.common.models.dataset_models import InputsFile
from aiperf.common.models.export_models import JsonExportData, JsonMetricResult, TelemetryExportData, TimesliceCollectionExportData
from aiperf.common.models.network_latency_models import NetworkLatencySample
from aiperf.common.models.record_models import MetricRecordInfo, PhaseProfileResults, RawRecordInfo
from aiperf.common.models.server_metrics_models import ServerMetricsExportData, ServerMetricsResults, SlimRecord
from aiperf.common.models.telemetry_models import TelemetryRecord

aiperf = os.path.abspath(sys.argv[1])
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 24
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 48
draw = random.Random(seed)


def summary(text):
    read = JsonExportData.model_validate_json(text)
    for tag, value in (read.model_extra or {}).items():
        if isinstance(value, dict) and "unit" in value:
            JsonMetricResult.model_validate(value)


def of_phase(data):
    def read(text):
        outer = json.loads(text)
        PhaseProfileResults.model_validate(outer["phase"])
        data.model_validate(outer["data"])

    return read


def manifest(text):
    for phase in json.loads(text)["phases"]:
        PhaseProfileResults.model_validate(phase)


def aggregate(text):
    for metric in json.loads(text)["metrics"].values():
        JsonMetricResult(unit=metric["unit"], avg=metric["mean"], std=metric["std"], min=metric["min"], max=metric["max"])


def lines(read):
    def every(text):
        for line in text.splitlines():
            read(line)

    return every


# Kinds of files by their path: what reads one, or None where AIPerf has no class for it. The first that fits counts.
KINDS = [
    (r"phases/[^/]+/server_metrics\.json", of_phase(ServerMetricsResults)),
    (r"phases/[^/]+/gpu_telemetry\.json", of_phase(TelemetryExportData)),
    (r"phase_manifest\.json", manifest),
    (r"(server_metrics_export|_server_metrics)\.json", ServerMetricsExportData.model_validate_json),
    (r"(server_metrics_export|_server_metrics)\.jsonl", lines(SlimRecord.model_validate_json)),
    (r"(gpu_telemetry_export|_gpu_telemetry)\.jsonl", lines(TelemetryRecord.model_validate_json)),
    (r"_network_latency\.jsonl", lines(NetworkLatencySample.model_validate_json)),
    (r"_timeslices\.json", TimesliceCollectionExportData.model_validate_json),
    (r"(accuracy_export|_accuracy)\.jsonl", lines(AccuracyRecordsData.model_validate_json)),
    (r"_raw\.jsonl", lines(RawRecordInfo.model_validate_json)),
    (r"inputs\.json", InputsFile.model_validate_json),
    (r"outputs\.json|sampling_design\.json|search_history\.json|_aggregate_sweep\.json|profile_export_aiperf_sweep\.json", json.loads),
    (r"profile_export_aiperf_aggregate\.json", aggregate),
    (r"profile_export_aiperf_collated\.json", json.loads),
    (r"adaptive_scale_(events\.jsonl|summary\.json|manifest\.json)", None),
    (r"(_timeline|_client_machine)\.jsonl", None),  # aiperf's own
    (r"\.(csv|txt|log|parquet|html|zst)|\.aiperf[^/]*|plan\.json|run_config\.json|pairs?\.jsonl?", None),
    (r"(profile_export|/mine)\.jsonl", lines(MetricRecordInfo.model_validate_json)),
    (r"(profile_export_aiperf|/mine)\.json", summary),
]


def check(folder):
    """Reads every file below a folder. It returns how many of each class there were, and what was refused."""
    counts, faults = {}, []
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        kind = next((k for k in KINDS if re.search(f"(?:^|/|[^/]*)(?:{k[0]})$", "/" + name)), None)
        if kind is None:
            faults.append(f"{name}: a kind of file that is not listed in check.py")
        elif kind[1]:
            counts[kind[0]] = counts.get(kind[0], 0) + 1
            try:
                kind[1](path.read_text())
            except Exception as e:  # whatever the class raises is a refusal
                faults.append(f"{name}: {str(e)[:600]}")
    return counts, faults


# Data. A file may hold what some kinds of servers cannot be asked; the run then fails in its own words before it starts.
FILES = {
    "single_turn": [{"text": f"Question {i}: what is {i} times {i}?"} for i in range(12)],
    "multi_turn": [{"session_id": f"s{i}", "turns": [{"text": f"Hello {i}"}, {"text": "And then?", "delay": 5}]} for i in range(6)],
    "mooncake_trace": [{"timestamp": 15 * i, "input_length": 40 + i, "output_length": 5, "hash_ids": [i % 3]} for i in range(12)],
    "raw_payload": [{"messages": [{"role": "user", "content": f"Say {i}"}], "max_tokens": 4, "model": "mock", "stream": True} for i in range(8)],
    "dag_jsonl": [{"session_id": "root", "turns": [{"messages": [{"role": "user", "content": "plan"}], "spawns": ["leaf"]}, {"messages": [{"role": "user", "content": "sum up"}]}]},
                  {"session_id": "leaf", "turns": [{"messages": [{"role": "user", "content": "work"}]}]}],
}
SERVERS = {
    "plain": ["--dcgm", "2"],
    "quick": ["--ttft", "1ms", "--itl", "0ms", "--tokens-per-event", "3"],
    "reasoning": ["--reasoning", "0.5", "--usage-in", "finish"],
    "failing": ["--error-rate", "0.4", "--error-kinds", "http-500,http-429,sse,close,reset"],
}
CHAT = ["chat", "completions", "responses", "messages"]
OTHER = ["embeddings", "nim_rankings", "cohere_rankings", "hf_tei_rankings", "image_generation", "audio_transcription", "video_generation", "huggingface_generate"]


def some(*choices):
    return list(draw.choice(choices))


def one(where, servers):
    """The words of a random run, and its variables."""
    server = draw.choice(list(servers))
    words, env = ["--url", servers[server], "--model", "mock", "--ui", "none"], {}
    kind = draw.choice(CHAT * 3 + OTHER)
    words += ["--endpoint-type", kind]
    text = kind in CHAT or kind == "huggingface_generate"
    if text and draw.random() < 0.8:
        words += ["--streaming"]
    data = draw.choice([None, None, "turns", *FILES]) if kind == "chat" else None
    if data in FILES:
        words += ["--input-file", str(where / f"{data}.jsonl"), "--custom-dataset-type", data]
        if data in ("single_turn", "multi_turn"):
            words += some([], ["--shared-system-prompt-length", "20"], ["--user-context-prompt-length", "12", "--num-dataset-entries", "4"])
    elif text:
        words += ["--isl", "40", "--osl", "6"] + some([], ["--isl-stddev", "9"], ["--num-prefix-prompts", "2", "--prefix-prompt-length", "12"], ["--shared-system-prompt-length", "20"])
        words += ["--session-turns-mean", "2", "--session-turn-delay-mean", "3"] if data == "turns" else []
        words += some([], [], ["--image-width-mean", "16", "--image-height-mean", "16"]) if kind == "chat" else []
    words += ["--audio-length-mean", "0.2"] if kind == "audio_transcription" else ["--tokenizer", "builtin"]
    load = draw.choice(["closed", "closed", "rate", "duration"])
    if data == "mooncake_trace":
        words += some([], ["--no-fixed-schedule", "--concurrency", "3", "--request-count", "8"])
    elif load == "closed":
        words += ["--concurrency", str(draw.randint(1, 8)), "--request-count", str(draw.randint(6, 14))] + some([], ["--concurrency-ramp-duration", "0.05"])
    elif load == "rate":
        words += ["--request-rate", "120", "--request-count", "12", "--arrival-pattern", draw.choice(["poisson", "constant", "gamma"])]
    else:
        words += ["--concurrency", "3", "--benchmark-duration", "0.25", "--benchmark-grace-period", draw.choice(["0", "2"])]
    words += some([], [], ["--warmup-request-count", "3"], ["--warmup-duration", "0.1", "--warmup-concurrency", "2"])
    words += some([], [], ["--request-cancellation-rate", "50", "--request-cancellation-delay", "0.01"])
    words += some([], [], ["--request-timeout-seconds", "0.03"])
    level = draw.choice(["summary", "records", "raw", "raw"])
    words += ["--export-level", level] + some([], ["--export-http-trace"], ["--export-outputs-json"])
    words += some([], ["--slice-duration", "0.1"]) + some([], ["--goodput", "request_latency:80"]) + some([], ["--random-seed", str(draw.randint(0, 2**40))])
    words += some([], ["--server-metrics-formats", "json", "csv", "jsonl", "parquet"], ["--no-server-metrics"])
    words += some([], ["--gpu-telemetry", servers["plain"] + "/dcgm/metrics"], ["--no-gpu-telemetry"])
    words += some([], [], ["--network-latency-automatic"]) + some([], [], ["--profile-export-prefix", "mine"])
    words += some([], [], ["--http-version", "2"], ["--capture", "off"], ["--probe"], ["--export-html"], ["--header", "X-Api-Key: secret-value"], ["--tls-insecure"])
    if draw.random() < 0.3:
        env = {draw.choice(["AIPERF_HTTP_CONNECT_TIMEOUT", "AIPERF_SERVER_METRICS_COLLECTION_INTERVAL", "AIPERF_GPU_COLLECTION_INTERVAL"]): "0.2"}
    series = draw.random()
    if series < 0.08:
        words += ["--num-profile-runs", "2"]
    elif series < 0.16 and "--concurrency" in words:
        words[words.index("--concurrency") + 1] = "1,2"
    env["AIPERF_SERVER_METRICS_COLLECTION_FLUSH_PERIOD"] = "0"
    return words, env


# Runs whose files no drawn run leaves: several phases of which one seeks its limit, a search, a benchmark with answers, all requests failed.
PHASES = """
schemaVersion: "2.0"
benchmark:
  models: [mock]
  endpoint: {urls: [URL], type: chat, streaming: true}
  datasets: [{name: main, type: synthetic, entries: 20, prompts: {isl: 30, osl: 5}}]
  phases:
    - {name: warm, kind: warmup, type: concurrency, concurrency: 2, requests: 4}
    - {name: first, kind: profiling, type: poisson, rate: 80, requests: 8, cancellation: {rate: 30, delay: 0.005}}
    - {name: second, kind: profiling, type: constant, rate: 80, requests: 8, cancellation: {rate: 0, delay: 0}}
    - {name: seek, kind: profiling, type: concurrency, concurrency: 3, duration: 4, adaptive_scale: true, adaptive_assessment_period: 1,
       adaptive_sustain_duration: 1, sla: {request_latency: {p95: {lt: 500}}}}
  tokenizer: {name: builtin}
"""


def fixed(where, servers):
    rows = "".join(json.dumps({"question": f"q{i}", "choices": ["w", "x", "y", "z"], "answer": i % 4}) + "\n" for i in range(6))
    (where / "quiz" / "anatomy").mkdir(parents=True)
    (where / "quiz" / "anatomy" / "test-00000-of-00001.jsonl").write_text(rows)
    (where / "phases.yaml").write_text(PHASES.replace("URL", servers["plain"]))
    common = ["--model", "mock", "--tokenizer", "builtin", "--ui", "none", "--export-level", "raw"]
    yield ["--config", "phases.yaml", "--ui", "none", "--slice-duration", "0.2"], {}
    yield ["--url", servers["quick"], *common, "--accuracy-benchmark", "mmlu", "--accuracy-tasks", "anatomy", "--accuracy-n-shots", "0", "--accuracy-dataset-path", "quiz"], {}
    yield ["--url", servers["quick"], *common, "--request-count", "6", "--search-space", "phases.profiling.concurrency:1,3:int", "--search-metric", "output_token_throughput",
           "--search-direction", "maximize", "--search-max-iterations", "3", "--search-initial-points", "2"], {}
    yield ["--url", servers["plain"] + "/nothing-here", *common, "--request-count", "6", "--warmup-request-count", "2"], {}


def carry_out(number, words, env, where):
    folder = where / f"run{number}"
    done = subprocess.run([aiperf, "profile", *words, "--artifact-dir", folder], capture_output=True, text=True, env={**os.environ, **env}, cwd=where, timeout=120, check=False)
    counts, faults = check(folder) if folder.exists() else ({}, [])
    if done.returncode not in (0, 1) or not counts:
        faults.append(f"exit {done.returncode}: {done.stderr.strip()[-600:]}")
    return counts, faults


def main():
    servers, running = {}, []
    with tempfile.TemporaryDirectory() as made:
        where = pathlib.Path(made)
        os.environ["HOME"] = str(where)
        for name, rows in FILES.items():
            (where / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        try:
            for name, options in SERVERS.items():
                server = subprocess.Popen([aiperf, "mock-server", "--port", "0", "--lifeline", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                running.append(server)
                servers[name] = server.stdout.readline().split()[-1]
            drawn = [*fixed(where, servers), *(one(where, servers) for _ in range(runs))]
            total, wrong = {}, 0
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                for (words, env), (counts, faults) in zip(drawn, pool.map(lambda i: carry_out(i, *drawn[i], where), range(len(drawn))), strict=True):
                    for kind, n in counts.items():
                        total[kind] = total.get(kind, 0) + n
                    for fault in faults:
                        wrong += 1
                        print(fault, "\n  of: aiperf profile", *words, env)
        finally:
            for server in running:
                server.stdin.close()
                server.wait(10)
    for kind, n in sorted(total.items()):
        print(f"{n:5} {kind}")
    print(f"seed {seed}: {len(drawn)} runs, {sum(total.values())} files read, {wrong} faults")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
