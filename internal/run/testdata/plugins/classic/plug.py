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


def main():
    hello = json.loads(sys.stdin.readline())
    if how == "refuses":
        say({"type": "error", "message": "no model file"})
        return
    methods = {"accuracy_grader": {"grade": grade}}[hello["category"]]
    say({"type": "hello", "protocol": 1, "methods": list(methods)})
    for n, line in enumerate(sys.stdin):
        if how == "dies" and n == 3:
            sys.exit("out of memory")
        call = json.loads(line)
        say({"id": call["id"], "result": methods[call["method"]](call["params"])})


main()
