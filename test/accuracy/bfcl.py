"""bfcl.py AIPERF PACKAGE: prompts and grades of bfcl_ast beside the package bfcl-eval, whose folder PACKAGE is (wants tree-sitter, its Java and JavaScript
grammars, tenacity). Answers are made of the gold ones: right, in another order, and changed. RECORD=FILE writes every 24th judgement down for
the test of the grader, without those of Java and JavaScript that are told apart in docs/differences.md."""
import copy, gzip, json, os, random, subprocess, sys, tempfile, types
aiperf, package = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, os.path.dirname(package))
class Mapping(dict):
    def __missing__(self, key): return types.SimpleNamespace(underscore_to_dot=False)
m = types.ModuleType("bfcl_eval.constants.model_config"); m.MODEL_CONFIG_MAPPING = Mapping(); sys.modules[m.__name__] = m
from bfcl_eval.constants.enums import Language, ReturnFormat
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
from bfcl_eval.model_handler.utils import default_decode_ast_prompting, system_prompt_pre_processing_chat_model
from bfcl_eval.utils import _func_doc_language_specific_pre_processing, is_empty_output, is_function_calling_format_output

CATEGORIES = ["simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple", "irrelevance",
              "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple", "live_irrelevance", "live_relevance"]
def load(path): return [json.loads(l) for l in open(os.path.join(package, "data", path), encoding="utf-8") if l.strip()]
rows = {c: load(f"BFCL_v4_{c}.json") for c in CATEGORIES}
gold = {c: {r["id"]: r["ground_truth"] for r in load(f"possible_answer/BFCL_v4_{c}.json")} for c in CATEGORIES if not c.endswith("relevance")}

out = tempfile.mkdtemp()
p = subprocess.run([aiperf, "profile", "--accuracy-benchmark", "bfcl_ast", "--accuracy-dataset-path", package, "--accuracy-tasks", ",".join(CATEGORIES), "--url", "mock://?ttft=0ms&itl=0ms",
                    "--model", "m", "--tokenizer", "builtin", "--request-count", "1", "--ui", "none", "--artifact-dir", out], capture_output=True, text=True)
if p.returncode: sys.exit(p.stderr)
ours = [s["payloads"][0]["messages"] for s in json.load(open(out + "/inputs.json", encoding="utf-8"))["data"]]
theirs = []
for c in CATEGORIES:
    for r in rows[c]:
        f = _func_doc_language_specific_pre_processing(copy.deepcopy(r["function"]), c)
        theirs.append(system_prompt_pre_processing_chat_model(copy.deepcopy(r["question"][0]), f, r["id"]))
same = sum([(a["role"], a["content"]) for a in x] == [(b["role"], b["content"]) for b in y] for x, y in zip(ours, theirs))
print(f"prompts: {same} of {len(theirs)} equal, {len(ours)} made")
for x, y in zip(ours, theirs):
    if [(a["role"], a["content"]) for a in x] != [(b["role"], b["content"]) for b in y]: print(json.dumps(x)[-900:], "\n", json.dumps(y)[-900:]); break

rnd = random.Random(3)
def script(v, lang, t):
    if isinstance(v, bool): return str(v).lower()
    if isinstance(v, str): return v if t in ("any",) else json.dumps(v)
    if isinstance(v, list):
        e = ", ".join(script(x, lang, "") for x in v)
        return f"new Object[]{{{e}}}" if lang == "java" else f"[{e}]"
    if isinstance(v, dict):
        if lang == "java": return "new HashMap<String, Object>() {{ " + " ".join(f'put("{k}", {script(x[0], lang, "")});' for k, x in v.items()) + " }}"
        return "{" + ", ".join(f'"{k}": {script(x[0] if isinstance(x, list) else x, lang, "")}' for k, x in v.items()) + "}"
    if lang == "java" and t == "long": return f"{v}L"
    if lang == "java" and t == "float": return f"{v}f"
    return repr(v)
def plain(v):
    if isinstance(v, dict): return {k: plain(x[0] if isinstance(x, list) and x else x) for k, x in v.items() if not (isinstance(x, list) and x and x[0] == "")}
    return [plain(x) for x in v] if isinstance(v, list) else v
