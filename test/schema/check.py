"""Configuration files against the JSON Schema that aiperf prints, by the jsonschema package of PyPI.

usage: check.py AIPERF
What the binary takes must be what the schema takes: every template, every file of the recorded cases, and files made of them by a hundred
slips (a misspelt key, a value of another shape), which both must judge alike. A schema cannot tell all that the binary refuses: what one
value means beside another, or outside the file. Those recorded cases are listed in BEYOND, and no other may differ.
"""

import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import jsonschema
import yaml

aiperf = os.path.abspath(sys.argv[1])
CASES = pathlib.Path(__file__).parents[2] / "internal" / "cli" / "testdata" / "golden" / "yaml.jsonl.gz"
SLIPS = 100
BEYOND = {  # recorded cases that no schema can refuse
    "dist_median_gt": "two values compared",
    "dup_key": "lost when YAML is read",
    "env_unterminated": "text of a variable",
    "grid_unknown": "a path inside a key",
    "jinja_cycle": "values of expressions",
    "jinja_undefined": "values of expressions",
    "magic_and_sweep": "a list beside a sweep",
    "phase_names_dup": "two names compared",
    "weights_bad": "a sum",
    "zip_bad": "two lengths compared",
}


def said(*words):
    return subprocess.run([aiperf, *words], capture_output=True, text=True, check=True).stdout


def taken(text, where, env=None):
    """Whether the binary takes the text of a file in a directory."""
    path = pathlib.Path(where, "checked.yaml")
    path.write_text(text)
    return subprocess.run([aiperf, "config", "validate", path], cwd=where, env={**os.environ, **(env or {})}, capture_output=True).returncode == 0


def places(value, path=()):
    """The paths of everything inside a document."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def slip(document, draw):
    """A copy of a document with one slip, and what it is."""
    copy = json.loads(json.dumps(document))
    path = draw.choice([p for p in places(copy) if p[0] not in ("variables", "sweep") and "extra" not in p and "headers" not in p])
    at = copy
    for key in path[:-1]:
        at = at[key]
    key = path[-1]
    if isinstance(key, str) and draw.random() < 0.5:
        wrong = key[: len(key) // 2] + "zq" + key[len(key) // 2 :]
        at[wrong] = at.pop(key)
        return copy, f"{path}: the key is {wrong}"
    at[key] = [[[1]]] if isinstance(at[key], dict) else {"zq": {"zq": 1}}
    return copy, f"{path}: {at[key]}"


schema = json.loads(said("config", "schema"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
names = [line.split()[0] for line in said("config", "init", "--list").splitlines() if line.startswith("  ")]
documents = {name: yaml.safe_load(said("config", "init", "--template", name)) for name in names}
wrong = 0


def fault(*words):
    global wrong
    wrong += 1
    print(*words)


for name in names:
    for found in validator.iter_errors(documents[name]):
        fault(name, list(found.path), found.message)
recorded = 0
with gzip.open(CASES, "rt") as lines, tempfile.TemporaryDirectory() as where:
    for case in map(json.loads, lines):
        for file, text in case["contents"].items():
            pathlib.Path(where, file).parent.mkdir(parents=True, exist_ok=True)
            pathlib.Path(where, file).write_text(text)
        for file, text in case["contents"].items():
            if not file.endswith((".yaml", ".yml")):
                continue
            recorded += 1
            ours = taken(text, where, case.get("env"))
            try:
                document = yaml.safe_load(text)
                schemas = validator.is_valid(document)
            except yaml.YAMLError:
                schemas = False
            if ours != schemas and (ours or case["name"] not in BEYOND):
                fault(f"{case['name']}: the binary {'takes' if ours else 'refuses'} it, the schema does not agree")
            if ours and "sweep" not in document:
                documents[case["name"]] = document
    draw = random.Random(16)
    for _ in range(SLIPS):
        name = draw.choice(sorted(documents))
        made, what = slip(documents[name], draw)
        ours, schemas = taken(yaml.safe_dump(made), where), validator.is_valid(made)
        if ours != schemas:
            fault(f"{name}, {what}: the binary {'takes' if ours else 'refuses'} it, the schema does not agree")
for keys, value in [
    (("endpoint", "streaming"), "perhaps"),
    (("endpoint", "timeout"), [1]),
    (("phases",), [{"name": "profiling", "type": "concurrency", "concurency": 2}]),
    (("phases",), [{"name": "profiling", "type": "concurrency", "concurrency": "many"}]),
    (("dataset", "isl"), {"peaks": [{"maen": 3}, 4]}),
    (("dataset", "isl"), {"peaks": [{"peaks": [{"mean": "long"}, 3]}, 4]}),
]:
    file = yaml.safe_load(said("config", "init", "--template", "minimal"))
    at = file["benchmark"]
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    if validator.is_valid(file):
        fault("taken:", keys, value)
print(f"{len(names)} templates, {recorded} recorded files, {SLIPS} slips, {wrong} faults")
sys.exit(wrong > 0 or len(names) < 27 or recorded < 90)
