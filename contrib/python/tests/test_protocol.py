"""The protocol as aiperf sees it: every test starts tests/everything.py and talks to it over pipes."""
import io
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
EVERYTHING = os.path.join(ROOT, "tests", "everything.py")


def hello(category, name, **more):
    return {"type": "hello", "protocol": 1, "aiperf": "test", "category": category, "name": name, "options": {}, **more}


def exchange(lines, program=EVERYTHING, **environment):
    """Sends lines, closes stdin and returns the lines of stdout, what was written to stderr, and the exit status."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run(
        [sys.executable, program], input=text, capture_output=True, text=True, timeout=30, env={**os.environ, "PYTHONPATH": ROOT, **environment}
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr, done.returncode


def results(category, name, *calls, **environment):
    """Returns the greeting and, for each call (method, params), its messages without the id."""
    lines = [hello(category, name, options={"tenant": "blue"})]
    lines += [{"id": i, "method": m, "params": p} for i, (m, p) in enumerate(calls)]
    out, errors, status = exchange(lines, **environment)
    assert status == 0, errors
    by_call = [[] for _ in calls]
    for message in out[1:]:
        by_call[message.pop("id")].append(message)
    return out[0], by_call


class Categories(unittest.TestCase):
    def test_endpoint(self):
        greeting, (body, parsed) = results(
            "endpoint", "gateway",
            ("format", {"turn": {"texts": ["hi"]}, "history": [], "model": "m", "stream": True, "max_tokens": None, "extra": {}}),
            ("parse", {"messages": ['{"t":"a"}', "[DONE]", '{"t":"b"}'], "stream": True, "status": 200}),
        )
        self.assertEqual(greeting["metadata"], {"endpoint_path": "/gw/chat", "framing": "sse", "supports_streaming": True})
        self.assertEqual(greeting["methods"], ["format", "parse"])
        self.assertEqual(body, [{"result": {"body": {"q": "hi", "model": "m", "stream": True}, "headers": {"X-Tenant": "blue"}}}])
        self.assertEqual(parsed, [{"result": {"messages": [{"text": "a"}, None, {"text": "b"}]}}])

    def test_loader(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.lines")
            with open(path, "w") as file:
                file.write("one|two\n" + "x" * 600_000 + "\n" + "y" * 600_000 + "\nlast\n")
            _, (can, loaded) = results("custom_dataset_loader", "lines", ("can_load", {"path": path, "head": []}), ("load", {"path": path}))
        self.assertEqual(can, [{"result": {"can_load": True}}])
        first, second, end = loaded
        self.assertEqual(first["part"]["conversations"][0], {"turns": [{"texts": ["one"]}, {"texts": ["two"]}]})
        self.assertEqual([len(p["part"]["conversations"]) for p in (first, second)], [3, 1])
        self.assertEqual(end, {"result": {}})

    def test_benchmark(self):
        greeting, (loaded,) = results("accuracy_benchmark", "sums", ("load", {"tasks": ["t"], "n_shots": 2, "enable_cot": False, "system_prompt": None}))
        self.assertEqual(greeting["metadata"], {"default_grader": "strict", "default_n_shots": 0})
        self.assertEqual(loaded[0]["part"]["problems"][1], {"prompt": "1+1=", "ground_truth": "2", "task": "t", "metadata": {"n": 2}})
        self.assertEqual(loaded[1], {"result": {}})

    def test_grader(self):
        def grade(answer):
            return ("grade", {"response_text": answer, "ground_truth": "B", "task": "t", "metadata": {}})

        _, (right, wrong, missing) = results("accuracy_grader", "STRICT", grade(" B "), grade("A"), grade(""))
        self.assertEqual(right, [{"result": {"correct": True, "unparsed": False, "confidence": 1.0}}])
        self.assertEqual(wrong, [{"result": {"correct": False, "unparsed": False, "confidence": 1.0}}])
        self.assertEqual(missing, [{"result": {"correct": False, "unparsed": True, "confidence": 0.0}}])

    def test_exporter(self):
        with tempfile.TemporaryDirectory() as folder:
            _, (files,) = results("data_exporter", "copy", ("export", {"artifact_directory": folder, "summary": {"a": 1}, "records": None, "config": {}}))
            path = os.path.join(folder, "copy.json")
            self.assertEqual(files, [{"result": {"files": [{"path": path}]}}])
            with open(path) as file:
                self.assertEqual(json.load(file), [{"a": 1}, None])

    def test_collector(self):
        _, (start, gpus) = results("gpu_telemetry_collector", "fixed", ("start", {"interval_ms": 333}), ("collect", {}))
        self.assertEqual(start, [{"result": {}}])
        self.assertEqual(gpus[0]["result"]["gpus"][0]["metrics"], {"gpu_power_usage": 166.5})

    def test_planner(self):
        parameters = [{"name": "concurrency", "kind": "integer", "min": 1, "max": 64}]
        _, (first, last) = results(
            "search_planner", "double",
            ("next", {"parameters": parameters, "objective": {}, "history": [], "seed": 4}),
            ("next", {"parameters": parameters, "objective": {}, "history": [{}, {}], "seed": 4}),
        )
        self.assertEqual(first, [{"result": {"values": {"concurrency": 5}}}])
        self.assertEqual(last, [{"result": {"done": True, "reason": "two cells"}}])

    def test_arrivals(self):
        _, (block,) = results("arrival_pattern", "even", ("intervals", {"rate": 4, "count": 3, "seed": 1, "first": 7}))
        self.assertEqual(block, [{"result": {"intervals_s": [7.25] * 3}}])


class Faults(unittest.TestCase):
    def grade(self, answer, **environment):
        _, (answers,) = results("accuracy_grader", "strict", ("grade", {"response_text": answer, "ground_truth": "B"}), **environment)
        return answers

    def test_printing_goes_to_stderr(self):
        out, errors, status = exchange([hello("accuracy_grader", "strict"), {"id": 1, "method": "grade", "params": {"response_text": "print"}}])
        self.assertEqual((len(out), status), (2, 0))
        self.assertIn("on stdout", errors)
        self.assertIn("from a shell", errors)

    def test_an_error_names_its_place(self):
        (answer,) = self.grade("exit")
        self.assertRegex(answer["error"]["message"], r"^SystemExit: no \(everything\.py:\d+\)$")

    def test_results_that_are_no_grade(self):
        self.assertIn("not JSON compliant", self.grade("nan")[0]["error"]["message"])
        self.assertIn("a grade is True, False, None or a dictionary, not 1", self.grade("number")[0]["error"]["message"])

    def test_an_error_ends_only_its_call(self):
        _, (failed, fine) = results("accuracy_grader", "strict", ("grade", {"response_text": "exit"}), ("grade", {"response_text": "B", "ground_truth": "B"}))
        self.assertIn("error", failed[0])
        self.assertTrue(fine[0]["result"]["correct"])

    def test_unknown_method(self):
        _, (answer,) = results("accuracy_grader", "strict", ("mark", {}))
        self.assertIn("unknown method 'mark'; this plug-in has: grade", answer[0]["error"]["message"])

    def test_hello_for_another_plugin(self):
        for lines, text in (
            ([hello("accuracy_grader", "missing")], "this program has no accuracy_grader:missing; it has endpoint:gateway,"),
            ([hello("accuracy_grader", "strict", protocol=2)], "aiperf speaks protocol 2, this program protocol 1"),
            (["no JSON"], "JSONDecodeError"),
        ):
            out, _, status = exchange(lines)
            self.assertEqual((len(out), out[0]["type"], status), (1, "error", 1))
            self.assertIn(text, out[0]["message"])

    def test_no_hello_is_a_quiet_end(self):
        self.assertEqual(exchange([]), ([], "", 0))

    def test_aiperf_that_ends_is_a_quiet_end(self):
        for threads in ("1", "4"):
            program = subprocess.Popen(
                [sys.executable, EVERYTHING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": ROOT, "THREADS": threads},
            )
            program.stdin.write(json.dumps(hello("accuracy_grader", "strict")).encode() + b"\n")
            program.stdin.flush()
            program.stdout.readline()
            program.stdout.close()
            program.stdin.write(b'{"id":1,"method":"grade","params":{"response_text":"B"}}\n' * 2)
            program.stdin.close()
            self.assertEqual((program.wait(timeout=20), program.stderr.read()), (0, b""))
            program.stderr.close()

    def test_a_terminal_gets_a_hint(self):
        import pty

        keyboard, terminal = pty.openpty()
        self.addCleanup(os.close, keyboard)
        with os.fdopen(terminal, "rb") as stdin:
            done = subprocess.run([sys.executable, EVERYTHING], stdin=stdin, capture_output=True, text=True, timeout=20, env={**os.environ, "PYTHONPATH": ROOT})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("is a plug-in of aiperf (endpoint:gateway, ", done.stderr)

    def test_a_noisy_import(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "noisy.py"), "w") as file:
                file.write("print('noise', flush=True)\n")
            path = os.path.join(folder, "plugin.py")
            with open(path, "w") as file:
                file.write(textwrap.dedent("""
                    from aiperf_plugin import grader, protect, run
                    protect()
                    import noisy

                    @grader()
                    def grade(answer):
                        return True

                    run()
                """))
            out, errors, status = exchange([hello("accuracy_grader", "any_name")], program=path)
        self.assertEqual(([m["type"] for m in out], status, errors), (["hello"], 0, "noise\n"))


class Threads(unittest.TestCase):
    def test_calls_at_the_same_time(self):
        call = ("grade", {"response_text": "", "ground_truth": "", "metadata": {}})
        _, answers = results("accuracy_grader", "together", *[call] * 8, THREADS="8")
        self.assertEqual([a[0]["result"]["correct"] for a in answers], [True] * 8)  # each call waits for the seven others

    def test_answers_in_any_order(self):
        def call(i, seconds):
            return {"id": i, "method": "grade", "params": {"response_text": seconds, "metadata": {"k": i}}}

        out, _, _ = exchange([hello("accuracy_grader", "slow"), call(1, "0.5"), call(2, "0")], THREADS="2")
        self.assertEqual([m["id"] for m in out[1:]], [2, 1])


class Registration(unittest.TestCase):
    def test_unknown_parameters_are_refused_at_once(self):
        import aiperf_plugin

        with self.assertRaisesRegex(TypeError, "grade has a parameter 'reply'; grade may have: answer, truth, task, metadata"):
            @aiperf_plugin.grader("wrong_parameter")
            def grade(reply):
                return True

        with self.assertRaisesRegex(TypeError, "needs a name"):
            aiperf_plugin.grader(lambda answer: True)(lambda answer: True)

    def test_a_class_that_lacks_a_method(self):
        import aiperf_plugin

        @aiperf_plugin.endpoint("half")
        class Half:
            def format(self, turn):
                return {}

        sent = []
        status = aiperf_plugin.serve(io.BytesIO(json.dumps(hello("endpoint", "half")).encode()), sent.append)
        self.assertEqual(status, 1)
        self.assertIn("endpoint lacks the method parse", json.loads(sent[0])["message"])

    def test_twice(self):
        import aiperf_plugin

        aiperf_plugin.grader("twice")(lambda answer: True)
        with self.assertRaisesRegex(ValueError, "accuracy_grader:twice is defined twice"):
            aiperf_plugin.grader("Twice")(lambda answer: True)

    def test_what_is_decorated_is_unchanged(self):
        sys.path.insert(0, os.path.dirname(EVERYTHING))
        import everything

        self.assertTrue(everything.strict("B", "B"))


if __name__ == "__main__":
    unittest.main()
