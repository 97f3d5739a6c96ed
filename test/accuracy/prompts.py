"""prompts.py AIPERF WHEELS: prompts of accuracy benchmarks beside those of the published harnesses, byte for byte, on 20 problems each.

WHEELS is a folder with the wheels of lighteval 0.13.0, lm_eval, deepeval 4.3.1 and aiperf 0.13.0. Their prompt builders run as they are published;
what they import besides is replaced by stand-ins, so that nothing else need be installed. Harnesses that ask differently on purpose are listed."""
import glob, importlib.abc, importlib.machinery, json, os, random, subprocess, sys, tempfile, types, zipfile
from unittest.mock import MagicMock

aiperf, wheels = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
work = tempfile.mkdtemp()
for w in glob.glob(wheels + "/*.whl"): zipfile.ZipFile(w).extractall(os.path.join(work, "site"))
sys.path.insert(0, os.path.join(work, "site"))
ROOTS = {"lighteval", "inspect_ai", "deepeval", "aiperf", "datasets", "torch", "numpy", "tqdm", "transformers", "rich", "orjson", "colorlog"}
REAL = {"lighteval.tasks.prompt_manager", "deepeval.benchmarks.hellaswag.template", "deepeval.benchmarks.hellaswag.task", "deepeval.benchmarks.big_bench_hard.template",
        "deepeval.benchmarks.big_bench_hard.task", "deepeval.benchmarks.big_bench_hard.cot_prompts", "deepeval.benchmarks.big_bench_hard.shot_prompts"}

class Any(types.ModuleType):
    """A module that has every name."""
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        if name[:1].isupper() and name.endswith(("Mixin", "Config", "Base", "Problem")): return type(name, (Plain,), {})
        return MagicMock(name=name)

class Plain:
    def __init__(self, **kw): self.__dict__.update(kw)
    def __eq__(self, other): return self.__dict__ == other.__dict__
    __hash__ = object.__hash__

class Doc(Plain):
    """lighteval's, as far as prompts need it."""
    def __init__(self, **kw):
        super().__init__(**{"instruction": None, "fewshot_samples": [], "fewshot_sorting_class": None, **kw})
    def get_golds(self): return [self.choices[self.gold_index]]

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ROOTS: return None
        if name in REAL:
            base = os.path.join(work, "site", *name.split("."))
            file = base + ".py" if os.path.exists(base + ".py") else None
            if file: return importlib.util.spec_from_file_location(name, file)
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True); spec.submodule_search_locations = [base]
            return spec
        return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec): return Any(spec.name)
    def exec_module(self, module): pass

import importlib.util
sys.meta_path.insert(0, Finder())
sys.modules["lighteval.tasks.requests"] = m = types.ModuleType("lighteval.tasks.requests"); m.Doc = Doc
sys.modules["lighteval.utils.utils"] = m = types.ModuleType("lighteval.utils.utils"); m.as_list = lambda x: x if isinstance(x, list) else [x]

def source(path):
    """A published file, run with what it imports."""
    module = types.ModuleType(os.path.basename(path)[:-3]); module.__file__ = os.path.join(work, "site", path); module.__package__ = os.path.dirname(path).replace("/", ".")
    sys.modules[module.__name__ + "_published"] = module
    exec(compile(open(module.__file__, encoding="utf-8").read(), path, "exec"), module.__dict__)
    return module

rnd = random.Random(20)
words = "alpha βeta  double\tTab naïve 数学 \\frac{1}{2} {brace} $5 'quote' \"two\" 100% line\nbreak end. ½ 🙂 <b> & A. Answer:".split(" ")
def text(n=9): return " ".join(rnd.choice(words) for _ in range(n)).strip() or "x"
def write(path, rows):
    path = os.path.join(work, "rows", path); os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f: f.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)

