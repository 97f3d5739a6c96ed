# SPDX-License-Identifier: Apache-2.0
"""Plug-ins of aiperf in Python: this module speaks protocol 1 of docs/plugin-protocol.md, the author writes functions.

    from aiperf_plugin import grader, run

    @grader("my_grader")
    def grade(answer, truth):
        return answer.strip() == truth

    if __name__ == "__main__":
        run()

A function names the parameters that it wants; PARAMETERS lists those of each method. It may be async. It may print: while run works, everything that is
printed goes to stderr, which aiperf writes to its log. An exception becomes the error of the one call, with its message and its place. The module is a
single file without dependencies, for Python 3.9 and later: a plug-in may carry a copy of it.
"""

import asyncio
import inspect
import json
import os
import queue
import sys
import sysconfig
import threading
import time
import traceback

__version__ = "1.0.0"
__all__ = [
    "Done", "Request", "arrival_pattern", "benchmark", "endpoint", "exporter", "gpu_collector", "grader", "loader", "options",
    "protect", "run", "search_planner", "serve",
]

PROTOCOL = 1
LINE_LIMIT = 64 << 20  # bytes that aiperf accepts in one line
PART_SIZE = 1 << 20  # bytes after which a list is sent on as one part
LAST_SECONDS = 4.0  # time for calls under way when aiperf has closed stdin; aiperf waits 5 s

# PARAMETERS lists the parameters that the functions of each category may have.
PARAMETERS = {
    "endpoint": {"format": ("turn", "history", "model", "stream", "max_tokens", "extra"), "parse": ("message", "stream", "status")},
    "custom_dataset_loader": {"can_load": ("path", "head"), "load": ("path", "options")},
    "accuracy_benchmark": {"load": ("tasks", "n_shots", "enable_cot", "system_prompt")},
    "accuracy_grader": {"grade": ("answer", "truth", "task", "metadata")},
    "data_exporter": {"export": ("directory", "summary", "records", "config")},
    "gpu_telemetry_collector": {"start": ("interval_ms",), "collect": ()},
    "search_planner": {"next": ("parameters", "objective", "history", "seed")},
    "arrival_pattern": {"intervals": ("rate", "count", "seed", "first")},
}

# WIRE_NAMES translates the names of parameters that differ in the protocol.
WIRE_NAMES = {"answer": "response_text", "truth": "ground_truth", "directory": "artifact_directory"}

#: options holds the metadata of the plug-in's entry in plugins.yaml. run fills it before it creates an instance of a class or calls a function.
options = {}

_plugins = {}  # (category, name or None) -> (target, method of a function, metadata)


class Request:
    """Request is what format returns if the body is not all: headers, a path below the URL, or a content type other than application/json."""

    def __init__(self, body, headers=None, path=None, content_type=None):
        self.body, self.headers, self.path, self.content_type = body, headers, path, content_type


class Done:
    """Done is what the next of a search planner returns at the end of the search, with the reason."""

    def __init__(self, reason=""):
        self.reason = reason


def _decorator(category, method, name, metadata):
    """Returns the decorator of a category: it registers a function as this method, or a class with all methods, and changes neither."""

    def register(target):
        if not inspect.isclass(target):
            _check(target, category, method)
        if name is not None and not isinstance(name, str):
            raise TypeError('@%s needs a name: @%s("my_name")' % (category, category))
        key = name and _normal(name)
        if (category, key) in _plugins:
            raise ValueError("%s:%s is defined twice" % (category, key))
        _plugins[category, key] = (target, method, metadata)
        return target

    return register


def endpoint(name=None, **metadata):
    """Registers a class with format, which makes the body of a request (or a Request), and parse, which reads one message of the answer: it returns the
    text, a dictionary with text, reasoning, tool_calls, finish_reason, usage or error, or None. The keywords are metadata: endpoint_path, framing, …"""
    return _decorator("endpoint", "format", name, metadata)


