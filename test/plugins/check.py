"""Plug-in classes of AIPerf 0.13 behind the protocol of aiperf: its own classes and those of own_classes.py. Run it with a Python that has the package
aiperf 0.13.0 (make test-plugin-classes does). Every answer over the protocol must be what the class says when it is called directly.
"""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "test" / "plugins"
sys.path[:0] = [str(ROOT / "contrib" / "python"), str(HERE)]

from aiperf.common.models import ModelEndpointInfo, RequestInfo, Text, Turn  # noqa: E402
from aiperf.common.models.record_models import SSEMessage, TextResponse  # noqa: E402
from aiperf_plugin.classes import benchmark_run, find, parsed, plain_conversation  # noqa: E402

failures = checks = 0


def same(what, got, want):
    global failures, checks
    checks += 1
    if got != want:
        failures += 1
        print("%s:\n  got  %s\n  want %s" % (what, got, want))


class Plugin:
    """Plugin is one class behind the protocol, in its own process."""

    def __init__(self, path, category, **options):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "aiperf_plugin.classes", path, "--category", category], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            cwd=HERE, env={**os.environ, "PYTHONPATH": str(ROOT / "contrib" / "python")},
        )
        self.calls = 0
        self.greeting = self.ask({"type": "hello", "protocol": 1, "category": category, "name": "tried", "options": options})

    def ask(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def call(self, method, **params):
        """Returns the result, or the message of the error; parts are added up."""
        self.calls += 1
        answer, parts = self.ask({"id": self.calls, "method": method, "params": params}), {}
        while "part" in answer:
            for key, values in answer["part"].items():
                parts.setdefault(key, []).extend(values)
            answer = json.loads(self.process.stdout.readline())
        return answer["error"]["message"] if "error" in answer else {**parts, **answer["result"]}

    def close(self, what):
        self.process.stdin.close()
        began = time.monotonic()
        same("%s: exit status" % what, self.process.wait(timeout=20), 0)
        same("%s: ends within 5 s of the end of stdin" % what, time.monotonic() - began < 5, True)
        same("%s: stdout has nothing more" % what, self.process.stdout.read(), b"")
        self.process.stdout.close()
        self.log.close()


def info(endpoint, turns):
    return RequestInfo(
        model_endpoint=endpoint.model_endpoint, turns=turns, turn_index=len(turns) - 1, credit_num=0, credit_phase="profiling", x_request_id="",
        x_correlation_id="", conversation_id="",
    )


CHUNKS = [
    '{"object":"chat.completion.chunk","choices":[{"delta":{"reasoning_content":"hm"}}]}',
    '{"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hé"}}]}',
    '{"object":"chat.completion.chunk","choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}',
    '{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}',
    "[DONE]",
]
WHOLE = ['{"object":"chat.completion","choices":[{"message":{"content":"all"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}']
OTHERS = {
    "aiperf.endpoints.openai_completions:CompletionsEndpoint": ['{"object":"text_completion","choices":[{"text":"a"}]}', "[DONE]"],
    "aiperf.endpoints.anthropic_messages:MessagesEndpoint": [
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}', '{"type":"message_stop"}',
    ],
    "aiperf.endpoints.openai_responses:ResponsesEndpoint": ['{"type":"response.output_text.delta","delta":"a"}'],
    "aiperf.endpoints.huggingface_generate:HuggingFaceGenerateEndpoint": ['{"token":{"text":"a"}}', '{"generated_text":"b"}'],
    "aiperf.endpoints.openai_chat:ChatEndpoint": CHUNKS,
}


def endpoints():
    for path, chunks in OTHERS.items():
        plugin = Plugin(path, "endpoint")
        same("%s: methods" % path, plugin.greeting.get("methods"), ["format", "parse"])
        for stream in (True, False):
            extra = {"temperature": 0.5}
            direct = find(path)(model_endpoint=ModelEndpointInfo.from_run(benchmark_run("m", streaming=stream, extra=extra)))
            turn = Turn(texts=[Text(name="text", contents=["How are you?"])], max_tokens=9)
            earlier = [] if "Completions" in path or "Generate" in path else [("hi", "user"), ("hello", "assistant")]  # those take one turn
            history = [Turn(texts=[Text(contents=[text])], role=role) for text, role in earlier]
            got = plugin.call(
                "format", turn={"texts": ["How are you?"]}, history=[{"texts": [text], "role": role} for text, role in earlier], model="m", stream=stream,
                max_tokens=9, extra=extra,
            )
            request = info(direct, [*history, turn])
            headers = direct.get_endpoint_headers(request)
            same("%s: request" % path, got, {"body": direct.format_payload(request), **({"headers": headers} if headers else {})})
            messages = chunks if stream else WHOLE
            make = (lambda m: SSEMessage.parse("data: " + m, 1)) if stream else (lambda m: TextResponse(perf_ns=1, text=m))
            same("%s: answer" % path, plugin.call("parse", messages=messages, stream=stream, status=200), {
                "messages": [parsed(direct.parse_response(make(m))) for m in messages],
            })
        plugin.close(path)
    chat = Plugin("aiperf.endpoints.openai_chat:ChatEndpoint", "endpoint")
    same("chat: what its chunks mean", chat.call("parse", messages=CHUNKS, stream=True, status=200)["messages"], [
        {"reasoning": "hm"}, {"text": "Hé"}, {"tool_calls": "f{}"}, {"usage": {"prompt_tokens": 3, "completion_tokens": 4, "cached_tokens": 2}}, None,
    ])
    chat.close("chat")
    echo = Plugin("own_classes:Echo", "endpoint", endpoint_path="/echo")
    same("echo: request", echo.call("format", turn={"texts": ["hi"]}, history=[], model="m", stream=False, max_tokens=5, extra=None), {
        "body": {"text": "hi", "model": "m", "limit": 5, "stream": False}, "headers": {"X-Turns": "1"}, "path": "/echo?version=2+b",
    })
    same("echo: answer", echo.call("parse", messages=['{"echo":"hi","usage":{"prompt_tokens":1}}'], stream=False, status=200), {
        "messages": [{"text": "hi", "usage": {"prompt_tokens": 1}}],
    })
    same("echo: error", echo.call("parse", messages=['{"no":1}'], stream=False, status=200)[:15], "KeyError: 'echo")
    echo.close("echo")


