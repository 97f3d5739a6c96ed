"""latex.py AIPERF [N]: N (1000) random LaTeX answers judged by `aiperf accuracy grade --grader lighteval_latex` and by math-verify (PyPI). Disagreements are listed."""
import json, random, subprocess, sys
from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

aiperf, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
rnd = random.Random(7)
def num(): return rnd.choice([str(rnd.randint(0, 40)), f"-{rnd.randint(1, 20)}", f"{rnd.randint(0, 9)}.{rnd.randint(1, 99)}", f"{rnd.randint(1, 9)},{rnd.randint(100, 999)}"])
def small(): return str(rnd.randint(1, 9))
def atom():
    a, b, x = small(), small(), rnd.choice("xyna")
    return rnd.choice([num(), num(), x, f"\\frac{{{a}}}{{{b}}}", f"\\dfrac{{{a}}}{{{b}}}", f"\\frac {a}{b}", f"{a}/{b}", f"\\sqrt{{{a}}}", f"{a}\\sqrt{{{b}}}", f"\\sqrt[3]{{{a}}}", "\\pi", f"{a}\\pi",
                       f"{x}^{{{a}}}", f"{a}{x}", f"2^{{{a}}}", f"\\sin({x})", f"\\cos\\frac{{\\pi}}{{{b}}}", f"\\log_{{2}}({a})", f"e^{{{a}}}", f"{a}!", f"\\binom{{{a}}}{{1}}", f"|-{a}|", f"{a}^\\circ", f"{a}\\%"])
def expr(): return rnd.choice([atom, atom, lambda: f"{atom()}+{atom()}", lambda: f"{atom()}-{small()}", lambda: f"{small()}\\cdot {atom()}", lambda: f"\\left({atom()}+{small()}\\right)^2"])()
def whole():
    e = expr
    return rnd.choice([e, e, e, e, lambda: f"({small()}, {small()})", lambda: f"\\left[{small()}, {num()}\\right)", lambda: f"\\{{{small()}, {small()}\\}}", lambda: f"x={e()}", lambda: f"{small()}, {small()}",
                       lambda: f"x \\le {small()}", lambda: f"\\begin{{pmatrix}} {small()} & {small()} \\\\ {small()} & {small()} \\end{{pmatrix}}", lambda: f"\\text{{{rnd.choice(['even', 'odd', 'none'])}}}"])()
def other(g):
    """The same in other words, or nearly."""
    k = rnd.randrange(8)
    if k == 0: return g
    if k == 1: return g.replace("\\dfrac", "\\frac").replace("\\frac ", "\\tfrac ")
    if k == 2: return g.replace("\\left", "").replace("\\right", "")
    if k == 3: return g.replace(", ", ",") + "\\,"
    if k == 4: return g.replace("\\cdot", "\\times")
    if k == 5: return f"{g}+0" if "," not in g and "=" not in g and "\\le" not in g and "text" not in g and "begin" not in g else g
    if k == 6: return g.replace("2", "3", 1)
    return whole()

pairs = []
for i in range(count):
    g = whole(); a = other(g)
    pairs.append({"id": i, "gold": f"${g}$", "answer": rnd.choice([f"$\\boxed{{{a}}}$", f"The final answer is ${a}$.", f"So we get $${a}$$"])})
p = subprocess.run([aiperf, "accuracy", "grade", "--grader", "lighteval_latex", "--jsonl"], input="".join(json.dumps(x) + "\n" for x in pairs), capture_output=True, text=True)
if p.returncode: sys.exit(p.stderr)
ours = [json.loads(l) for l in p.stdout.splitlines()]
differ, right = [], 0
for x, o in zip(pairs, ours):
    gold = parse(x["gold"], extraction_config=[LatexExtractionConfig()])
    answer = parse(x["answer"], extraction_config=[LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig()])
    t = bool(gold and answer and verify(gold, answer, float_rounding=5)); right += t
    if t != o["passed"]: differ.append((x, o, t))
for x, o, t in differ: print(f"gold {x['gold']}   answer {x['answer']}   ours {o['passed']} ({o['extracted']!r})   math-verify {t}")
print(f"{len(ours)} answers, {right} right by math-verify, {len(differ)} judged otherwise")
sys.exit(len(ours) != count or len(differ) > count // 50)