def loader(name=None, **metadata):
    """Registers a function that yields the conversations of a file, or a class with load and can_load. A conversation is a text (one turn), a list of
    texts (several turns) or a dictionary with session_id and turns."""
    return _decorator("custom_dataset_loader", "load", name, metadata)


def benchmark(name=None, **metadata):
    """Registers a function that yields the problems of a benchmark: dictionaries with prompt or messages, ground_truth and task. The keywords are
    default_grader, default_n_shots, default_enable_cot and default_system_prompt."""
    return _decorator("accuracy_benchmark", "load", name, metadata)


def grader(name=None, **metadata):
    """Registers a function that grades an answer: True, False, None (no answer was found in the text), or a dictionary with correct, unparsed,
    confidence, reasoning and extracted_answer."""
    return _decorator("accuracy_grader", "grade", name, metadata)


def exporter(name=None, **metadata):
    """Registers a function that writes files at the end of a run. It returns their paths, or dictionaries with path and description, or None."""
    return _decorator("data_exporter", "export", name, metadata)


def gpu_collector(name=None, **metadata):
    """Registers a function that returns one dictionary for each GPU: gpu_index, uuid, model, hostname, metrics. A class may have start, too."""
    return _decorator("gpu_telemetry_collector", "collect", name, metadata)


def search_planner(name=None, **metadata):
    """Registers a function that returns the values to measure next, as a dictionary, or Done."""
    return _decorator("search_planner", "next", name, metadata)


def arrival_pattern(name=None, **metadata):
    """Registers a function that returns the next count intervals between requests, in seconds."""
    return _decorator("arrival_pattern", "intervals", name, metadata)


def _normal(name):
    return name.lower().replace("-", "_")


def _check(function, category, method):
    """Refuses a function with a parameter that its method does not have."""
    allowed = PARAMETERS[category][method]
    for p in inspect.signature(function).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.default is not p.empty:
            continue
        if p.name not in allowed:
            raise TypeError("%s has a parameter %r; %s may have: %s" % (function.__qualname__, p.name, method, ", ".join(allowed) or "none"))


def _methods(target, category, method):
    """Returns the functions of a plug-in by method; of a class it creates the one instance."""
    if not inspect.isclass(target):
        return {method: target}
    instance = target()
    found = {m: getattr(instance, m) for m in PARAMETERS[category] if callable(getattr(instance, m, None))}
    for method, function in found.items():
        _check(function, category, method)
    return found


_loops = threading.local()  # one event loop for each thread, so that sessions outlive a call


def _apply(function, arguments):
    """Calls a function with those of the arguments that it names, and awaits it if it is async."""
    named = inspect.signature(function).parameters.values()
    if not any(p.kind == p.VAR_KEYWORD for p in named):
        arguments = {p.name: arguments[p.name] for p in named if p.name in arguments}
    result = function(**arguments)
    if inspect.isawaitable(result):
        if not hasattr(_loops, "loop"):
            _loops.loop = asyncio.new_event_loop()
        result = _loops.loop.run_until_complete(result)
    return result


