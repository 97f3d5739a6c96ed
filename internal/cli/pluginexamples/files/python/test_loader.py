import json
import subprocess
import sys
import unittest

from loader import Turns


class Load(unittest.TestCase):
    def test_conversations(self):
        self.assertEqual(list(Turns().load("example.turns")), [["What is a token?", "And how long is one?"], ["Name three colours."]])

    def test_file_names(self):
        self.assertTrue(Turns().can_load("example.turns"))
        self.assertFalse(Turns().can_load("example.jsonl"))

    def test_as_aiperf_starts_it(self):
        lines = [
            {"type": "hello", "protocol": 1, "aiperf": "test", "category": "custom_dataset_loader", "name": "my_plugin", "options": {}},
            {"id": 1, "method": "load", "params": {"path": "example.turns", "options": {}}},
        ]
        program = [sys.executable, "-B", "loader.py"]
        done = subprocess.run(program, input="".join(json.dumps(m) + "\n" for m in lines), capture_output=True, text=True, timeout=20)
        hello, part, end = map(json.loads, done.stdout.splitlines())
        self.assertEqual((hello["type"], hello["methods"]), ("hello", ["can_load", "load"]))
        self.assertEqual(part["part"]["conversations"][1], {"turns": [{"texts": ["Name three colours."]}]})
        self.assertEqual(end, {"id": 1, "result": {}})


if __name__ == "__main__":
    unittest.main()
