# Measures tiktoken on the texts that ours was measured on: python3 - ROUNDS CORPUS.json prints medians as JSON.
import json, statistics, sys, time

import tiktoken
import tiktoken_ext.openai_public as public

rounds, path = int(sys.argv[1]), sys.argv[2]
corpus = json.load(open(path, encoding="utf-8"))
got = {k: [] for k in ("Load", "First", "Again", "Words", "Decode", "Bytes")}


def encode(enc, pieces):
    began = time.perf_counter()
    ids = [enc.encode_ordinary(p) for p in pieces]
    return ids, sum(map(len, ids)) / (time.perf_counter() - began)


for _ in range(rounds):
    began = time.perf_counter()
    enc = tiktoken.Encoding(**public.o200k_base())
    got["Load"].append(time.perf_counter() - began)
    _, rate = encode(enc, corpus["Prose"])
    got["First"].append(rate)
    ids, rate = encode(enc, corpus["Prose"])
    got["Again"].append(rate)
    tokens = sum(map(len, ids))
    got["Bytes"].append(rate / tokens * sum(len(p.encode()) for p in corpus["Prose"]))
    got["Words"].append(encode(enc, corpus["Words"])[1])
    began = time.perf_counter()
    for x in ids:
        enc.decode(x)
    got["Decode"].append(tokens / (time.perf_counter() - began))
json.dump({k: statistics.median(v) for k, v in got.items()}, sys.stdout)