class Plugin:
    """Plugin is one opened plug-in: it turns the parameters of a call into arguments, and what a function returns into a result of the protocol."""

    def __init__(self, category, functions, metadata):
        self.category, self.functions, self.metadata = category, functions, metadata
        missing = [m for m in PARAMETERS[category] if m not in functions and m not in ("can_load", "start")]
        if missing:
            raise TypeError("%s lacks the method %s" % (category, missing[0]))
        self.methods = list(PARAMETERS[category])

    def call(self, method, params, part):
        """Carries out one call and returns its result. Parts of it go to part first."""
        if method not in self.methods:
            raise ValueError("unknown method %r; this plug-in has: %s" % (method, ", ".join(self.methods)))
        arguments = {name: params.get(WIRE_NAMES.get(name, name)) for name in PARAMETERS[self.category][method]}
        return getattr(self, "_" + method)(self.functions.get(method), arguments, params, part)

    def _format(self, function, arguments, params, part):
        made = _apply(function, arguments)
        if not isinstance(made, Request):
            made = Request(made)
        return {k: v for k, v in vars(made).items() if k == "body" or v is not None}

    def _parse(self, function, arguments, params, part):
        parsed = []
        for message in params.get("messages") or []:
            one = _apply(function, {**arguments, "message": message})
            parsed.append({"text": one} if isinstance(one, str) else one)
        return {"messages": parsed}

    def _can_load(self, function, arguments, params, part):
        return {"can_load": bool(function and _apply(function, arguments))}

    def _load(self, function, arguments, params, part):
        key = "conversations" if self.category == "custom_dataset_loader" else "problems"
        batch, size = [], 0
        for one in _apply(function, arguments):
            if key == "conversations":
                one = _conversation(one)
            batch.append(one)
            size += len(_encode(one))
            if size >= PART_SIZE:
                part({key: batch})
                batch, size = [], 0
        if batch:
            part({key: batch})
        return {}

    def _grade(self, function, arguments, params, part):
        grade = _apply(function, arguments)
        if grade is None:
            return {"correct": False, "unparsed": True, "confidence": 0.0}
        if isinstance(grade, dict):
            if not isinstance(grade.get("correct"), bool):
                raise TypeError('the grade %r needs "correct": True or False' % (grade,))
            return {"unparsed": False, "confidence": 1.0, **grade}
        if hasattr(grade, "item"):
            grade = grade.item()  # a Boolean of numpy
        if not isinstance(grade, bool):
            raise TypeError("a grade is True, False, None or a dictionary, not %r" % (grade,))
        return {"correct": grade, "unparsed": False, "confidence": 1.0}

    def _export(self, function, arguments, params, part):
        files = _apply(function, arguments)
        if files is None:
            files = []
        elif isinstance(files, (str, os.PathLike)):
            files = [files]
        return {"files": [f if isinstance(f, dict) else {"path": os.fspath(f)} for f in files]}

    def _start(self, function, arguments, params, part):
        if function:
            _apply(function, arguments)
        return {}

    def _collect(self, function, arguments, params, part):
        return {"gpus": list(_apply(function, arguments))}

    def _next(self, function, arguments, params, part):
        values = _apply(function, arguments)
        return {"done": True, "reason": values.reason} if isinstance(values, Done) else {"values": dict(values)}

    def _intervals(self, function, arguments, params, part):
        return {"intervals_s": [float(i) for i in _apply(function, arguments)]}


def _conversation(one):
    """Returns the conversation of the protocol for a text, a list of texts or a dictionary."""
    if isinstance(one, str):
        one = [one]
    if isinstance(one, (list, tuple)):
        one = {"turns": [{"texts": [t]} if isinstance(t, str) else t for t in one]}
    return one


def _find(hello):
    """Opens the plug-in that a hello asks for."""
    if hello.get("protocol") != PROTOCOL:
        raise ValueError("aiperf speaks protocol %r, this program protocol %d" % (hello.get("protocol"), PROTOCOL))
    category, name = hello.get("category"), _normal(hello.get("name") or "")
    found = _plugins.get((category, name)) or _plugins.get((category, None))
    if not found:
        raise LookupError("this program has no %s:%s; it has %s" % (category, name, ", ".join("%s:%s" % (c, n or "(any)") for c, n in _plugins) or "none"))
    options.clear()
    options.update(hello.get("options") or {})
    target, method, metadata = found
    return Plugin(category, _methods(target, category, method), metadata)


def _plain(value):
    """Makes JSON of the values of other libraries: numbers of numpy, paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError("%s is not a value of JSON" % type(value).__name__)


def _encode(message):
    return json.dumps(message, allow_nan=False, separators=(",", ":"), default=_plain).encode()


_ours = os.path.abspath(__file__)
_libraries = tuple(p for p in {sysconfig.get_path(n) for n in ("stdlib", "platstdlib", "purelib", "platlib")} if p)


def _place(error):
    """Returns file:line of the innermost line of the author's code, or else of the innermost line of a library."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename[0] != "<" and os.path.abspath(f.filename) != _ours]
    own = [f for f in frames if not f.filename.startswith(_libraries)] or frames
    return "%s:%d" % (os.path.basename(own[-1].filename), own[-1].lineno) if own else ""


