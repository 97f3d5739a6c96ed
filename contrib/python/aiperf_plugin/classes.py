# SPDX-License-Identifier: Apache-2.0
"""Plug-in classes of AIPerf 0.13, the Python tool, behind the protocol of aiperf:

    python -m aiperf_plugin.classes my_pkg.endpoints:MyChat --category endpoint

Needs the Python tool in the same environment (pip install aiperf). The class is imported, not changed, and gets what it gets there: a
ModelEndpointInfo, RequestInfo and InferenceServerResponse, or a BenchmarkRun. Categories: endpoint, custom_dataset_loader, accuracy_grader,
accuracy_benchmark. The metadata of the entry in plugins.yaml is the class's metadata, and its keyword arguments where the constructor names them.
"""

import argparse
import importlib
import inspect
import json
import os
import sys
import time
import urllib.parse

from . import Request, _decorator, _normal, options, protect, run

KEPT = 64  # instances of an endpoint class: one for each model, streaming or not, and set of extra inputs


def benchmark_run(model="model", **endpoint_settings):
    """Returns a BenchmarkRun of the Python tool with one model, for constructors that want one."""
    from aiperf.config import BenchmarkConfig, BenchmarkRun

    settings = {"urls": ["http://localhost:8000"], "wait_for_model_timeout": 0, **endpoint_settings}
    cfg = BenchmarkConfig.model_validate({
        "models": [model],
        "endpoint": settings,
        "datasets": [{"name": "default", "type": "synthetic", "entries": 1, "prompts": {"isl": 1, "osl": 1}}],
        "phases": [{"name": "profiling", "type": "concurrency", "requests": 1, "concurrency": 1}],
        "runtime": {"ui": "none"},
    })
    return BenchmarkRun(benchmark_id="plug-in", cfg=cfg, artifact_dir=cfg.artifacts.dir)


def known_keywords(cls):
    """Returns those options that the constructor of a class names."""
    named = inspect.signature(cls.__init__).parameters
    return {k: v for k, v in options.items() if k in named}


def endpoint(cls):
    """Returns a class with format and parse around a class of the Python tool with format_payload and parse_response."""
    from aiperf.common.models import ModelEndpointInfo, RequestInfo
    from aiperf.common.models.record_models import SSEField, SSEMessage, TextResponse

    class Adapter:
        def __init__(self):
            self.instances = {}
            self.instance("model", False, None)  # an error of the constructor is one of the hello

        def instance(self, model, stream, extra):
            key = (model, stream, json.dumps(extra))
            if key not in self.instances:
                while len(self.instances) >= KEPT:
                    del self.instances[next(iter(self.instances))]
                made = benchmark_run(model, streaming=stream, extra=extra or {})
                self.instances[key] = cls(model_endpoint=ModelEndpointInfo.from_run(made), **known_keywords(cls))
            return self.instances[key]

        def format(self, turn, history, model, stream, max_tokens, extra):
            instance = self.instance(model, bool(stream), extra)
            turns = [make_turn(t) for t in history or []] + [make_turn(turn, max_tokens)]
            info = RequestInfo(
                model_endpoint=instance.model_endpoint, turns=turns, turn_index=len(turns) - 1, credit_num=0, credit_phase="profiling", x_request_id="",
                x_correlation_id="", conversation_id="", system_message=turn.get("system_message"), user_context_message=turn.get("user_context_message"),
            )
            body = instance.format_payload(info)
            headers, query, path = instance.get_endpoint_headers(info), instance.get_endpoint_params(info), None
            if query:
                path = "%s?%s" % (options.get("endpoint_path") or "", urllib.parse.urlencode(query))
            return Request(body, headers=headers or None, path=path)

        def parse(self, message, stream, status):
            now = time.perf_counter_ns()
            if stream:
                response = SSEMessage(perf_ns=now, packets=[SSEField(name="data", value=message)])
            else:
                response = TextResponse(perf_ns=now, text=message, content_type="application/json")
            return parsed(next(reversed(self.instances.values())).parse_response(response))

    return Adapter


def make_turn(turn, max_tokens=None):
    """Returns the Turn of the Python tool for a turn of the protocol."""
    from aiperf.common.models import Audio, Image, Text, Turn, Video

    def media(kind, key, name):
        contents = turn.get(key) or []
        return [kind(name=name, contents=contents)] if contents else []

    return Turn(
        texts=media(Text, "texts", "text"), images=media(Image, "images", "image_url"), audios=media(Audio, "audios", "input_audio"),
        videos=media(Video, "videos", "video_url"), role=turn.get("role"), model=turn.get("model"), max_tokens=max_tokens or turn.get("max_tokens"),
        timestamp=turn.get("timestamp"), delay=turn.get("delay"), raw_messages=turn.get("messages"), raw_tools=turn.get("tools"),
        extra_body=turn.get("extra"),
    )


def parsed(response):
    """Returns what the protocol says of a ParsedResponse."""
    if response is None:
        return None
    data, message = response.data, {}
    if data is not None:
        texts = {"text": getattr(data, "text", None) or getattr(data, "content", None), "reasoning": getattr(data, "reasoning", None)}
        texts["tool_calls"] = getattr(data, "tool_call_text", None)
        message = {k: v for k, v in texts.items() if v}
        if not message and data.get_text():
            message["text"] = data.get_text()  # a class of the author's own
    if response.usage:
        usage = response.usage
        counts = {
            "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens, "total_tokens": usage.total_tokens,
            "reasoning_tokens": usage.reasoning_tokens, "cached_tokens": usage.prompt_cache_read_tokens,
        }
        message["usage"] = {k: v for k, v in counts.items() if v is not None}
    return message