def call(answer, functions, lang):
    name, args = next(iter(answer.items()))
    kinds = next((f["parameters"]["properties"] for f in functions if f["name"] == name), {})
    chosen = {k: rnd.choice([x for x in v if x != ""] or [""]) for k, v in args.items() if not ("" in v and (rnd.random() < .5 or len(v) == 1))}
    how = rnd.randrange(8)
    if how == 1 and chosen: chosen.pop(rnd.choice(list(chosen)))
    if how == 2 and chosen:
        k = rnd.choice(list(chosen)); chosen[k] = rnd.choice([7, "other", 2.5, True, [1], None, {"a": [1]}])
    if how == 3: name += "_x"
    if how == 4: chosen["surprise"] = 1
    if lang == "python": return f"{name}({', '.join(f'{k}={plain(v)!r}' for k, v in chosen.items())})"
    return f"{name}({', '.join(f'{k}={script(v, lang, kinds.get(k, {}).get(chr(116) + chr(121) + chr(112) + chr(101), str()))}' for k, v in chosen.items())})"

items, verdicts = [], []
for c in CATEGORIES:
    lang = "java" if c == "simple_java" else "javascript" if c == "simple_javascript" else "python"
    for r in rows[c][:200]:
        for _ in range(2):
            if c in gold:
                answers = list(gold[c][r["id"]]); rnd.shuffle(answers)
                if rnd.random() < .05: answers = answers[1:]
                text = "[" + ", ".join(call(a, r["function"], lang) for a in answers) + "]"
                text = rnd.choice([text, text, text, text[1:-1], f"```{text}```", "I would call " + text, text.replace(")", "")])
            else:
                text = rnd.choice(["I cannot help with that.", "[f(a=1)]", "[]", "f(x='y')", "", "[1]", "none"])
            style = {"java": ReturnFormat.JAVA, "javascript": ReturnFormat.JAVASCRIPT}.get(lang, ReturnFormat.PYTHON)
            try:
                decoded = default_decode_ast_prompting(text, style)
                ok = is_function_calling_format_output(decoded)
            except Exception: decoded, ok = None, False
            if c in gold:
                try: t = ok and ast_checker(copy.deepcopy(r["function"]), decoded, gold[c][r["id"]], {"java": Language.JAVA, "javascript": Language.JAVASCRIPT}.get(lang, Language.PYTHON), c, "m")["valid"]
                except Exception as e: t = None
            else:
                called = ok and not is_empty_output(decoded)
                t = called != c.endswith("irrelevance")
            g = {"category": c, "functions": r["function"]}
            if c in gold: g["answers"] = gold[c][r["id"]]
            items.append({"id": r["id"], "answer": text, "gold": json.dumps(g)}); verdicts.append(t)
if os.environ.get("RECORD"):
    kept = [(i, t) for i, t in zip(items, verdicts) if t is not None and not i["id"].startswith(("simple_java", "simple_javascript"))][::24]
    with gzip.GzipFile(os.environ["RECORD"], "wb", mtime=0) as f:
        f.write("".join(json.dumps({**i, "upstream": {"passed": bool(t)}}) + "\n" for i, t in kept).encode())
p = subprocess.run([aiperf, "accuracy", "grade", "--grader", "tool_call_ast", "--jsonl"], input="".join(json.dumps(i) + "\n" for i in items), capture_output=True, text=True)
got = [json.loads(l) for l in p.stdout.splitlines()]
differ = [(i, o, t) for i, o, t in zip(items, got, verdicts) if t is not None and o["passed"] != bool(t)]
by = {}
for i, o, t in zip(items, got, verdicts):
    c = i["id"].rsplit("_", 1)[0]; n = by.setdefault(c, [0, 0, 0]); n[0] += 1; n[1] += bool(t); n[2] += t is not None and o["passed"] != bool(t)
for i, o, t in differ[:int(os.environ.get("SHOW", "12"))]: print(f"{i['id']}: ours {o['passed']} ({o['explanation']})  theirs {t}\n   {i['answer'][:300]}\n   {json.dumps(json.loads(i['gold']).get('answers'))[:300]}")
print(f"grades: {len(got)} answers, {sum(map(bool, verdicts))} right by bfcl-eval, {sum(v is None for v in verdicts)} that its checker fails on, {len(differ)} judged otherwise")
sys.exit(same != len(theirs) or len(got) != len(items) or any(json.loads(i["gold"])["category"] not in ("simple_java", "simple_javascript") for i, _, _ in differ))