def _describe(error):
    """Returns the message of an error, with its type and place."""
    place = _place(error)
    return "%s: %s%s" % (type(error).__name__, error, " (%s)" % place if place else "")


class _Server:
    """One conversation with aiperf."""

    def __init__(self, write):
        self.write, self.lock, self.shown = write, threading.Lock(), set()

    def send(self, message):
        line = _encode(message)
        if len(line) >= LINE_LIMIT:
            raise ValueError("the result has %d bytes; a line may have %d" % (len(line), LINE_LIMIT))
        with self.lock:
            self.write(line + b"\n")

    def answer(self, call):
        """Carries out one call and sends its result or its error. Only a broken pipe is raised."""
        number = call.get("id")
        try:
            result = self.plugin.call(call.get("method"), call.get("params") or {}, lambda part: self.send({"id": number, "part": part}))
            self.send({"id": number, "result": result})
        except BrokenPipeError:
            raise
        except (Exception, SystemExit) as error:
            place = (type(error), _place(error))
            if place not in self.shown:  # the whole traceback once for each place, to the log
                self.shown.add(place)
                traceback.print_exc()
            self.send({"id": number, "error": {"message": _describe(error)}})

    def serve(self, lines, threads):
        first = lines.readline()
        if not first.strip():
            return 0
        try:
            hello = json.loads(first)
            self.plugin = _find(hello)
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            self.send({"type": "error", "message": _describe(error)})
            return 1
        self.send({"type": "hello", "protocol": PROTOCOL, "methods": self.plugin.methods, "metadata": self.plugin.metadata})
        if threads > 1:
            return self.pool(lines, threads)
        for line in lines:
            self.answer(json.loads(line))
        return 0

    def pool(self, lines, threads):
        calls = queue.Queue()

        def work():
            for call in iter(calls.get, None):
                try:
                    self.answer(call)
                except BrokenPipeError:
                    return  # aiperf has ended; the loop below sees the end of stdin

        workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
        for w in workers:
            w.start()
        for line in lines:
            calls.put(json.loads(line))
        for _ in workers:
            calls.put(None)
        deadline = time.monotonic() + LAST_SECONDS
        for w in workers:
            w.join(max(0.0, deadline - time.monotonic()))
        return 0


def serve(lines, write, threads=1):
    """Talks to aiperf until lines, a binary file, ends. write gets the bytes of whole lines. Returns the status with which the program should exit."""
    try:
        return _Server(write).serve(lines, threads)
    except BrokenPipeError:
        return 0  # aiperf has ended


_channel = None  # (lines of stdin, descriptor of stdout), once protect was called


def protect():
    """Reserves stdin and stdout for the protocol: from now on stdin is empty and everything printed goes to stderr, also by C libraries and child
    processes. run does this first. A plug-in that imports a library which prints while it is imported calls protect before that import."""
    global _channel
    if _channel is None:
        _channel = (os.fdopen(os.dup(0), "rb"), os.dup(1))
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)
        os.dup2(2, 1)
        sys.stdout.flush()  # what was printed until now and is still in the buffer
        sys.stdout = sys.stderr
    return _channel


def run(threads=1):
    """Serves aiperf on stdin and stdout until aiperf closes stdin. threads is the number of calls that are carried out at the same time; with 1 they are
    carried out in order, in the main thread."""
    if sys.stdin is None or _channel is None and sys.stdin.isatty():
        names = ", ".join("%s:%s" % (c, n or "(any)") for c, n in _plugins)
        sys.exit("%s is a plug-in of aiperf (%s). aiperf starts it; see docs/plugins.md of aiperf." % (sys.argv[0], names or "empty"))
    lines, out = protect()

    def write(line):
        while line:
            line = line[os.write(out, line):]

    try:
        status = serve(lines, write, threads)
    except KeyboardInterrupt:
        status = 130
    if status:
        sys.exit(status)
