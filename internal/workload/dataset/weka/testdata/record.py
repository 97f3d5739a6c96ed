"""Records what the Python tool 0.13 makes of drawn traces of agents (recorded.json.gz): sessions, times, messages by their blocks.
and of rounds of TraceLab (tracelab.json.gz).
Usage: record.py recorded.json.gz tracelab.json.gz, with the tool's Python. Traces have no id beyond their whole blocks: there the tool sends more tokens than were recorded.
Left out are traces whose requests the tool sends in another order than that of time."""
import copy, datetime, gzip, json, random, sys
from types import SimpleNamespace as NS
from aiperf.dataset.loader import _tracelab_convert as C
from aiperf.dataset.loader.tracelab_trace import TraceLabTraceDatasetLoader
from aiperf.dataset.loader.weka_trace import WekaTraceLoader
from aiperf.dataset.loader.weka_trace_models import WekaTrace

class Loader(WekaTraceLoader):
    """The loader with texts that name their blocks."""
    def __init__(self, o):
        self.prompt_generator = NS(_cache={}, _hash_id_corpus_rng=NS(set_trace_id=lambda t: None, seed=0))
        self._configured_model_names, self._max_isl, self._max_osl = o.get("models", ["m"]), None, None
        self._max_context_length, self._ignore_trace_delays, self._use_think_time_only = None, False, o.get("think", False)
        self._inter_turn_delay_cap_seconds = None; self._path = None
        self._fixed_schedule_start_offset = self._fixed_schedule_end_offset = None
        self._tokenizer_name = ""; self._user_block_size_override = None; self._block_size = 64
        from aiperf.dataset.loader._delay_cap import DelayCapTracker
        self._delay_cap_tracker = DelayCapTracker(cap_seconds=None)
        self._configured_trace_idle_gap_cap_seconds = o.get("idle"); self._tool_shaped_messages = o.get("tools", False)
    bpe_stable_terminator_tokens = []
    def _decode_block_tokens(self, ids): return [i for i in ids for _ in range(self._block_size)]
    def sample_partial_tail_tokens(self, n, seed): return [-1] * n
    def _decode_tokens_to_text(self, tokens):
        out, i = [], 0
        while i < len(tokens):
            j = i
            while j < len(tokens) and tokens[j] == tokens[i]: j += 1
            out += [str(tokens[i])] * ((j - i) // self._block_size) if tokens[i] >= 0 else [f"+{j - i}"]; i = j
        return " ".join(out)

def grow(r, ids, fresh, kind):
    if kind == "extend": return ids + [next(fresh) for _ in range(r.randint(0, 5))]
    if kind == "cut": return ids[:r.randint(0, len(ids))] + [next(fresh) for _ in range(r.randint(0, 4))]
    if kind == "pull": return ids[:r.randint(0, len(ids))]
    return [next(fresh) for _ in range(r.randint(1, 6))]

def requests(r, fresh, t, n, models, block):
    """a few agents whose requests lie in one list"""
    agents, out = [], []
    for _ in range(n):
        kind = r.choice(["extend"] * 6 + ["cut", "cut", "pull", "new"])
        if agents and kind != "new":
            a = r.choice(agents); ids = grow(r, a["ids"], fresh, kind)
            if r.random() < 0.25: a = {"model": r.choice(models)}; agents.append(a)
        else: ids = [next(fresh) for _ in range(r.randint(1, 6))]; a = {"model": r.choice(models)}; agents.append(a)
        a["ids"] = ids
        t += r.choice([0.0, 0.1, 0.5, 2, 30, 5000])
        hidden = r.choice([0, 0, 0, 1]) * r.randint(0, 3)
        q = {"t": round(t, 3), "type": "n", "model": a["model"], "in": (len(ids) + hidden) * block + r.choice([0, 0, r.randint(1, block - 1)]), "out": r.choice([0, 3, 70, 200, 5000]),
             "hash_ids": ids, "input_types": r.choice([[], ["text"], ["tool_result"]]), "stop": r.choice(["", "tool_use", "end_turn"]), "api_time": r.choice([None, 0.05, 1.0, 10.0]), "think_time": r.choice([None, 0.2, 3.0])}
        if q["in"] == 0: q["in"] = 1
        if r.random() < 0.1: q["hash_ids"] = []
        if r.random() < 0.3: q["in"] = max(q["in"], 400 * block); q["out"] = r.choice([5, 300])
        out.append(q)
    return out, t

def draw(seed):
    r = random.Random(seed); fresh = iter(range(1, 10 ** 6)); block = r.choice([16, 64]); models = ["a", "b"][:r.choice([1, 2])]
    rows, t = requests(r, fresh, 0.0, r.randint(1, 14), models, block)
    for k in range(r.choice([0, 0, 1, 2])):
        at = r.randint(0, len(rows)); start = rows[at - 1]["t"] + 0.01 if at else 0.0
        inner, _ = requests(r, fresh, start, r.randint(1, 6), models, block)
        rows.insert(at, {"t": start, "type": "subagent", "agent_id": f"ag{k}", "subagent_type": "x", "duration_ms": r.choice([None, 100, 20000]), "total_tokens": 1, "tool_use_count": 0,
                         "status": "completed", "requests": inner, "models": models})
    o = {"think": r.random() < 0.3, "tools": r.random() < 0.3, "models": ["m", "n"][:r.choice([1, 2])]}
    if r.random() < 0.3: o["idle"] = r.choice([0.5, 10.0])
    return {"id": f"t{seed}", "models": models, "block_size": block, "hash_id_scope": "local", "tool_tokens": 0, "system_tokens": 0, "requests": rows}, o

def prefixed(trace, r):
    """declares a first message where every first request has its blocks"""
    lists = [trace] + [q for q in trace["requests"] if q["type"] == "subagent"]
    for l in lists:
        own = [q for q in l["requests"] if q["type"] == "n"]
        if own and all(q["hash_ids"] for q in own) and r.random() < 0.5: l["system_tokens"] = r.randint(1, trace["block_size"])

def told(conversations):
    """what is compared of a trace's conversations; None = its requests are not in the order of time"""
    sessions = []
    for c in conversations:
        turns, sent = [], []
        for t in c.turns:
            sent = (list(t.raw_messages) if t.reset_context else sent + list(t.raw_messages))
            turns.append({"at": t.timestamp, "delay": t.delay, "model": t.model, "max": t.max_tokens, "messages": sent})
        sessions.append({"id": c.session_id, "turns": turns})
    if any(a["at"] > b["at"] for s in sessions for a, b in zip(s["turns"], s["turns"][1:])): return None
    started = []
    for root in [c for c in conversations if c.is_root]:
        for b in root.branches:
            turn = next(i for i, t in enumerate(root.turns) if b.branch_id in t.branch_ids)
            join = next((i for i, t in enumerate(root.turns) if any(p.branch_id == b.branch_id for p in t.prerequisites)), 0)
            started += [{"id": i, "turn": turn, "join": join} for i in b.child_conversation_ids]
    return {"sessions": sessions, "started": started}

def weka_case(seed):
    trace, o = draw(seed); prefixed(trace, random.Random(seed))
    got = told(Loader(o).convert_to_conversations({trace["id"]: [WekaTrace.model_validate(copy.deepcopy(trace))]}))
    return got and {"trace": trace, "options": o, **got}

def stamp(t): return datetime.datetime.fromtimestamp(1_700_000_000 + t, datetime.UTC).isoformat().replace("+00:00", "Z")

def tracelab_case(seed):
    """rows of a few sessions, some of them inside a call of another's tool"""
    r = random.Random(seed); rows = []
    def session(name, t, n, provider, depth):
        for k in range(n):
            prefix = r.choice([0, r.randint(0, 900)]); new = r.randint(0, 600)
            events = [{"event_type": r.choice(["user_message", "tool_result"]), "timestamp": stamp(t)}]
            end = t + r.choice([0.5, 2.0]); events.append({"event_type": r.choice(["text", "reasoning", "tool_call"]), "timestamp": stamp(end)})
            row = {"session_id": name, "round_index": k, "input_tokens_total": prefix + new, "prefix_tokens": prefix, "newly_append_tokens": new, "output_tokens": r.randint(0, 300),
                   "reasoning_output_tokens": r.choice([None, 5]), "model": r.choice(["a", "a", "b"]), "provider": provider, "user": "u", "project": "p", "timing_events": events, "tools": [],
                   "first_input_event_type": events[0]["event_type"]}
            if r.random() < 0.1: row["timing_events"] = []
            rows.append(row)
            if depth < 2 and r.random() < 0.4:
                length = r.choice([4.0, 40.0]); child = f"{name}:c{k}"
                name_, at = ("Agent", end) if provider != "codex" else (r.choice(["spawn_agent", "wait_agent"]), end)
                row["tools"] = [{"tool_name": name_, "emitted_at": stamp(at), "result_at": stamp(at + length), "tool_wall_latency_ms": length * 1000}]
                if r.random() < 0.7: session(child, at + r.choice([0.5, 2.0]), r.randint(1, 3), "claude", depth + 1)
                end += length
            t = end + r.choice([0.1, 5.0])
    for k in range(r.randint(1, 3)): session(f"s/{k}", k * r.choice([3.0, 500.0]), r.randint(1, 5), r.choice(["claude", "codex"]), 0)
    r.shuffle(rows)
    sessions = {}
    for row in rows: sessions.setdefault(row["session_id"], []).append(row)
    t = TraceLabTraceDatasetLoader.__new__(TraceLabTraceDatasetLoader); t._block_size = 64
    links, stats = C.build_join_index(sessions)
    children = C.group_children_by_parent(sessions, links, stats)
    traces = t._build_traces(sessions, children, {c for kids in children.values() for c in kids})
    got = told(Loader({}).convert_to_conversations({i: [x] for i, x in traces.items()}))
    return got and {"rows": rows, **got}

for out, make in zip(sys.argv[1:], (weka_case, tracelab_case)):
    cases = []
    for seed in range(400 if make is weka_case else 200):
        try: case = make(seed)
        except Exception as e: print(seed, type(e).__name__, str(e)[:150], file=sys.stderr); continue
        if case: cases.append(case)
    with gzip.GzipFile(out, "wb", mtime=0) as f: f.write(json.dumps(cases, separators=(",", ":")).encode())
    print(out, len(cases), "cases", file=sys.stderr)