def loaders():
    with tempfile.TemporaryDirectory() as folder:
        single, words = os.path.join(folder, "single.jsonl"), os.path.join(folder, "a.words")
        pathlib.Path(single).write_text(
            '{"text":"one","output_length":7,"session_id":"a"}\n{"texts":["b","c"],"image":"http://localhost/i.png","session_id":"s","timestamp":1}\n'
            '{"text":"d","session_id":"s","delay":5,"extra":{"top_p":1}}\n'
        )
        multi = os.path.join(folder, "multi.jsonl")
        pathlib.Path(multi).write_text('{"session_id":"m","turns":[{"text":"one"},{"text":"two","delay":3}]}\n')
        pathlib.Path(words).write_text("to be\nor not\n")
        for path, file, other in (
            ("aiperf.dataset.loader.single_turn:SingleTurnDatasetLoader", single, multi),
            ("aiperf.dataset.loader.multi_turn:MultiTurnDatasetLoader", multi, single),
            ("own_classes:Words", words, single),
        ):
            plugin, cls = Plugin(path, "custom_dataset_loader"), find(path)
            for name, want in ((file, True), (other, False)):
                with open(name) as text:
                    same("%s: can_load %s" % (path, name), plugin.call("can_load", path=name, head=text.read().splitlines()[:2]), {"can_load": want})
            one = cls(filename=file, run=benchmark_run())
            want = [plain_conversation(c, c.context_mode or cls.get_default_context_mode()) for c in one.convert_to_conversations(one.load_dataset())]
            same("%s: conversations" % path, plugin.call("load", path=file, options={}), {"conversations": want})
            same("%s: number of conversations" % path, len(want) > 0, True)
            plugin.close(path)
        plugin = Plugin("own_classes:Words", "custom_dataset_loader")
        same("words", plugin.call("load", path=words, options={})["conversations"][1], {
            "session_id": "line-2", "turns": [{"texts": ["or"], "delay": 0.0}, {"texts": ["not"], "delay": 10.0}], "system_message": "be brief",
        })
        plugin.close("words")
        plugin = Plugin("own_classes:Forks", "custom_dataset_loader")
        same("forks", plugin.call("load", path=words, options={})[:75], "ValueError: conversation f: the field agent_depth of Conversation has the v")
        plugin.close("forks")


def graders():
    answers = [("B", "B"), (" B ", "B"), ("The answer is B.", "B"), ("A", "B"), ("", "B"), ("#### 42", "42"), ("\\boxed{1/2}", "\\frac{1}{2}")]
    for path in (
        "aiperf.accuracy.graders.exact_match:ExactMatchGrader", "aiperf.accuracy.graders.multiple_choice:MultipleChoiceGrader",
        "aiperf.accuracy.graders.gsm8k_grader:LightevalGSM8KGrader", "aiperf.accuracy.graders.math:MathGrader",
    ):
        plugin, direct = Plugin(path, "accuracy_grader"), find(path)(run=benchmark_run())
        for text, truth in answers:
            want = asyncio.run(direct.grade(text, truth)).model_dump(exclude={"ground_truth"})
            same("%s: %r" % (path, text), plugin.call("grade", response_text=text, ground_truth=truth, task="t", metadata={}), want)
        plugin.close(path)
    plugin = Plugin("own_classes:Length", "accuracy_grader")
    same("length", plugin.call("grade", response_text="four", ground_truth="abc", task="t", metadata={})["confidence"], 0.75)
    same("length: error", plugin.call("grade", response_text="", ground_truth="abc", task="t", metadata={})[:17], "ZeroDivisionError")
    plugin.close("length")
    plugin = Plugin("own_classes:Sums", "accuracy_benchmark")
    same("sums", plugin.call("load", tasks=None, n_shots=2, enable_cot=False, system_prompt=None)["problems"][1], {
        "prompt": "1+1=", "ground_truth": "2", "task": "sums", "metadata": {"shots": 2},
    })
    plugin.close("sums")


def mistakes():
    for path, category, text in (
        ("own_classes:Echo", "accuracy_grader", "own_classes:Echo has no grade: it is not of the category accuracy_grader"),
        ("own_classes:Missing", "endpoint", "module 'own_classes' has no attribute 'Missing'"),
        ("no_such_module:X", "endpoint", "No module named 'no_such_module'"),
    ):
        plugin = Plugin(path, category)
        same("%s: %s" % (path, plugin.greeting), text in plugin.greeting.get("message", ""), True)
        same("%s: exit status" % path, plugin.process.wait(timeout=20), 1)


for group in (endpoints, loaders, graders, mistakes):
    group()
print("%d checks of plug-in classes, %d failed" % (checks, failures))
sys.exit(failures > 0)
