"""Plug-in classes as an author writes them for AIPerf 0.13; check.py runs them behind the protocol."""

from aiperf.accuracy.graders.base import BaseGrader
from aiperf.accuracy.models import BenchmarkProblem, GradingResult
from aiperf.common.models import Conversation, ParsedResponse, Text, TextResponseData, Turn
from aiperf.dataset.loader.base_loader import BaseFileLoader
from aiperf.endpoints.base_endpoint import BaseEndpoint


class Echo(BaseEndpoint):
    """Sends a text and receives it back."""

    def format_payload(self, request_info):
        print("formatting")  # must not reach the protocol
        turn = request_info.turns[-1]
        return {
            "text": "".join(c for t in turn.texts for c in t.contents),
            "model": turn.model or self.model_endpoint.primary_model_name,
            "limit": turn.max_tokens,
            "stream": self.model_endpoint.endpoint.streaming,
        }

    def get_endpoint_headers(self, request_info):
        return {**super().get_endpoint_headers(request_info), "X-Turns": str(len(request_info.turns))}

    def get_endpoint_params(self, request_info):
        return {"version": "2 b"}

    def parse_response(self, response):
        answer = response.get_json()
        if not answer:
            return None
        return ParsedResponse(perf_ns=response.perf_ns, data=TextResponseData(text=answer["echo"]), usage=answer.get("usage"))


class Words(BaseFileLoader):
    """Makes a conversation of each line, a turn of each word."""

    @classmethod
    def can_load(cls, data=None, filename=None):
        return str(filename).endswith(".words")

    def load_dataset(self):
        with open(self.filename) as file:
            return {"line-%d" % n: line.split() for n, line in enumerate(file, 1)}

    def convert_to_conversations(self, data):
        return [
            Conversation(session_id=name, system_message="be brief", turns=[Turn(texts=[Text(contents=[w])], delay=10.0 * i) for i, w in enumerate(words)])
            for name, words in data.items()
        ]


class Forks(Words):
    """Makes conversations that the protocol cannot carry."""

    def convert_to_conversations(self, data):
        return [Conversation(session_id="f", agent_depth=3, turns=[Turn(texts=[Text(contents=["x"])])])]


class Length(BaseGrader):
    """Compares lengths; fails for an empty answer."""

    async def grade(self, response_text, ground_truth, **kwargs):
        share = len(ground_truth) / len(response_text)
        return GradingResult(
            correct=share == 1, confidence=min(share, 1), reasoning="lengths", extracted_answer=response_text[:3], ground_truth=ground_truth
        )


class Sums:
    """A benchmark without a base class."""

    def __init__(self, run, **kwargs):
        self.model = run.cfg.get_model_names()[0]

    async def load_problems(self, tasks, n_shots, enable_cot):
        return [BenchmarkProblem(prompt="%d+1=" % n, ground_truth=str(n + 1), task=(tasks or ["sums"])[0], metadata={"shots": n_shots}) for n in range(2)]
