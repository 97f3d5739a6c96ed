# Prints known answers of CPython's random.Random and numpy's default_rng as JSON.
import json, random, numpy as np
out = []
def row(seed, call, values): out.append({"seed": seed, "call": call, "values": values})
for seed in (0, 1, 42, 2**32-1, 2**32, 7521479737366565015, 10558974911300946294, 2**64-1):
    def r(): return random.Random(seed)
    g = r(); row(seed, "random", [g.random() for _ in range(700)][-8:])
    for n in (1, 2, 3, 10, 1138441, 2**32, 2**32+1, 2**40+7, 2**62):
        g = r(); row(seed, "randrange %d" % n, [g.randrange(n) for _ in range(8)])
    for k in (1, 31, 32, 33, 53, 63):
        g = r(); row(seed, "getrandbits %d" % k, [g.getrandbits(k) for _ in range(8)])
    g = r(); row(seed, "randint -3 5", [g.randint(-3, 5) for _ in range(16)])
    g = r(); row(seed, "choices 100", g.choices(range(100), k=16))
    for n, k in ((10, 3), (10, 10), (1000, 5), (1000, 6), (1000, 40), (100000, 30)):
        g = r(); row(seed, "sample %d %d" % (n, k), g.sample(range(n), k))
    for n in (1, 2, 8, 50):
        g = r(); l = list(range(n)); g.shuffle(l); row(seed, "shuffle %d" % n, l)
    g = r(); row(seed, "gauss 200 50", [g.gauss(200, 50) for _ in range(9)])
    g = r(); row(seed, "uniform -2 7", [g.uniform(-2, 7) for _ in range(8)])
    g = r(); row(seed, "expovariate 2.5", [g.expovariate(2.5) for _ in range(8)])
    for a in (0.3, 0.99, 1, 1.5, 8):
        g = r(); row(seed, "gamma %s 0.7" % a, [g.gammavariate(a, 0.7) for _ in range(12)])
    def p(): return np.random.default_rng(seed)
    row(seed, "np.raw", [int(x) for x in p().bit_generator.random_raw(8)])
    g = p(); row(seed, "np.random", [float(g.random()) for _ in range(8)])
    for n in (1, 3, 1000, 2**32-1, 2**32, 2**32+1, 2**40+7, 2**63-1):
        g = p(); row(seed, "np.integers 0 %d" % n, [int(g.integers(0, n)) for _ in range(8)])
    row(seed, "np.integers -5 17", [int(x) for x in p().integers(-5, 17, size=20)])
    for n in (1, 2, 9, 200):
        g = p(); l = list(range(n)); g.shuffle(l); a = list(l); g.shuffle(l); row(seed, "np.shuffle %d" % n, a + l)
print("[\n" + ",\n".join(json.dumps(x) for x in out) + "\n]")
