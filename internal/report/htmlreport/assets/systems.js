"use strict";
/* The page that compares systems: objectives, trade-off, latency against load. page.js calls it when charts can be drawn. */
(window.parts ||= []).push(({ $, $$, make, figure, data, redraws, drawChart }) => {
  const d = data.Systems;
  if (!d || !$("#trade-chart")) return;
  const { Systems: systems, Points: points } = d;
  const hues = ["p50", "p90", "p99", "decode", "fail"], symbols = ["", "diamond", "square", "triangle", "cross"];
  const latencies = [["ttft", "time_to_first_token", "TTFT"], ["itl", "inter_token_latency", "ITL"], ["e2e", "request_latency", "Request latency"]];
  const stats = ["p50", "p90", "p95", "p99"];

  /* ---- figures: each gives {v, half} of a point, or null ---- */
  const plain = (key) => (p) => { const f = p.Figures[key]; return f ? { v: f.Value, half: f.Half || 0 } : null; };
  const scaled = (f, k) => f && { v: f.v * k, half: f.half * Math.abs(k) };
  const perGPU = (key) => (p) => (p.GPUs ? scaled(plain(key)(p), 1 / p.GPUs) : null);
  /* the cost of a million tokens: GPUs times the price of their hour, over the tokens of an hour */
  const cost = (key) => (p) => {
    const f = plain(key)(p), price = systems[p.System].Price;
    if (!f || !(f.v > 0) || !p.GPUs || !(price > 0)) return null;
    const v = (p.GPUs * price * 1e6) / (f.v * 3600);
    return { v, half: (v * f.half) / f.v };
  };
  const own = (f) => (p) => (f(p) > 0 ? { v: f(p), half: 0 } : null);
  const measure = (id, name, unit, more, of, needs) => ({ id, name, unit, more, of, needs, title: unit ? name + " (" + unit + ")" : name });
  const gpus = "needs " + d.Spelled.GPUs, priced = "needs a price and the number of GPUs";
  const verticals = [
    measure("output-gpu", "Output throughput per GPU", "tokens/s per GPU", true, perGPU("output_token_throughput:avg"), gpus),
    measure("total-gpu", "Throughput of input and output per GPU", "tokens/s per GPU", true, perGPU("total_token_throughput:avg"), gpus),
    measure("requests-gpu", "Requests per GPU", "requests/s per GPU", true, perGPU("request_throughput:avg"), gpus),
    measure("output", "Output throughput", "tokens/s", true, plain("output_token_throughput:avg")),
    measure("total", "Throughput of input and output", "tokens/s", true, plain("total_token_throughput:avg")),
    measure("requests", "Requests", "requests/s", true, plain("request_throughput:avg")),
    measure("goodput", "Goodput", "requests/s", true, plain("goodput:avg"), "not measured"),
    measure("cost-output", "Cost of 1 million output tokens", "currency of the price", false, cost("output_token_throughput:avg"), priced),
    measure("cost-total", "Cost of 1 million tokens, input and output", "currency of the price", false, cost("total_token_throughput:avg"), priced),
    measure("energy", "Energy per output token", "mJ/token", false, plain("energy_per_output_token:avg"), "needs GPU telemetry"),
  ];
  const horizontals = [
    ...[["p50", "median"], ["p10", "slowest 10 %"], ["avg", "mean"]].map(([s, text]) => measure("user-" + s, "Speed per user, " + text, "tokens/s per user", true, plain("output_token_throughput_per_user:" + s))),
    ...latencies.flatMap(([id, tag, name]) => stats.map((s) => measure(id + "-" + s, name + " " + s, "ms", false, plain(tag + ":" + s)))),
  ];
  const loads = [
    measure("concurrency", "Concurrency", "", true, own((p) => p.Concurrency)),
    measure("rate", "Requested rate", "requests/s", true, own((p) => p.Rate)),
    measure("achieved", "Requests", "requests/s", true, plain("request_throughput:avg")),
    measure("tokens-gpu", "Output throughput per GPU", "tokens/s per GPU", true, perGPU("output_token_throughput:avg"), gpus),
  ];
  const has = (m) => points.some((p) => m.of(p));
  const all = (m) => points.every((p) => m.of(p));

  /* ---- state: kept in the address, so that a link opens the same view ---- */
  const first = (list) => (list.find(has) || list[0]).id;
  const initial = () => ({
    y: (verticals.find(all) || verticals.find(has) || verticals[3]).id, x: first(horizontals), gy: latencies.find(([, tag]) => has({ of: plain(tag + ":p50") }))?.[0] || "e2e", gs: "p99", gx: first(loads),
    logy: "", logx: "", glogy: "", glogx: "", color: d.ColorBy, hidden: "", failed: "1", doubtful: "", prices: systems.map((s) => s.Price || "").join(" "),
    ttft: "", itl: "", e2e: "", "ttft-stat": "p99", "itl-stat": "p99", "e2e-stat": "p99",
  });
  const usual = initial(), state = { ...usual };
  if (!has({ of: plain("request_latency:p99") })) for (const k of ["gs", "ttft-stat", "itl-stat", "e2e-stat"]) usual[k] = state[k] = "p50";
  for (const [k, v] of new URLSearchParams(location.hash.slice(1))) if (k in state) state[k] = v;
  const keep = () => {
    const changed = new URLSearchParams(Object.entries(state).filter(([k, v]) => String(v) !== String(usual[k])));
    try { history.replaceState(null, "", "#" + changed); } catch { /* a viewer that allows no address */ }
  };
  state.prices.split(" ").forEach((v, k) => { if (systems[k]) systems[k].Price = Number(v) > 0 ? Number(v) : 0; });
  const hidden = new Set(state.hidden.split(",").filter(Boolean).map(Number));
  const byId = (list, id) => list.find((m) => m.id === id) || list[0];

  /* ---- objectives ---- */
  const number = (text) => (String(text).trim() !== "" && isFinite(Number(text)) && Number(text) >= 0 ? Number(text) : null);
  /* why a point does not pass; an empty list means that it does */
  function faults(p) {
    const list = [];
    if (p.Doubt && !state.doubtful) list.push("does not count: " + p.Doubt);
    const most = number(state.failed);
    if (most != null && p.Failed > most) list.push(figure(p.Failed) + " % of the requests failed");
    for (const [id, tag, name] of latencies) {
      const limit = number(state[id]), stat = state[id + "-stat"], f = p.Figures[tag + ":" + stat];
      if (limit == null) continue;
      if (!f) list.push(name + " " + stat + ": " + (p.Missing[tag + ":" + stat] || "not measured"));
      else if (f.Low > limit) list.push(name + " " + stat + " " + figure(f.Value) + " ms");
      else if (f.High > limit) list.push(name + " " + stat + (f.High < 1e300 ? " is between " + figure(f.Low) + " and " + figure(f.High) + " ms: undecided" : " is at least " + figure(f.Low) + " ms: undecided"));
    }
    return list;
  }
  const group = (p) => (state.color ? p.Settings[state.color] || "not set" : systems[p.System].Name);
  const groups = () => [...new Set(points.map(group))];
  const shown = (p) => !hidden.has(p.System);
  const better = (m, a, b) => (m.more ? a > b : a < b);

  /* the points that no other of the list beats on both axes, from left to right */
  function frontier(list, x, y) {
    const at = list.map((p) => ({ p, x: x.of(p)?.v, y: y.of(p)?.v })).filter((a) => a.x != null && a.y != null);
    return at.filter((a) => !at.some((b) => (better(x, b.x, a.x) || b.x === a.x) && (better(y, b.y, a.y) || b.y === a.y) && (b.x !== a.x || b.y !== a.y)))
      .sort((a, b) => a.x - b.x || a.y - b.y).map((a) => a.p);
  }
  /* the best point by the vertical axis; of equal ones, the better on the horizontal axis */
  function best(list, x, y) {
    return list.filter((p) => y.of(p)).sort((a, b) => (y.of(a).v - y.of(b).v) * (y.more ? -1 : 1) || ((x.of(a)?.v ?? 0) - (x.of(b)?.v ?? 0)) * (x.more ? -1 : 1))[0];
  }
  const name = (p) => systems[p.System].Name + ", " + p.Name;
  const latencyWords = (p) => latencies.map(([id, tag, n]) => { const s = state[id + "-stat"], f = p.Figures[tag + ":" + s]; return f ? n + " " + s + " " + figure(f.Value) + " ms" : null; }).filter(Boolean).join(", ");
  const gpuWords = (p) => (p.GPUs ? p.GPUs + (p.GPUs === 1 ? " GPU" : " GPUs") : "number of GPUs unknown");
  const worth = (p, y) => figure(y.of(p).v) + " " + y.unit;

  function answer() {
    const x = byId(horizontals, state.x), y = byId(verticals, state.y), seen = points.filter(shown), passing = seen.filter((p) => !faults(p).length), top = best(passing, x, y);
    const share = passing.length + " of " + seen.length + " points pass. ";
    $("#best").textContent = top ? share + "Best by " + y.name.toLowerCase().replace("gpu", "GPU") + ": " + name(top) + ", " + worth(top, y) + "." : passing.length ? share + "None of them has the figure of the vertical axis (" + y.name + "" + (y.needs ? ", " + y.needs : "") + ")." : "No point passes.";
    $("#best").dataset.point = top ? points.indexOf(top) : "";
    $("#best-of").replaceChildren(...groups().map((g) => {
      const p = best(passing.filter((q) => group(q) === g), x, y);
      return make("li", {}, make("strong", {}, g + ": "), p ? p.Name + ", " + worth(p, y) + (latencyWords(p) ? ", " + latencyWords(p) : "") : "no point passes with this figure");
    }));
    const fronts = new Set(groups().flatMap((g) => frontier(passing.filter((q) => group(q) === g), x, y)));
    $$("#points tbody tr").forEach((tr, i) => {
      const list = faults(points[i]), cell = $(".why span", tr);
      tr.classList.toggle("fails", list.length > 0);
      cell.textContent = list.length ? "no: " + list.join("; ") : fronts.has(points[i]) ? "yes, on the frontier" : "yes";
      const f = cost("output_token_throughput:avg")(points[i]), own = $('[data-name="Cost of 1\u00a0M output tokens"] span', tr);
      if (f) own.textContent = figure(f.v) + (f.half ? " ± " + figure(f.half) : "");
      else own.replaceChildren("–", make("small", {}, points[i].GPUs ? "needs a price" : gpus));
    });
  }

  /* ---- charts ---- */
  const own_redraws = {};
  redraws.push(() => Object.values(own_redraws).flat().forEach((f) => f()));
  function show(id, chart) {
    const host = make("figure", { class: "chart tall" }), n = redraws.length;
    $("#" + id).replaceChildren(host);
    drawChart(host, chart);
    own_redraws[id] = redraws.splice(n); // only the chart that is shown is drawn again
    const to = (t, i) => t && t.Key && t.Key[i] != null && configuration(points[t.Key[i]]);
    host.onpoint = to;
    host.onpick(to);
  }
  const style = (g) => ({ Color: "var:" + hues[g % 5], Symbol: symbols[(g + Math.floor(g / 5)) % 5], Dash: ["", "dash", "dot"][Math.floor(g / 5) % 3] });
  const axis = (m, log, zero) => ({ Title: m.title + (log ? ", logarithmic" : ""), Scale: log ? "log" : "linear", Unit: m.unit, FromZero: zero });
  function trace(list, x, y, more) {
    const at = list.map((p) => [p, x.of(p), y.of(p)]).filter(([, a, b]) => a && b), pick = (f) => at.map(f);
    const bars = (k) => (at.some((a) => a[k].half > 0) ? pick((a) => a[k].half) : undefined);
    return { Kind: "scatter", Mode: "markers", X: pick((a) => a[1].v), Y: pick((a) => a[2].v), ErrorX: bars(1), ErrorY: bars(2), Key: pick((a) => points.indexOf(a[0])), Hover: pick((a) => hover(a[0])), Size: 10, ...more };
  }
  /* a reader points at marks, not at the line between them */
  const line = (list, x, y, k) => ({ ...trace(list, x, y), ErrorX: undefined, ErrorY: undefined, Mode: "lines", Width: 2, ...style(k), Name: "", Unlisted: true, Silent: true });
  const hover = (p) => {
    const bad = faults(p), money = cost("output_token_throughput:avg")(p), energy = plain("energy_per_output_token:avg")(p);
    return [state.color ? name(p) : p.Name, gpuWords(p), latencyWords(p), money && figure(money.v) + " per 1 M output tokens", energy && figure(energy.v) + " mJ per output token", bad.length ? "does not pass: " + bad.join("; ") : null,
      ...d.Keys.slice(0, 6).map((k) => k + " " + (p.Settings[k] || "not set"))].filter(Boolean).join(" · ");
  };
  const missing = (x, y, list) => {
    const lost = [...new Set(list.filter((p) => !x.of(p) || !y.of(p)).map((p) => systems[p.System].Name))];
    return lost.length ? ["Not drawn, because a figure of an axis is missing" + (y.needs || x.needs ? " (" + (y.needs || x.needs) + ")" : "") + ": points of " + lost.join(", ") + "."] : [];
  };
  function trade() {
    const x = byId(horizontals, state.x), y = byId(verticals, state.y), list = points.filter(shown), traces = [];
    groups().forEach((g, k) => {
      const mine = list.filter((p) => group(p) === g), good = mine.filter((p) => !faults(p).length);
      if (!mine.length) return;
      traces.push(trace(mine.filter((p) => faults(p).length), x, y, { ...style(k), Color: "var:wait", Opacity: 0.45, Name: g + ", does not pass", Unlisted: true }));
      traces.push(trace(good, x, y, { ...style(k), Name: g }));
      traces.push(line(frontier(good, x, y), x, y, k));
    });
    const chart = { Name: "trade", Title: y.name + " against " + x.name, X: axis(x, state.logx), Y: axis(y, state.logy), Traces: traces, Notes: missing(x, y, list) };
    show("trade-chart", chart);
  }
  function growth() {
    const [id, tag, text] = latencies.find((l) => l[0] === state.gy) || latencies[2], stat = state.gs;
    const y = measure(id, text + " " + stat, "ms", false, plain(tag + ":" + stat)), x = byId(loads, state.gx), list = points.filter(shown), traces = [];
    groups().forEach((g, k) => systems.forEach((_, s) => {
      const mine = list.filter((p) => p.System === s && group(p) === g && x.of(p) && y.of(p)).sort((a, b) => x.of(a).v - x.of(b).v);
      if (!mine.length) return;
      const label = state.color ? systems[s].Name + ", " + g : g;
      traces.push(trace(mine.filter((p) => faults(p).length), x, y, { ...style(k), Color: "var:wait", Opacity: 0.45, Name: label + ", does not pass", Unlisted: true }));
      traces.push(trace(mine.filter((p) => !faults(p).length), x, y, { ...style(k), Name: label }));
      traces.push(line(mine, x, y, k));
    }));
    const limit = number(state[id]);
    if (limit != null && state[id + "-stat"] === stat && traces.length) {
      const xs = traces.flatMap((t) => t.X);
      traces.push({ Kind: "scatter", Mode: "lines", Name: "limit " + figure(limit) + " ms", Color: "var:fail", Width: 1.5, Dash: "dash", X: [Math.min(...xs), Math.max(...xs)], Y: [limit, limit] });
    }
    const chart = { Name: "growth", Title: y.name + " against " + x.name, X: axis(x, state.glogx), Y: axis(y, state.glogy, !state.glogy), Traces: traces, Notes: missing(x, y, list) };
    show("growth-chart", chart);
  }

  function configuration(p) {
    const rows = d.Keys.map((k) => [k, p.Settings[k] || "not set"]);
    $("#chosen").replaceChildren(
      make("p", {}, make("strong", {}, name(p)), " · " + gpuWords(p) + " · " + (latencyWords(p) || "no latencies") + " · verdict " + p.Verdict),
      make("table", {}, make("caption", {}, "Settings in which points differ"), make("tbody", {}, ...rows.map(([k, v]) => make("tr", {}, make("th", { scope: "row" }, k), make("td", {}, v))))),
      make("details", { open: "" }, make("summary", {}, "Settings that all points share (" + d.Shared.length + ")"), make("ul", { class: "shared" }, ...d.Shared.map(([k, v]) => make("li", {}, k + ": " + v)))));
  }

  /* ---- controls ---- */
  let due = 0;
  function draw() {
    due = 0;
    answer();
    trade();
    growth();
    document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn || 0) + 1);
  }
  const refresh = () => { keep(); due ||= requestAnimationFrame(draw); };
  function select(id, key, list) {
    const e = $("#" + id);
    for (const [value, text, off] of list) { const o = new Option(text, value); o.disabled = !!off; e.append(o); }
    e.value = state[key];
    if (e.selectedIndex < 0) e.value = state[key] = usual[key];
    e.onchange = () => { state[key] = e.value; refresh(); };
  }
  const choices = (list) => list.map((m) => [m.id, has(m) || !m.needs ? m.title : m.title + ", " + m.needs, !has(m)]);
  function check(id, key) {
    const e = $("#" + id);
    e.checked = !!state[key];
    e.onchange = () => { state[key] = e.checked ? "1" : ""; refresh(); };
  }
  select("trade-y", "y", verticals.map((m) => [m.id, has(m) || !m.needs ? m.title : m.title + ", " + m.needs, !has(m) && !m.id.startsWith("cost")]));
  select("trade-x", "x", choices(horizontals));
  select("growth-y", "gy", latencies.map(([id, , text]) => [id, text]));
  select("growth-stat", "gs", stats.map((s) => [s, s]));
  select("growth-x", "gx", choices(loads));
  select("color-by", "color", [["", "system"], ...d.Keys.map((k) => [k, k])]);
  for (const [id, key] of [["trade-log-y", "logy"], ["trade-log-x", "logx"], ["growth-log-y", "glogy"], ["growth-log-x", "glogx"], ["doubtful", "doubtful"]]) check(id, key);

  const steps = 200; // of a slider; the last one means no limit
  for (const [id, tag, text] of latencies) {
    const percentile = make("select", { id: id + "-stat", "aria-label": "Percentile of the limit of " + text }), field = make("input", { id: id + "-limit", type: "number", min: "0", step: "any", placeholder: "none", "aria-label": "Limit of " + text + " in ms" });
    const slider = make("input", { id: id + "-range", type: "range", min: "0", max: String(steps), step: "1", "aria-label": "Limit of " + text });
    const box = make("fieldset", { class: "limit" }, make("legend", {}, text + ", at most"), make("span", {}, field, " ms"), percentile, slider);
    $("#limits").append(box);
    select(id + "-stat", id + "-stat", stats.map((s) => [s, s]));
    const span = () => { const v = points.map((p) => p.Figures[tag + ":" + state[id + "-stat"]]?.Value).filter((v) => v > 0); return v.length ? [Math.min(...v) * 0.9, Math.max(...v) * 1.1] : null; };
    const sync = () => {
      const s = span(), limit = number(state[id]);
      slider.disabled = !s;
      slider.value = limit == null || !s ? steps : Math.max(0, Math.min(steps - 1, Math.round((steps * Math.log(limit / s[0])) / Math.log(s[1] / s[0]))));
      slider.setAttribute("aria-valuetext", limit == null ? "no limit" : figure(limit) + " ms");
      if (document.activeElement !== field) field.value = state[id];
      field.setAttribute("aria-invalid", String(state[id] !== "" && limit == null));
    };
    slider.oninput = () => {
      const s = span();
      state[id] = Number(slider.value) >= steps ? "" : String(+(s[0] * (s[1] / s[0]) ** (slider.value / steps)).toPrecision(3));
      sync();
      refresh();
    };
    field.oninput = () => { state[id] = field.value; sync(); refresh(); };
    const change = percentile.onchange;
    percentile.onchange = () => { change(); sync(); };
    sync();
    box.sync = sync;
  }
  const failed = $("#failed");
  failed.value = state.failed;
  failed.oninput = () => { state.failed = failed.value; refresh(); };
  $("#clear").onclick = () => {
    for (const [id] of latencies) state[id] = "";
    state.failed = failed.value = "";
    for (const b of $$(".limit")) b.sync();
    refresh();
  };
  $$("#systems tbody tr").forEach((tr, k) => {
    const box = make("input", { type: "checkbox" }), cell = tr.lastElementChild.firstElementChild, price = make("input", { type: "number", min: "0", step: "any", placeholder: "unknown", "aria-label": "Price of a GPU hour of " + systems[k].Name });
    box.checked = !hidden.has(k);
    box.onchange = () => { box.checked ? hidden.delete(k) : hidden.add(k); state.hidden = [...hidden].join(","); refresh(); };
    $("#switches").append(make("label", {}, box, " " + systems[k].Name));
    price.value = systems[k].Price || "";
    price.oninput = () => {
      const v = number(price.value);
      price.setAttribute("aria-invalid", String(price.value !== "" && v == null));
      systems[k].Price = v || 0;
      state.prices = systems.map((s) => s.Price || "").join(" ");
      const y = $("#trade-y");
      verticals.forEach((m, i) => (y.options[i].textContent = has(m) || !m.needs ? m.title : m.title + ", " + m.needs));
      refresh();
    };
    cell.replaceChildren(price);
  });
  const head = $("#points thead tr");
  head.append(make("th", { scope: "col" }, "Passes"));
  $$("#points tbody tr").forEach((tr, i) => {
    const b = make("button", { type: "button", "aria-label": "Configuration of " + name(points[i]) }, "Configuration");
    b.onclick = () => { configuration(points[i]); $("#chosen").scrollIntoView({ block: "nearest" }); };
    tr.append(make("td", { class: "why", "data-name": "Passes" }, make("span")));
    tr.firstElementChild.append(make("div", { class: "no-print" }, b));
  });
  draw();
});