def custom_dataset_loader(cls):
    """Returns a class with can_load and load around a class of the Python tool with can_load, load_dataset and convert_to_conversations."""

    class Adapter:
        def can_load(self, path, head):
            first = next((line for line in head or [] if line.strip()), "")
            try:
                data = json.loads(first)
            except ValueError:
                data = None
            return bool(cls.can_load(data if isinstance(data, dict) else None, path))

        def load(self, path):
            one = cls(filename=path, run=benchmark_run(), **known_keywords(cls))
            mode = getattr(cls, "get_default_context_mode", lambda: None)()
            for conversation in one.convert_to_conversations(one.load_dataset()):
                yield plain_conversation(conversation, conversation.context_mode or mode)

    return Adapter


# TURN_FIELDS and CONVERSATION_FIELDS are the fields that the protocol carries. A loader that sets another one is refused, because without it
# the conversations would be others.
TURN_FIELDS = {
    "texts", "images", "audios", "videos", "role", "model", "max_tokens", "timestamp", "delay", "raw_tools", "raw_messages", "extra_body",
}
CONVERSATION_FIELDS = {"session_id", "turns", "system_message", "user_context_message", "context_mode"}


def plain_conversation(conversation, mode):
    """Returns the conversation of the protocol for one of the Python tool."""
    refuse_others(conversation, CONVERSATION_FIELDS, conversation.session_id)
    one = {"session_id": conversation.session_id, "turns": [plain_turn(t, conversation.session_id) for t in conversation.turns]}
    if conversation.system_message is not None:
        one["system_message"] = conversation.system_message
    if conversation.user_context_message is not None:
        one["context_messages"] = [{"role": "user", "content": conversation.user_context_message}]
    if mode is not None:
        one["context_mode"] = str(getattr(mode, "value", mode))
    return one


def plain_turn(turn, session):
    refuse_others(turn, TURN_FIELDS, session)
    one = {}
    for key in ("texts", "images", "audios", "videos"):
        contents = [c for media in getattr(turn, key) for c in media.contents]
        if contents:
            one[key] = contents
    for key, name in (("raw_tools", "tools"), ("raw_messages", "messages"), ("extra_body", "extra")):
        if getattr(turn, key) is not None:
            one[name] = getattr(turn, key)
    for key in ("role", "model", "max_tokens", "timestamp", "delay"):
        if getattr(turn, key) is not None:
            one[key] = getattr(turn, key)
    return one


def refuse_others(model, fields, session):
    """Refuses an object of the Python tool with a field that the protocol does not carry."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if name not in fields and value != field.get_default(call_default_factory=True):
            raise ValueError("conversation %s: the field %s of %s has the value %.60r, which the protocol cannot carry" % (session, name, type(model).__name__, value))


def accuracy_grader(cls):
    """Returns a class with grade around a grader of the Python tool."""

    class Adapter:
        def __init__(self):
            if hasattr(cls, "check_available"):
                cls.check_available()
            self.grader = cls(run=benchmark_run(), **known_keywords(cls))

        async def grade(self, answer, truth):
            grade = await self.grader.grade(answer, truth)
            return {k: getattr(grade, k) for k in ("correct", "unparsed", "confidence", "reasoning", "extracted_answer")}

    return Adapter


def accuracy_benchmark(cls):
    """Returns a class with load around a benchmark of the Python tool."""

    class Adapter:
        def __init__(self):
            self.benchmark = cls(run=benchmark_run(), **known_keywords(cls))

        async def load(self, tasks, n_shots, enable_cot):
            problems = await self.benchmark.load_problems(tasks=tasks, n_shots=n_shots or 0, enable_cot=bool(enable_cot))
            return [plain_problem(p) for p in problems]

    return Adapter


def plain_problem(problem):
    one = {"prompt": problem.prompt, "ground_truth": problem.ground_truth, "task": problem.task, "metadata": problem.metadata}
    if problem.raw_messages is not None:
        one["messages"] = problem.raw_messages
    return one


# ADAPTERS has the adapter of each category, and the method by which the Python tool knows a class of it.
ADAPTERS = {
    "endpoint": (endpoint, "format_payload"),
    "custom_dataset_loader": (custom_dataset_loader, "load_dataset"),
    "accuracy_grader": (accuracy_grader, "grade"),
    "accuracy_benchmark": (accuracy_benchmark, "load_problems"),
}


def find(path):
    """Imports module:Class."""
    module, _, name = path.partition(":")
    if not module or not name:
        raise SystemExit("%s: expected module:Class, for example my_pkg.endpoints:MyChat" % path)
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m aiperf_plugin.classes", description="Runs a plug-in class of AIPerf 0.13 as a plug-in of aiperf.")
    parser.add_argument("path", metavar="module:Class", help="the class, importable in this Python; the folder of the manifest is on its path")
    parser.add_argument("--category", required=True, choices=sorted(ADAPTERS), help="category of the plug-in")
    parser.add_argument("--threads", type=int, default=1, help="calls carried out at the same time (default 1)")
    given = parser.parse_args(arguments)
    protect()  # the Python tool prints while it is imported, and its log goes to stdout
    sys.path.insert(0, os.getcwd())
    adapter, method = ADAPTERS[given.category]

    class Late:
        """Late imports the class after the hello, so that an error of the import is an answer to it."""

        def __new__(cls):
            target = find(given.path)
            if not callable(getattr(target, method, None)):
                raise TypeError("%s has no %s: it is not of the category %s" % (given.path, method, given.category))
            return adapter(target)()

    _decorator(_normal(given.category), method, None, {})(Late)
    run(threads=given.threads)


if __name__ == "__main__":
    main()
