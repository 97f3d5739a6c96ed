"""Packs what the tests of this directory read: recorded cases of the Python tool (argument 1, a folder of cases) and small repositories, written with
pyarrow, of the sets that no case covers. Run: python pack.py CASES; it writes cases.tar.gz."""
import glob, io, json, os, sys, tarfile
import pyarrow as pa, pyarrow.parquet as pq

cases = sys.argv[1]
out = tarfile.open(os.path.join(os.path.dirname(__file__) or ".", "cases.tar.gz"), "w:gz", compresslevel=9)

def add(name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    out.addfile(info, io.BytesIO(data))

covered = set()
for case in sorted(os.listdir(cases)):
    d = os.path.join(cases, case)
    if not os.path.isdir(d) or ".file" in case or case.endswith((".input_file", ".isl")):
        continue
    expect = json.load(open(os.path.join(d, "expect.json")))
    if not (expect.get("conversations") or expect.get("words")):
        continue
    if expect.get("conversations"):
        covered.add(expect["set"])
    keep = {k: v for k, v in expect.items() if k in ("set", "exit", "words", "conversations", "own_ids", "generated", "free", "ours")}
    add(f"{case}/expect.json", json.dumps(keep, ensure_ascii=False, separators=(",", ":")).encode())
    for f in sorted(glob.glob(d + "/**/*", recursive=True) + glob.glob(d + "/**/.*", recursive=True) + glob.glob(d + "/**/.*/**/*", recursive=True)):
        rel = os.path.relpath(f, d)
        if os.path.isfile(f) and rel != "expect.json":
            try:
                out.getmember(f"{case}/{rel}")
            except KeyError:
                add(f"{case}/{rel}", open(f, "rb").read())

def speed(config, category):
    return ("nvidia/SPEED-Bench", f"{config}/test-00000-of-00001.parquet", {"question_id": ["q0", "q1"], "category": [category, "other"], "turns": [["first", "second"], ["no"]]})

made = {
    "aimo": ("AI-MO/NuminaMath-TIR", "data/train-00000-of-00001.parquet", {"problem": ["first"]}),
    "aimo_aime": ("AI-MO/aimo-validation-aime", "data/train-00000-of-00001.parquet", {"problem": ["first"]}),
    "aimo_numina_cot": ("AI-MO/NuminaMath-CoT", "data/train-00000-of-00001.parquet", {"problem": ["first"]}),
    "aimo_numina_1_5": ("AI-MO/NuminaMath-1.5", "data/train-00000-of-00001.parquet", {"problem": ["first"]}),
    "blazedit_5k": ("vdaita/edit_5k_char", "data/train-00000-of-00001.parquet", {"code": ["first"], "change_request": ["x"]}),
    "mmstar": ("Lin-Chen/MMStar", "mmstar/val-00000-of-00001.parquet", {"question": ["first"], "image": [None]}),
    "spec_al_humaneval": ("openai/openai_humaneval", "openai_humaneval/test-00000-of-00001.parquet", {"prompt": ["first"]}),
    "exgentic_v2": ("Exgentic/agent-llm-traces-v2", "data/train-00000-of-00001.parquet", {
        "session_id": ["s"], "harness": ["claude_code"], "models": [["gcp/claude-opus-4-5"]], "benchmark": ["swebench"],
        "spans": [[{"type": "llm_call", "start_time": "2025-06-01T10:00:00Z", "end_time": "2025-06-01T10:00:01Z", "status": {"code": 1}, "attributes": {
            "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 1, "gen_ai.usage.output_tokens": 2,
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "first"}]}])}}]]}),
}
for set_, repo, config in (("librispeech", "openslr/librispeech_asr", "clean"), ("ami", "edinburghcstr/ami", "ihm"), ("gigaspeech", "speechcolab/gigaspeech", "xs")):
    wav = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\4\0\0\0\0\0\1\0"
    made[set_] = (repo, f"{config}/test/0000.parquet", {"audio": [{"bytes": wav, "path": "a.wav"}]})
for c in "coding humanities math multilingual qa rag reasoning roleplay stem summarization writing".split():
    made["speed_bench_" + c] = speed("qualitative", c)
for size in "1k 2k 8k 16k 32k".split():
    made["speed_bench_throughput_" + size] = speed("throughput_" + size, "mixed")
    for c in "low_entropy mixed high_entropy".split():
        made[f"speed_bench_throughput_{size}_{c}"] = speed("throughput_" + size, c)
for set_, name in (("with_subagents", "062126"), ("with_subagents_060226_256k", "with-subagents-060226-256k"), ("with_subagents_060826", "with-subagents-060826"),
                   ("061326_256k", "061326-256k"), ("062126", "062126")):
    call = {"t": 0.0, "type": "n", "model": "a", "in": 130, "out": 8, "hash_ids": [1, 2], "api_time": 0.5}
    agent = {"t": 0.6, "type": "subagent", "agent_id": "x", "subagent_type": "e", "duration_ms": 900, "status": "completed", "models": ["a"], "requests": [{**call, "t": 0.7}]}
    made["semianalysis_cc_traces_weka_" + set_] = ("semianalysisai/cc-traces-weka-" + name, "data/train-00000-of-00001.parquet", {
        "id": ["t"], "models": [["a"]], "block_size": [64], "hash_id_scope": ["local"], "tool_tokens": [10], "system_tokens": [20], "requests": [[call, agent]], "totals": [None]})
for set_, (repo, path, columns) in made.items():
    if set_ in covered:
        continue
    b = io.BytesIO()
    pq.write_table(pa.table(columns), b)
    add(f"made.{set_}/hub/datasets/{repo}/{path}", b.getvalue())
    add(f"made.{set_}/expect.json", json.dumps({"set": set_, "exit": 0, "made": True}).encode())
    add(f"made.{set_}/cmd.txt", b"--num-conversations 2")
out.close()
