import json
import subprocess
import sys
import unittest

from endpoint import Chat


class Endpoint(unittest.TestCase):
    def test_body(self):
        history = [{"texts": ["hi"]}, {"texts": ["hello"], "role": "assistant"}]
        request = Chat().format({"texts": ["how", " are you?"]}, history, "m", True, 5, {"seed": 1})
        self.assertEqual(request.body, {
            "model": "m", "stream": True, "max_tokens": 5, "seed": 1,
            "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}, {"role": "user", "content": "how are you?"}],
        })

    def test_answers(self):
        chat = Chat()
        self.assertEqual(chat.parse('{"choices":[{"delta":{"content":"a"}}]}', True), {"text": "a"})
        self.assertEqual(chat.parse('{"choices":[{"message":{"content":"b"}}]}', False), {"text": "b"})
        self.assertEqual(chat.parse('{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}', True)["usage"]["completion_tokens"], 2)
        self.assertIsNone(chat.parse("[DONE]", True))

    def test_as_aiperf_starts_it(self):
        lines = [
            {"type": "hello", "protocol": 1, "aiperf": "test", "category": "endpoint", "name": "my_plugin", "options": {}},
            {"id": 1, "method": "format", "params": {"turn": {"texts": ["hi"]}, "history": [], "model": "m", "stream": True, "max_tokens": None, "extra": {}}},
            {"id": 2, "method": "parse", "params": {"messages": ['{"choices":[{"delta":{"content":"a"}}]}', "[DONE]"], "stream": True, "status": 200}},
        ]
        program = [sys.executable, "-B", "endpoint.py"]
        done = subprocess.run(program, input="".join(json.dumps(m) + "\n" for m in lines), capture_output=True, text=True, timeout=20)
        hello, body, parsed = map(json.loads, done.stdout.splitlines())
        self.assertEqual((hello["type"], hello["methods"]), ("hello", ["format", "parse"]))
        self.assertEqual(body["result"]["body"]["messages"], [{"role": "user", "content": "hi"}])
        self.assertEqual(parsed["result"], {"messages": [{"text": "a"}, None]})


if __name__ == "__main__":
    unittest.main()
