"use strict";
/* A server with a cache of blocks under sessions of several turns, event by event. Times are in ms. A session is {Group, Restart, Turns: [[added,
   output, pause]], BlockIDs: [[first, count, …]]}; settings: concurrency, prefill and decode (tokens/s), gigabytes, bytes (of a token), block, layer1,
   layer15 (tokens), firstOwn (ids from here on are of single sessions). */
function simulateCache(sessions, settings) {
  const capacity = (settings.gigabytes * 1e9) / settings.bytes; // tokens
  const layer1Blocks = Math.ceil(settings.layer1 / settings.block);

  /* what happens next, by time and, at one time, in the order in which it was found out: a heap */
  const heap = [];
  let number = 0;
  const before = (a, b) => a.at < b.at || (a.at === b.at && a.number < b.number);
  function plan(at, what, s, k) {
    heap.push({ at, number: number++, what, s, k });
    for (let i = heap.length - 1, up; i > 0 && before(heap[i], heap[(up = (i - 1) >> 1)]); i = up) [heap[i], heap[up]] = [heap[up], heap[i]];
  }
  function next() {
    const top = heap[0], last = heap.pop();
    if (heap.length) {
      heap[0] = last;
      for (let i = 0; ; ) {
        let least = i;
        for (const j of [2 * i + 1, 2 * i + 2]) if (j < heap.length && before(heap[j], heap[least])) least = j;
        if (least === i) break;
        [heap[i], heap[least]] = [heap[least], heap[i]];
        i = least;
      }
    }
    return top;
  }

  const state = sessions.map((s) => {
    let prompt = 0;
    const prompts = s.Turns.map(([added, output]) => { const whole = prompt + added; prompt = whole + output; return whole; });
    return { s, prompts, slot: -1, begun: 0, tokens: 0, blocks: new Set(), idle: 0, thrown: false };
  });
  const each = (s, from, to, f) => { // ids of the rows of some turns
    for (let k = from; k < to; k++) for (let i = 0, runs = s.s.BlockIDs[k]; i < runs.length; i += 2) for (let id = runs[i], end = id + runs[i + 1]; id < end; id++) f(id);
  };

  /* tokens in the cache, those of shared layers once */
  let tokens = 0, holding = 0, spare = 0; // spare: sessions of a group beyond its first
  const ofGroup = new Map();
  function setTokens(s, v) {
    const was = s.tokens > 0, is = v > 0;
    if (was !== is) {
      const n = ofGroup.get(s.s.Group) || 0, to = n + (is ? 1 : -1);
      holding += is ? 1 : -1;
      spare += Math.max(0, to - 1) - Math.max(0, n - 1);
      ofGroup.set(s.s.Group, to);
    }
    tokens += v - s.tokens;
    s.tokens = v;
  }
  const inUse = () => Math.max(0, tokens - Math.max(0, holding - 1) * settings.layer1 - spare * settings.layer15);

  const holders = new Map(), lost = new Set(); // sessions that hold a block; evicted blocks
  const total = { evictions: 0, evictedBlocks: 0, missGroup: 0, missSession: 0, hit: 0, miss: 0, prefill: 0, decode: 0, wait: 0, ttft: 0, turns: 0, end: 0 };
  function hold(s, id) {
    if (s.blocks.has(id)) return;
    if (lost.delete(id)) {
      if (id >= settings.firstOwn) total.missSession++;
      else if (id >= layer1Blocks) total.missGroup++;
    }
    s.blocks.add(id);
    holders.set(id, (holders.get(id) || 0) + 1);
  }
  const idle = []; // [session, its number of idling], the longest first
  let first = 0, idling = 0;
  const rest = (s) => { if (!s.idle) idle.push([s, (s.idle = ++idling)]); };
  function makeRoom() {
    while (inUse() > capacity && first < idle.length) {
      const [s, which] = idle[first++];
      if (s.idle !== which) continue;
      s.idle = 0;
      if (s.tokens === 0) continue;
      setTokens(s, 0);
      for (const id of s.blocks) {
        const n = holders.get(id) - 1;
        if (n > 0) holders.set(id, n);
        else { holders.delete(id); lost.add(id); total.evictedBlocks++; }
      }
      s.blocks.clear();
      s.thrown = true;
      total.evictions++;
    }
  }

  let free = 0, active = 0, prompts = 0, waiting = 0, running = 0;
  const turns = [], series = [];
  function begin(at, slot) {
    const s = state[waiting++];
    s.slot = slot;
    s.begun = at;
    running++;
    plan(at, "ready", s, 0);
  }
  while (waiting < state.length && running < settings.concurrency) begin(0, waiting);
  while (heap.length) {
    const { at, what, s, k } = next(), [, output, pause] = s.s.Turns[k];
    total.end = Math.max(total.end, at);
    if (what === "ready") {
      s.idle = 0;
      let hit = 0, all = 0;
      each(s, 0, k + 1, (id) => { all++; if (holders.has(id)) hit++; });
      const read = (all - hit) * settings.block;
      total.hit += hit * settings.block;
      total.miss += read;
      const from = Math.max(at, free), decode = from + (read / settings.prefill) * 1e3, end = decode + (output / settings.decode) * 1e3;
      free = decode;
      plan(decode, "start", s, k);
      plan(end, "end", s, k);
      turns.push({ session: s, turn: k, paused: at - (k ? pause : 0), ready: at, prefill: from, decode, end, hit: hit * settings.block, miss: read, input: s.prompts[k], output });
      total.wait += from - at;
      total.prefill += decode - from;
      total.decode += end - decode;
      total.ttft += decode - at;
      total.turns++;
      continue;
    }
    if (what === "start") {
      active++;
      prompts += s.prompts[k];
      if (s.thrown) { // its earlier turns come back first
        s.thrown = false;
        setTokens(s, 0);
        each(s, 0, k, (id) => hold(s, id));
      }
      setTokens(s, s.prompts[k]);
      each(s, k, k + 1, (id) => hold(s, id));
      makeRoom();
    } else {
      active--;
      prompts -= s.prompts[k];
      setTokens(s, s.tokens + output);
      if (k + 1 < s.s.Turns.length) {
        const think = s.s.Turns[k + 1][2];
        if (think > 0) rest(s);
        plan(at + think, "ready", s, k + 1);
      } else {
        rest(s);
        running--;
        if (waiting < state.length) begin(at, s.slot);
      }
    }
    series.push({ at, active, prompts, gigabytes: (inUse() * settings.bytes) / 1e9, blocks: holders.size, hit: total.hit, miss: total.miss, evictedBlocks: total.evictedBlocks, missGroup: total.missGroup, missSession: total.missSession });
  }

  /* a cache without end, the sessions one after another */
  const seen = new Set();
  let had = 0, asked = 0;
  for (const s of state) for (let k = 0; k < s.s.Turns.length; k++) each(s, 0, k + 1, (id) => { asked++; if (seen.has(id)) had++; else seen.add(id); });
  return { ...total, series, timeline: turns, hitRate: total.hit / (total.hit + total.miss || 1), bestHitRate: had / (asked || 1), averageTTFT: total.ttft / (total.turns || 1) };
}
