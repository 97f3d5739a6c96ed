"""check.py AIPERF: the cache that `aiperf dataset pull` fills is found by the Python hub library, and the reverse, both without a network.
Wants huggingface_hub and pyarrow; the hub is a stand-in on the loopback."""
import hashlib, http.server, json, os, subprocess, sys, tempfile, threading
import pyarrow as pa, pyarrow.parquet as pq

aiperf, repo, commit = os.path.abspath(sys.argv[1]), "AI-MO/aimo-validation-aime", "0123456789abcdef0123456789abcdef01234567"
work = tempfile.mkdtemp()
files = {"README.md": b"---\nlicense: apache-2.0\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/train-*\n---\n# Problems\n"}
for k in range(2):
    path = os.path.join(work, "x.parquet")
    pq.write_table(pa.table({"id": list(range(9)), "problem": [f"What is {k} + {i}?" for i in range(9)]}), path)
    files[f"data/train-{k:05d}-of-00002.parquet"] = open(path, "rb").read()

def facts(name):
    body = files[name]
    return (hashlib.sha256(body).hexdigest() if name.endswith(".parquet") else hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()), len(body)

class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def give(self, status, body, **head):
        self.send_response(status)
        for k, v in {"Content-Length": str(len(body)), **head}.items(): self.send_header(k.replace("_", "-"), v)
        self.end_headers()
        if self.command == "GET": self.wfile.write(body)
    def do_GET(self):
        path = self.path.partition("?")[0]
        if path.startswith(f"/api/datasets/{repo}/tree/"):
            tree = [{"type": "file", "path": n, "size": facts(n)[1], "oid": facts(n)[0][:40]} for n in files]
            return self.give(200, json.dumps(tree).encode(), Content_Type="application/json")
        if path.startswith(f"/api/datasets/{repo}"):
            sib = [{"rfilename": n, "size": facts(n)[1], "blobId": facts(n)[0][:40],
                    **({"lfs": {"sha256": facts(n)[0], "size": facts(n)[1], "pointerSize": 1}} if n.endswith(".parquet") else {})} for n in files]
            return self.give(200, json.dumps({"id": repo, "sha": commit, "siblings": sib, "tags": [], "private": False, "downloads": 0, "likes": 0}).encode(), Content_Type="application/json")
        name = path.rpartition(commit + "/")[2] if commit in path else path.rpartition("/main/")[2]
        if name not in files: return self.give(404, b"", X_Error_Code="EntryNotFound")
        tag, size = facts(name)
        self.give(200, files[name], ETag=f'"{tag}"', X_Repo_Commit=commit, Accept_Ranges="bytes")
    do_HEAD = do_GET

hub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=hub.serve_forever, daemon=True).start()
bad = 0

def run(args, **env):
    p = subprocess.run(args, capture_output=True, text=True, cwd=work, env={**os.environ, "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_address[1]}", **env})
    if p.returncode: print(p.stdout, p.stderr)
    return p

def check(what, ok):
    global bad
    bad += not ok
    print("right" if ok else "WRONG", what)

ours, theirs = os.path.join(work, "ours"), os.path.join(work, "theirs")
check("aiperf dataset pull", run([aiperf, "dataset", "pull", "aimo_aime"], HF_HOME=ours).returncode == 0)
read = f"""
import sys, hashlib, json
from huggingface_hub import hf_hub_download, snapshot_download, scan_cache_dir
root = snapshot_download({repo!r}, repo_type="dataset", local_files_only=True)
for n in {list(files)!r}:
    p = hf_hub_download({repo!r}, n, repo_type="dataset", local_files_only=True)
    assert p.startswith(root), p
    print(n, hashlib.sha256(open(p, "rb").read()).hexdigest())
info = scan_cache_dir()
assert not info.warnings, info.warnings
assert [r.repo_id for r in info.repos] == [{repo!r}]
"""
p = run([sys.executable, "-c", read], HF_HOME=ours, HF_HUB_OFFLINE="1")
check("the Python library finds every file, byte for byte, and the cache is as it wants it",
      p.returncode == 0 and p.stdout.split() == [w for n, b in files.items() for w in (n, hashlib.sha256(b).hexdigest())])

p = run([sys.executable, "-c", f"from huggingface_hub import snapshot_download; snapshot_download({repo!r}, repo_type='dataset')"], HF_HOME=theirs)
check("the Python library fills a cache", p.returncode == 0)
p = run([aiperf, "dataset", "list", "--json"], HF_HOME=theirs, HF_HUB_OFFLINE="1")
about = {d["name"]: d for d in json.loads(p.stdout)["datasets"]}
check("aiperf dataset list says that it is cached, its size and licence",
      about["aimo_aime"]["cached"] == "yes" and about["aimo_aime"]["bytes"] == sum(len(b) for n, b in files.items() if n != "README.md") and about["aimo_aime"]["licence"] == "apache-2.0"
      and sum(d["cached"] != "no" for d in about.values()) == 1 and len(about) == 74)
p = run([aiperf, "profile", "--public-dataset", "aimo_aime", "--url", "mock://", "--model", "m", "--tokenizer", "builtin", "--request-count", "18", "--artifact-dir", "run"],
        HF_HOME=theirs, HF_HUB_OFFLINE="1")
got = [s["payloads"][0]["messages"][0]["content"] for s in json.load(open(os.path.join(work, "run", "inputs.json")))["data"]] if p.returncode == 0 else []
check("a run without a network sends its prompts", got == [f"What is {k} + {i}?" for k in range(2) for i in range(9)])
sys.exit(bad > 0)
