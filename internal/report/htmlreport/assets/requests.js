"use strict";
/* The picture of single requests, and the phases of the one that is chosen. page.js calls it when charts and clock are there. */
(window.parts ||= []).push((shared) => {
  const { $, make, figure, token, data, clock, setClock, moves, near, skipped, bands, mostMarks, redraws, dots } = shared;
  const canvas = $("#waterfall");
  if (!canvas) return;
  let rows = [], total = 0, noun = "requests", height = 0, slow = Infinity, chosen = -1;

  /* a request is its phases, from when it was due to its end: [kind, name, from, to] */
  function phases(r) {
    const list = [];
    const simulated = r.served != null; // when its prompt was read; what comes before is a pause, and the prompts of others
    if (r.start > r.due) list.push(["wait", simulated ? "pause" : "waited in the client", r.due, r.start]);
    if (simulated && r.served > r.start) list.push(["wait", "waited for other prompts", r.start, r.served]);
    if (r.failure) list.push(["fail", "until it failed", r.start, r.end]);
    else if (r.first < 0) list.push(["decode", "until its answer was whole", r.start, r.end]);
    else {
      if (!simulated || r.first > r.served) list.push(["prefill", simulated ? "its prompt is read" : "before the first token", simulated ? r.served : r.start, r.first]);
      if (r.said >= 0) list.push(["reason", "reasoning", r.first, r.said]);
      list.push(["decode", r.said >= 0 ? "the answer" : "streaming", r.said >= 0 ? r.said : r.first, r.end]);
    }
    return list;
  }

  /* what is shown: rows with times in s, each on the row of the picture that it names, else on the lowest that is free */
  function show(list, name, of = list.length) {
    rows = list;
    noun = name;
    total = of;
    chosen = -1;
    const free = [];
    rows.forEach((r, i) => {
      r.number = i;
      if (r.row == null) {
        r.row = free.findIndex((until) => until <= r.due);
        if (r.row < 0) r.row = free.length;
      }
      free[r.row] = r.end;
    });
    height = free.length;
    const byTime = rows.filter((r) => !r.failure).map((r) => r.end - r.start).sort((a, b) => a - b);
    slow = byTime[Math.floor(byTime.length * 0.99)] ?? Infinity;
    if ($("#key-reason")) $("#key-reason").hidden = !rows.some((r) => r.said >= 0);
    clock.users.push(() => draw());
    draw();
  }
  const keep = () => shared.keepInAddress({ requests: filter.value === "all" ? "" : filter.value, request: chosen < 0 ? "" : rows[chosen].id });
  const filter = $("#filter"), shown = () => ({ all: () => true, failed: (r) => r.failure, slow: (r) => r.failure === 0 && r.end - r.start >= slow })[filter.value];
  const g = canvas.getContext("2d");
  const left = 54, right = 28, bottom = 22; // as in the lanes, whose last tick may stand at the end: half of "0.015 s"
  const X = (t) => left + ((t - clock.from) / (clock.to - clock.from)) * (canvas.clientWidth - left - right);
  canvas.repaint = () => draw();
  near.observe(canvas);

  function draw(now = false) {
    if (skipped(canvas) && !now) return;
    const k = dots(), w = canvas.clientWidth, h = canvas.clientHeight, fits = shown();
    canvas.width = w * k;
    canvas.height = h * k;
    g.setTransform(k, 0, 0, k, 0, 0);
    const tall = (h - bottom) / Math.max(height, 1);
    const hue = {};
    for (const name of ["wait", "prefill", "reason", "decode", "fail", "ink", "mute", "grid"]) hue[name] = token(name);
    g.font = "12px system-ui, sans-serif";
    g.textAlign = "center";
    const raw = (clock.to - clock.from) / Math.max(2, Math.min(8, (w - left) / 80)), ten = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= raw);
    for (let t = Math.ceil(clock.from / step) * step; t <= clock.to; t += step) {
      g.fillStyle = hue.grid;
      g.fillRect(X(t), 0, 1, h - bottom);
      g.fillStyle = hue.mute;
      const words = +t.toPrecision(6) + (t + step > clock.to ? " s" : "");
      g.fillText(words, Math.min(X(t), w - g.measureText(words).width / 2 - 2), h - 6);
    }
    g.save();
    g.beginPath();
    g.rect(left, 0, w - left - right, h - bottom);
    g.clip();
    bands(g, X, left, 0, w - left - right, h - bottom, 1);
    let n = 0, seen = 0, hueNow = "";
    const view = rows.filter((r) => fits(r) && ++n && r.end >= clock.from && r.due <= clock.to), every = Math.ceil(view.length / mostMarks);
    view.forEach((r) => {
      const i = r.number;
      if (seen++ % every && i !== chosen && !r.failure) return;
      const y = r.row * tall, high = Math.max(tall - (tall > 4 ? 1 : 0), 0.7);
      for (const [kind, , from, to] of phases(r)) {
        if (hueNow !== kind) g.fillStyle = hue[hueNow = kind];
        g.fillRect(X(from), y, Math.max(X(to) - X(from), 0.7), high);
      }
      if (r.begins) { g.fillStyle = hue[hueNow = r.begins === "rest" ? "fail" : "ink"]; g.fillRect(X(r.start), y, 2, high); }
      if (i === chosen) { g.strokeStyle = hue.ink; g.lineWidth = 2; g.strokeRect(X(r.due) - 1, y - 1, X(r.end) - X(r.due) + 2, high + 2); }
    });
    g.restore();
    $("#shown").textContent = n.toLocaleString("en-US") + " of " + total.toLocaleString("en-US") + " " + noun + (every > 1 ? "; in this view one of " + every + " is drawn: zoom in for all" : "");
  }

  /* when each message of the answer came, as ticks below the phases; the longest wait between two of them in words */
  function messages(r, whole) {
    if (r.first < 0 || !data.Arrivals) return null;
    const gaps = data.Arrivals[r.number];
    if (!gaps || noun !== "requests") return make("li", {}, make("span", {}, "messages"), make("span", {}, "only those of the slowest requests are in this page"), make("span"));
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    let at = r.first, d = "", longest = 0, when = 0;
    const tick = () => { d += "M" + ((1000 * (at - r.due)) / whole).toFixed(2) + " 0V12"; };
    tick();
    for (const gap of gaps) {
      if (gap > longest) { longest = gap; when = at; }
      at += gap / 1e5;
      tick();
    }
    for (const [k, v] of [["class", "ticks"], ["viewBox", "0 0 1000 12"], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) svg.setAttribute(k, v);
    path.setAttribute("d", d);
    svg.append(path);
    const n = gaps.length + 1, words = n.toLocaleString("en-US") + "; longest gap " + figure(longest / 100) + " ms, at " + figure(when) + " s";
    return make("li", { class: "messages" }, make("span", {}, "messages of the answer"), make("span", { class: "track" }, svg), make("small", {}, words));
  }

  /* the chosen request: its figures, and a bar for each phase on the request's own clock. What was not waited in the client adds up to the latency. */
  function detail(r) {
    const ms = (s) => figure(s * 1e3) + " ms", parts = [r.id, "started at " + figure(r.start) + " s"];
    if (r.isl >= 0) parts.push(r.isl + " tokens in");
    if (r.osl >= 0) parts.push(r.osl + " out");
    const list = make("ol", { class: "phases" }), whole = r.end - r.due || 1;
    for (const [kind, name, from, to] of phases(r)) {
      const bar = make("span", { class: "bar " + kind });
      bar.style.marginLeft = (100 * (from - r.due)) / whole + "%";
      bar.style.width = (100 * (to - from)) / whole + "%";
      list.append(make("li", {}, make("span", {}, name), make("span", { class: "track", "aria-hidden": "true" }, bar), make("span", {}, ms(to - from))));
    }
    const ticks = messages(r, whole);
    if (ticks) list.append(ticks);
    list.append(make("li", {}, make("span", {}, r.failure ? "time to the failure" : noun === "turns" ? "latency" : "request latency"), make("span"), make("strong", {}, ms(r.end - r.start))));
    $("#detail").replaceChildren(make("p", {}, parts.join(" · ")), ...(r.failure ? [make("p", {}, "Failed: " + data.Failures[r.failure - 1])] : []), list);
  }

  function choose(i) {
    chosen = i;
    const r = rows[i];
    if (r) {
      detail(r);
      keep();
      if (r.start < clock.from || r.start > clock.to) setClock(r.start - (clock.to - clock.from) / 2, r.start + (clock.to - clock.from) / 2);
    }
    draw(true);
  }
  canvas.onclick = (e) => {
    const tall = (canvas.clientHeight - bottom) / Math.max(height, 1), t = clock.from + ((e.offsetX - left) / (canvas.clientWidth - left - right)) * (clock.to - clock.from), beside = (clock.to - clock.from) / 100;
    let best = -1, least = Infinity;
    rows.forEach((r, i) => {
      const d = Math.abs(r.row * tall + tall / 2 - e.offsetY) + (t < r.due - beside || t > r.end + beside ? 1e6 : 0);
      if (shown()(r) && d < least) { least = d; best = i; }
    });
    if (least < 1e6) choose(best);
  };
  canvas.onkeydown = (e) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key], move = moves[{ "+": "in", "=": "in", "-": "out", Home: "all" }[e.key]];
    if (step) {
      e.preventDefault();
      for (let i = chosen + step; i >= 0 && i < rows.length; i += step) if (shown()(rows[i])) return choose(i);
    } else if (move) {
      e.preventDefault();
      setClock(...move());
    }
  };
  canvas.onwheel = (e) => { if (e.ctrlKey) { e.preventDefault(); setClock(...moves[e.deltaY < 0 ? "in" : "out"]()); } };
  filter.onchange = () => { draw(true); keep(); };
  redraws.push(() => draw());
  new ResizeObserver(() => draw()).observe(canvas);
  shared.showRequests = show;
  if (!data.Rows) return;
  show(data.Rows.map((r, i) => ({ due: r[0], start: r[1], first: r[2], end: r[3], isl: r[4], osl: r[5], failure: r[6], said: r[7], id: data.IDs[i] })), "requests", data.Total);
  const linked = shared.chosenView.get("request"), shows = shared.chosenView.get("requests");
  if ([...filter.options].some((o) => o.value === shows)) filter.value = shows;
  if (linked && data.IDs.includes(linked)) choose(data.IDs.indexOf(linked));
  if (rows.length > 3000) { // a stretch around the slowest request: more bars than points are texture
    const worst = rows.reduce((a, r) => (r.end - r.start > a.end - a.start ? r : a), rows[0]), wide = Math.max(clock.end * (1500 / rows.length), (worst.end - worst.start) * 2);
    $("#shown").after(make("button", { type: "button", id: "slowest" }, "Go to the slowest request"));
    $("#slowest").onclick = () => { setClock(worst.start - wide / 3, worst.start + wide * 0.67); choose(rows.indexOf(worst)); };
  }
});
