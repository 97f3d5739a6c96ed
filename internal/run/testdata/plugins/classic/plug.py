"""Plug-ins for tests: they speak the protocol by hand and do what the built-in types of the same names do."""
import json
import sys

how = sys.argv[1] if len(sys.argv) > 1 else ""


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def quote(text):
    return json.dumps(text, ensure_ascii=False)


def grade(params):
    got, want = params["response_text"].strip(), params["ground_truth"].strip()
    right = got != "" and got == want
    return {
        "correct": right, "unparsed": got == "", "confidence": 7 if how == "lies" else float(right), "extracted_answer": got,
        "reasoning": "whole answer: %s, want %s: %s" % (quote(got), quote(want), "right" if right else "wrong"),
    }


def can_load(params):
    return {"can_load": params["head"][:1] == ["---"]}


def rows(path):
    with open(path, encoding="utf-8") as file:
        if how == "dashes":
            for text in file.read().split("---\n"):
                if text.strip():
                    yield {"turns": [{"texts": [text.strip()]}]}
            return
        for line in file:
            row = json.loads(line)
            turn = {"texts": [row["text"]]}
            for key, name in (("output_length", "max_tokens"), ("role", "role"), ("extra", "extra")):
                if key in row:
                    turn[name] = row[key]
            yield {"turns": [turn]}


def problems(params):
    examples = [{"role": r, "content": c} for n in range(params["n_shots"]) for r, c in (("user", "%d+0?" % n), ("assistant", str(n)))]
    for a, b in ((1, 2), (3, 4), (5, 6)):
        one = {"prompt": "%d+%d?" % (a, b), "ground_truth": str(a + b), "task": "odd" if a == 3 else "even", "few_shot_examples": examples}
        if how == "goldless":
            del one["ground_truth"]
        part({"problems": [one]})
    return {}


def load(params):
    if how == "broken":
        part({"conversations": [{"turns": [{"texts": "a", "maximum_tokens": 3}]}, {"turns": []}, 7, {"turn": []}]})
        return {}
    batch = []
    for row in rows(params["path"]):
        batch.append(row)
        if len(batch) == 2:
            part({"conversations": batch})
            batch = []
            if how == "half":
                raise SystemExit("disk full")
    part({"conversations": batch})
    return {}


def main():
    global part
    hello = json.loads(sys.stdin.readline())
    if how == "refuses":
        say({"type": "error", "message": "no model file"})
        return
    methods = {"accuracy_grader": {"grade": grade}, "custom_dataset_loader": {"load": load, "can_load": can_load}, "accuracy_benchmark": {"load": problems}}[hello["category"]]
    say({"type": "hello", "protocol": 1, "methods": list(methods)})
    for n, line in enumerate(sys.stdin):
        if how == "dies" and n == 3:
            sys.exit("out of memory")
        call = json.loads(line)
        part = lambda p: say({"id": call["id"], "part": p})
        say({"id": call["id"], "result": methods[call["method"]](call["params"])})


main()