def ours(bench, *args, kind="chat", directory=None, **env):
    out = tempfile.mkdtemp(dir=work)
    p = subprocess.run([aiperf, "profile", "--accuracy-benchmark", bench, "--accuracy-dataset-path", os.path.join(work, "rows", directory or bench), "--url", "mock://?ttft=0ms&itl=0ms",
                        "--model", "m", "--tokenizer", "builtin", "--endpoint-type", kind, "--artifact-dir", out, "--ui", "none", *args], capture_output=True, text=True, env={**os.environ, **env})
    if p.returncode: sys.exit(p.stdout + p.stderr)
    bodies = [s["payloads"][0] for s in json.load(open(out + "/inputs.json", encoding="utf-8"))["data"]]
    return [b["prompt"] if kind == "completions" else [(m["role"], m["content"]) for m in b["messages"]] for b in bodies]

bad = 0
def compare(bench, harness, got, want, reason=None):
    """reason = why they differ on purpose; then the count is told, and is no failure."""
    global bad
    same = sum(g == w for g, w in zip(got, want)); n = len(want)
    right = len(got) == n and (reason is not None or same == n)
    bad += not right
    print(f"{'right' if right else 'WRONG'}  {bench:13s} {harness:38s} {same:2d} of {n} equal" + (f"  on purpose: {reason}" if reason else ""))
    if reason is None and same < n:
        for g, w in zip(got, want):
            if g != w: print("   ours", repr(g)[:600], "\n   theirs", repr(w)[:600]); break

user = lambda prompts: [[("user", p)] for p in prompts]
manager = importlib.import_module("lighteval.tasks.prompt_manager")
def api(docs): return [[(m["role"], m["content"]) for m in manager.PromptManager().prepare_prompt_api(d)] for d in docs]

# mmlu: lighteval, its sampler of worked examples and its prompt manager
f = source("lighteval/tasks/tasks/mmlu.py").mmlu_prompt
dev = [{"question": text(), "choices": [text(2) for _ in "ABCD"], "answer": rnd.randrange(4), "subject": "high_school_physics"} for _ in range(5)]
test = [{"question": text(), "choices": [text(2) for _ in "ABCD"], "answer": rnd.randrange(4), "subject": "high_school_physics"} for _ in range(20)]
write("mmlu/high_school_physics/dev-00000-of-00001.jsonl", dev); write("mmlu/high_school_physics/test-00000-of-00001.jsonl", test)
for n in (0, 3, 5):
    docs = []
    for row in test:
        task = types.SimpleNamespace(fewshot_selection=None, fewshot_split="dev", fewshot_docs=lambda: [f(r, "t") for r in dev])
        d = f(row, "t"); d.fewshot_samples = manager.FewShotSampler(task).sample_fewshot_examples(n, 0, None, d); docs.append(d)
    flags = ["--accuracy-tasks", "high_school_physics", "--accuracy-n-shots", str(n)]
    compare("mmlu", f"lighteval 0.13, {n} shots, messages", ours("mmlu", *flags), api(docs))
    if n == 5:
        compare("mmlu", "lighteval 0.13, 5 shots, one text", ours("mmlu", *flags, kind="completions"), [manager.PromptManager().prepare_prompt(d) for d in docs],
                "the plain text of lighteval has two blank lines after the instruction, AIPerf one")

# gsm8k: lighteval and lm-eval
f = source("lighteval/tasks/tasks/gsm8k.py").gsm8k_prompt
test = [{"question": text(), "answer": f"{text(4)}\n#### {rnd.randrange(999)}"} for _ in range(20)]
write("gsm8k/main/test.jsonl", test)
got = ours("gsm8k")
compare("gsm8k", "lighteval 0.13", got, api([f(r, "t") for r in test]))
y = open(os.path.join(work, "site/lm_eval/tasks/gsm8k/gsm8k.yaml")).read()
template = json.loads(next(l for l in y.splitlines() if l.startswith("doc_to_text:")).partition(":")[2])
compare("gsm8k", "lm-eval, 0 shots", got, user([template.replace("{{question}}", r["question"]) for r in test]))

