"""Every template and every configuration file of the tests against the JSON Schema that aiperf prints, by the jsonschema package of PyPI.

usage: check.py AIPERF
A file that the binary takes must be one that the schema takes; a few broken ones must be refused by both.
"""

import json
import subprocess
import sys

import jsonschema
import yaml

aiperf = sys.argv[1]


def said(*words):
    return subprocess.run([aiperf, *words], capture_output=True, text=True, check=True).stdout


schema = json.loads(said("config", "schema"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
names = [line.split()[0] for line in said("config", "init", "--list").splitlines() if line.startswith("  ")]
wrong = 0
for name in names:
    for fault in validator.iter_errors(yaml.safe_load(said("config", "init", "--template", name))):
        wrong += 1
        print(name, list(fault.path), fault.message)
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
        wrong += 1
        print("taken:", keys, value)
print(f"{len(names)} templates, {wrong} faults")
sys.exit(wrong > 0 or len(names) < 27)
