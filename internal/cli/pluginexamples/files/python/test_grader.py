import json
import subprocess
import sys
import unittest

from grader import grade


class Grade(unittest.TestCase):
    def test_last_line(self):
        self.assertEqual(grade("Let me think.\n b ", "B"), {"correct": True, "extracted_answer": "b"})
        self.assertFalse(grade("B\nor C", "B")["correct"])
        self.assertIsNone(grade(" \n", "B"))

    def test_as_aiperf_starts_it(self):
        lines = [
            {"type": "hello", "protocol": 1, "aiperf": "test", "category": "accuracy_grader", "name": "my_plugin", "options": {}},
            {"id": 1, "method": "grade", "params": {"response_text": "B", "ground_truth": "b", "task": "t", "metadata": {}}},
        ]
        program = [sys.executable, "-B", "grader.py"]
        done = subprocess.run(program, input="".join(json.dumps(m) + "\n" for m in lines), capture_output=True, text=True, timeout=20)
        hello, answer = map(json.loads, done.stdout.splitlines())
        self.assertEqual((hello["type"], hello["methods"]), ("hello", ["grade"]))
        self.assertEqual((answer["id"], answer["result"]["correct"]), (1, True))


if __name__ == "__main__":
    unittest.main()