# math_500, aime24, aime25: lighteval
f = source("lighteval/tasks/tasks/math_500.py").math_500_prompt
test = [{"problem": text(), "solution": f"so \\boxed{{{k}}}", "subject": "Algebra"} for k in range(20)]
write("math_500/test.jsonl", test)
got = ours("math_500")
compare("math_500", "lighteval 0.13", got, api([f(r, "t") for r in test]), "lighteval puts a sentence about the form of the answer before the problem; AIPerf asks the bare problem")
b = source("aiperf/accuracy/benchmarks/math_500.py")
def built(problems): return [[(m["role"], m["content"]) for m in p.raw_messages] if getattr(p, "raw_messages", None) else [("user", p.prompt)] for p in problems]
def bench(module, name):
    o = object.__new__(getattr(module, name)); return o
compare("math_500", "aiperf 0.13", got, built(bench(b, "Math500Benchmark")._build_problems(test)))
f = source("lighteval/tasks/tasks/aime.py").aime_prompt
test = [{"problem": text(), "answer": f"{k:03d}"} for k in range(20)]
write("aime24/data/train-00000-of-00001.jsonl", test)
got = ours("aime24")
compare("aime24", "lighteval 0.13", got, api([f(r, "t") for r in test]), "lighteval's inspect template; AIPerf asks the bare problem")
compare("aime24", "aiperf 0.13", got, built(bench(source("aiperf/accuracy/benchmarks/aime24.py"), "AIME24Benchmark")._build_problems(test)))

# aime: AIPerf's own form
test = [{"Problem": text(), "Solution": text(6), "Answer": k} for k in range(20)]
write("aime/aime_2024_problems.jsonl", test)
o = bench(source("aiperf/accuracy/benchmarks/aime.py"), "AIMEBenchmark")
for n, cot in ((8, True), (0, False), (3, True)):
    got = [[m for m in t if m[0] != "system"] for t in ours("aime", "--accuracy-n-shots", str(n), "--accuracy-enable-cot" if cot else "--accuracy-no-enable-cot")]
    compare("aime", f"aiperf 0.13, {n} shots, reasoning {cot}", got, built(o._build_problems(test, n, cot)))
y = open(glob.glob(os.path.join(work, "site/lm_eval/tasks/aime/aime24.yaml"))[0]).read()
template = json.loads(next(l for l in y.splitlines() if l.startswith("doc_to_text:")).partition(":")[2])
compare("aime", "lm-eval aime24", got, user([template.replace("{{Problem}}", r["Problem"]).replace("{{problem}}", r["Problem"]) for r in test]), "lm-eval writes Question: and Answer: alone")

# mmlu_pro: AIPerf's form is that of the benchmark's own script, which is on no index
rows = lambda n: [{"question": text(), "options": [text(2) for _ in range(rnd.randint(3, 9))] + ["N/A"], "answer": "B", "cot_content": rnd.choice(["A: Let's think step by step. " + text(5), "", text(4)]),
                   "category": "physics"} for _ in range(n)]
val, test = rows(5), rows(20)
write("mmlu_pro/data/validation.jsonl", val); write("mmlu_pro/data/test.jsonl", test)
o = bench(source("aiperf/accuracy/benchmarks/mmlu_pro.py"), "MMLUProBenchmark")
for n, cot in ((5, True), (2, False)):
    got = ours("mmlu_pro", "--accuracy-tasks", "physics", "--accuracy-n-shots", str(n), "--accuracy-enable-cot" if cot else "--accuracy-no-enable-cot")
    compare("mmlu_pro", f"aiperf 0.13, {n} shots, reasoning {cot}", got, built(o._build({"validation": val, "test": test}, ["physics"], n, cot)))
f = source("lm_eval/tasks/mmlu_pro/utils.py").doc_to_text
compare("mmlu_pro", "lm-eval, the question alone", ours("mmlu_pro", "--accuracy-tasks", "physics", "--accuracy-n-shots", "0"), user([f(r) for r in test]), "lm-eval breaks the line after Question: and Options:")

