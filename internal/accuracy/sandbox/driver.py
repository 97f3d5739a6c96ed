# Runs one program: reads the job from descriptor 3, says on descriptor 4 how it ended.
import os as _os, json as _json, traceback as _traceback


def _main():
    with _os.fdopen(3, "rb") as pipe:
        job = _json.loads(pipe.read())
    said = _os.fdopen(4, "wb", 0)
    prelude = "".join("from %s import *\n" % m for m in (
        "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics", "itertools", "functools",
        "operator", "io", "sys", "json", "builtins", "typing"))
    prelude += "".join("import %s\n" % m for m in (
        "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics", "itertools", "functools",
        "operator", "io", "sys", "json"))
    prelude += "sys.setrecursionlimit(50000)\n"
    calls = bool(job["function"])
    space = {"__name__": "tmp_sol" if calls else "__main__"}
    exec(prelude, space)
    for name in ("system", "fork", "forkpty", "kill", "killpg", "putenv"):
        setattr(_os, name, None)
    import subprocess
    subprocess.Popen = None
    try:
        equal = False
        try:
            exec(compile(job["code"], "<program>", "exec"), space)
        except SystemExit:
            if calls:
                raise
        if calls:
            owner = space["Solution"]() if "class Solution" in job["code"] else None
            method = getattr(owner, job["function"]) if owner is not None else space[job["function"]]
            got = method(*[_json.loads(line) for line in job["input"].split("\n")])
            if isinstance(got, tuple):
                got = list(got)
            equal = bool(got == _json.loads(job["output"]))
        import sys
        sys.stdout.flush()
        said.write(b"ended equal" if equal else b"ended")
    except BaseException:
        said.write(_traceback.format_exc(limit=-1).encode("utf8", "replace")[-2000:])


_main()
