"""One plug-in of each category, for the tests."""
import json
import os
import threading
import time

from aiperf_plugin import (
    Done, Request, arrival_pattern, benchmark, endpoint, exporter, gpu_collector, grader, loader, options, run, search_planner,
)


@endpoint("gateway", endpoint_path="/gw/chat", framing="sse", supports_streaming=True)
class Gateway:
    def __init__(self):
        self.tenant = options.get("tenant")

    def format(self, turn, model, stream):
        return Request({"q": turn["texts"][0], "model": model, "stream": stream}, headers={"X-Tenant": self.tenant})

    def parse(self, message):
        return None if message == "[DONE]" else json.loads(message)["t"]


@loader("lines")
class Lines:
    def can_load(self, path, head):
        return path.endswith(".lines")

    def load(self, path):
        with open(path) as file:
            for line in file:
                yield line.rstrip("\n").split("|")


@benchmark("sums", default_grader="strict", default_n_shots=0)
def sums(tasks, n_shots):
    for i in range(3):
        yield {"prompt": "%d+%d=" % (i, i), "ground_truth": str(2 * i), "task": (tasks or ["sum"])[0], "metadata": {"n": n_shots}}


@grader("strict")
def strict(answer, truth):
    if answer == "exit":
        raise SystemExit("no")
    if answer == "print":
        print("on stdout")
        os.system("echo from a shell")
    if answer == "nan":
        return {"correct": True, "confidence": float("nan")}
    if answer == "number":
        return 1
    if answer == "":
        return None
    return answer.strip() == truth


@grader("slow")
async def slow(answer, truth, metadata):
    time.sleep(float(answer))
    return {"correct": True, "reasoning": str(metadata["k"])}


together = threading.Barrier(8)


@grader("together")
def wait_for_the_others(answer, truth):
    together.wait(30)
    return True


@exporter("copy")
def copy(directory, summary, records):
    path = os.path.join(directory, "copy.json")
    with open(path, "w") as file:
        json.dump([summary, records], file)
    return path


@gpu_collector("fixed", is_local=True)
class Fixed:
    def start(self, interval_ms):
        self.interval = interval_ms

    def collect(self):
        return [{"gpu_index": 0, "uuid": "GPU-0", "model": "m", "hostname": "h", "metrics": {"gpu_power_usage": self.interval / 2}}]


@search_planner("double")
def double(parameters, history, seed):
    if len(history) == 2:
        return Done("two cells")
    return {parameters[0]["name"]: 2 ** len(history) + seed}


@arrival_pattern("even")
def even(rate, count, first):
    return [1 / rate + first] * count


if __name__ == "__main__":
    run(threads=int(os.environ.get("THREADS", "1")))
