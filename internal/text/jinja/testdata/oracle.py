# Records what Python's jinja2 makes of cases.txt: python3 oracle.py > cases.json   (pip install jinja2)
import json
import os

import jinja2

VARS = {
    "n": 7, "x": 2.5, "s": "Hello World", "e": "", "none": None, "t": True, "big": 1e16, "tiny": 1e-5,
    "l": [3, 1, 2], "d": {"b": 1, "a": "x'y", "c": {"k": [1, 2.0, None, True, "é<&>"]}}, "u": "naïve 漢字 😀",
    "rows": [{"name": "B", "v": 2, "g": "x"}, {"name": "a", "v": 1, "g": "y"}, {"name": "C", "v": 3, "g": "x"}],
    "texts": ["one", "two"], "model": "m", "stream": False, "max_tokens": None,
}
env = jinja2.Environment()
trim = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
here = os.path.dirname(os.path.abspath(__file__))
out = []
for src in open(os.path.join(here, "cases.txt"), encoding="utf-8").read().split("\n----\n"):
    row = {"src": src}
    for name, e in (("plain", env), ("trim", trim)):
        try:
            row[name] = e.from_string(src).render(**VARS)
        except Exception as err:
            row[name + "_error"] = f"{type(err).__name__}: {err}"
    out.append(row)
print(json.dumps({"vars": VARS, "cases": out}, indent=0, ensure_ascii=False))
