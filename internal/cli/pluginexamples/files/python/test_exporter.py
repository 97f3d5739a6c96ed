import json
import os
import subprocess
import sys
import tempfile
import unittest

from exporter import export

SUMMARY = {"request_latency": {"unit": "ms", "avg": 12.5}, "aiperf_version": "1"}


class Export(unittest.TestCase):
    def test_table(self):
        with tempfile.TemporaryDirectory() as folder:
            (file,) = export(folder, SUMMARY)
            with open(file["path"]) as table:
                self.assertEqual(table.read().split(), ["metric,unit,avg", "request_latency,ms,12.5"])

    def test_as_aiperf_starts_it(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = [
                {"type": "hello", "protocol": 1, "aiperf": "test", "category": "data_exporter", "name": "my_plugin", "options": {}},
                {"id": 1, "method": "export", "params": {"artifact_directory": folder, "summary": SUMMARY, "records": None, "config": {}}},
            ]
            program = [sys.executable, "-B", "exporter.py"]
            done = subprocess.run(program, input="".join(json.dumps(m) + "\n" for m in lines), capture_output=True, text=True, timeout=20)
            hello, answer = map(json.loads, done.stdout.splitlines())
            self.assertEqual((hello["type"], hello["methods"]), ("hello", ["export"]))
            self.assertTrue(os.path.exists(answer["result"]["files"][0]["path"]))


if __name__ == "__main__":
    unittest.main()