# gpqa_diamond: lighteval has the template of simple-evals; it draws the places of the answers, AIPerf derives them from the question
import csv
f = source("lighteval/tasks/tasks/gpqa.py")
cols = ["Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"]
test = [{c: f"{k} {c[:3]} {text(4)}" for c in cols} for k in range(20)]
os.makedirs(os.path.join(work, "rows/gpqa_diamond"))
with open(os.path.join(work, "rows/gpqa_diamond/gpqa_diamond.csv"), "w", encoding="utf-8", newline="") as g:
    w = csv.DictWriter(g, cols); w.writeheader(); w.writerows(test)
got = ours("gpqa_diamond")
b = source("aiperf/accuracy/benchmarks/gpqa_diamond.py")
compare("gpqa_diamond", "aiperf 0.13", got, built(bench(b, "GPQADiamondBenchmark")._build_problems(test)))
want = []
for r, g in zip(test, got):
    at = sorted(range(4), key=lambda i: g[0][1].index(f") {r[cols[1 + i]]}"))  # the order in which our prompt has them
    gold, others = at.index(0), [i for i in at if i]
    f.random = types.SimpleNamespace(randint=lambda a, z, gold=gold: gold)
    want.append(f.gpqa_prompt({**r, **{f"Incorrect Answer {k + 1}": r[cols[1 + i]] for k, i in enumerate(others)}}, "t").query)
compare("gpqa_diamond", "lighteval 0.13, places as ours", got, user(want))

# hellaswag: DeepEval
template = importlib.import_module("deepeval.benchmarks.hellaswag.template").HellaSwagTemplate
labels = list(importlib.import_module("deepeval.benchmarks.hellaswag.task").HellaSwagTask)[:4]
row = lambda l: {"activity_label": l.value, "ctx": text(), "endings": [text(3) for _ in "ABCD"], "label": str(rnd.randrange(4))}
train, val = [row(rnd.choice(labels)) for _ in range(40)], [row(labels[k % 4]) for k in range(20)]
write("hellaswag/data/train.jsonl", train); write("hellaswag/data/validation.jsonl", val)
shots = list({r["activity_label"]: r for r in reversed(train)}.values()); shots = sorted(shots, key=train.index)
for n in (0, 3):
    want = [template.generate_output(template.format_question(r, include_answer=False), shots, l, n) + "\n\nOutput 'A', 'B', 'C', or 'D'. Full answer not needed."
            for l in importlib.import_module("deepeval.benchmarks.hellaswag.task").HellaSwagTask for r in val if r["activity_label"] == l.value]
    compare("hellaswag", f"deepeval 4.3.1, {n} shots", sorted(ours("hellaswag", "--accuracy-n-shots", str(n))), sorted(user(want)))

# bigbench: DeepEval
T = importlib.import_module("deepeval.benchmarks.big_bench_hard.template").BigBenchHardTemplate
T.read_file = lambda package, name: open(os.path.join(work, "site", *package.split("."), name), encoding="utf-8").read().split("\n\n")
tasks = list(importlib.import_module("deepeval.benchmarks.big_bench_hard.task").BigBenchHardTask)
import re
closing = {}
exec(re.search(r"(?s)^bbh_confinement_statements_dict = \{.*?^\}", open(os.path.join(work, "site/deepeval/benchmarks/big_bench_hard/big_bench_hard.py")).read(), re.M)[0],
     {"BigBenchHardTask": type(tasks[0])}, closing)
closing = closing["bbh_confinement_statements_dict"]
chosen = tasks[:20]
inputs = {t: text() for t in chosen}
for t in chosen: write(f"bigbench/{t.value}/test.jsonl", [{"input": inputs[t], "target": "x"}])
for n, cot in ((3, True), (3, False), (1, True)):
    want = [T.generate_output(inputs[t], t, n, cot) + closing[t] for t in chosen]
    compare("bigbench", f"deepeval 4.3.1, {n} shots, reasoning {cot}", ours("bigbench", "--accuracy-n-shots", str(n), "--accuracy-enable-cot" if cot else "--accuracy-no-enable-cot",
            "--accuracy-tasks", ",".join(t.value for t in chosen)), user(want))
sys.exit(bad > 0)
