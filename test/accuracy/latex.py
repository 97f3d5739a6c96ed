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
OO, CUP = "\\infty", "\\cup "
def pick(*choices): return rnd.choice(choices)
def end(): return pick(num(), num(), OO, "-" + OO, small())
def interval(): return pick("(", "[") + pick("-" + OO, "0", "-" + small()) + ", " + pick(OO, "+" + OO, str(rnd.randint(10, 20))) + pick(")", "]")
def union(): return CUP.join(f"({i}, {i + 1}" + pick(")", "]") for i in rnd.sample(range(0, 20, 3), pick(2, 2, 3)))
def finite(): return "\\{" + ", ".join(str(i) for i in rnd.sample(range(-5, 9), rnd.randint(1, 4))) + "\\}"
def grouped(): return str(rnd.randint(1, 9)) + pick(",", "{,}", " ", "\\,", "\\ ", "\\;", "\\!") + pick("000", "234", "500")
def word(): return "\\" + pick("text", "mathrm", "textbf", "mbox") + "{" + pick("", "-") + str(rnd.randint(1, 30)) + "}"
def rare():
    """Infinities, intervals, unions, sets, thousands set apart, numbers as text."""
    return pick(end, interval, union, finite, finite, grouped, word, lambda: pick("\\emptyset", "\\varnothing", "\\{0\\}", "\\mathbb{R}"), lambda: str(1000 * rnd.randint(1, 9)))()
def reordered(g):
    """The parts of a set or union in another order, a number as text or with its thousands set apart; None = nothing of it."""
    if CUP in g: return CUP.join(rnd.sample(g.split(CUP), g.count(CUP) + 1))
    if g.startswith("\\{"): return "\\{" + ", ".join(rnd.sample(g[2:-2].split(", "), g.count(", ") + 1)) + "\\}"
    if g.isdigit(): return pick("\\text{" + g + "}", "\\mathrm{" + g + "}", g[:-3] + pick(",", "{,}", " ", "\\,") + g[-3:] if len(g) > 3 else g)
def expr(): return rnd.choice([atom, atom, lambda: f"{atom()}+{atom()}", lambda: f"{atom()}-{small()}", lambda: f"{small()}\\cdot {atom()}", lambda: f"\\left({atom()}+{small()}\\right)^2"])()
def whole():
    e = expr
    if rnd.random() < .3: return rare()
    return rnd.choice([e, e, e, e, lambda: f"({small()}, {small()})", lambda: f"\\left[{small()}, {num()}\\right)", lambda: f"\\{{{small()}, {small()}\\}}", lambda: f"x={e()}", lambda: f"{small()}, {small()}",
                       lambda: f"x \\le {small()}", lambda: f"\\begin{{pmatrix}} {small()} & {small()} \\\\ {small()} & {small()} \\end{{pmatrix}}", lambda: f"\\text{{{rnd.choice(['even', 'odd', 'none'])}}}"])()
def other(g):
    """The same in other words, or nearly."""
    new = reordered(g) if rnd.random() < .7 else None
    if new: return new
    if rnd.random() < .1: return rare()
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
