"""Are generated prompts as long as they were asked for? 10,000 prompts for each tokenizer, counted by the reference library (tokenizers).

Usage: isl.py AIPERF FOLDER… (folders with a tokenizer.json). Prints tokens minus asked; the status is 1 unless all are 0."""
import collections, json, os, subprocess, sys, tempfile

import tokenizers

COUNT, wrong = 10_000, 0
for n, folder in enumerate(sys.argv[2:]):
    reference = tokenizers.Tokenizer.from_file(folder + "/tokenizer.json")
    reference.no_truncation()
    isl = (100, 37, 250, 64, 128)[n % 5]
    # As the Python tool has it; transformers adds what tokenizer_config.json asks for, which the reference library does not read.
    path = folder + "/tokenizer_config.json"
    config = json.load(open(path)) if os.path.exists(path) else {}
    asked = isl - max(reference.num_special_tokens_to_add(False), sum(bool(config.get(k)) for k in ("add_bos_token", "add_eos_token")))
    out = tempfile.mkdtemp()
    p = subprocess.run([sys.argv[1], "profile", "-m", "m", "--tokenizer", folder, "--url", "mock://?ttft=1ms&itl=1ms&tokens=1", "--endpoint-type", "chat", "--isl", str(isl), "--osl", "1",
                        "--num-dataset-entries", str(COUNT), "--request-count", "1", "--random-seed", "7", "--artifact-dir", out, "--ui-type", "none",
                        "--no-gpu-telemetry", "--no-server-metrics"], capture_output=True, text=True)
    if p.returncode: sys.exit(f"{folder}: {p.stderr[-500:]}")
    data = json.load(open(os.path.join(out, "inputs.json")))["data"]
    texts = [s["payloads"][0]["messages"][-1]["content"] for s in data]
    off = collections.Counter(len(e.ids) - asked for e in reference.encode_batch(texts, add_special_tokens=False))
    wrong += len(texts) != COUNT or set(off) != {0}
    print(f"{os.path.basename(os.path.dirname(folder)) if folder.endswith('models') else os.path.basename(folder)}: {len(texts)} prompts of {asked}, tokens minus asked: {dict(off)}", flush=True)
sys.exit(1 if wrong else 0)
