"use strict";
/* The page of the simulated cache: asks for the server, simulates, and shows what came out. page.js calls it. */
(window.parts ||= []).push(({ $, make, figure, data, clock, redraws, drawChart, showRequests }) => {
  const a = data.Agents, form = $("#server-form");
  if (!a || !form) return;
  const names = ["concurrency", "prefill", "decode", "gigabytes", "bytes"];

  function settings() {
    const s = { block: a.Block, layer1: a.Layer1, layer15: a.Layer15, firstOwn: a.FirstOwn };
    for (const name of names) {
      const field = $("#" + name), v = Number(field.value);
      const fits = v > 0 && isFinite(v) && (name !== "concurrency" || Number.isInteger(v));
      field.setAttribute("aria-invalid", String(!fits));
      if (!fits) throw new Error(field.parentElement.textContent.trim() + ": a " + (name === "concurrency" ? "whole " : "") + "number above 0 is meant.");
      s[name] = v;
    }
    return s;
  }

  const line = (name, color, y, more) => ({ Name: name, Kind: "scatter", Mode: "lines", Color: "var:" + color, Width: 1.5, Shape: "hv", Y: y, ...more });
  function lanes(r, s) {
    const X = r.series.map((p) => p.at / 1e3), of = (f) => r.series.map(f), end = r.end / 1e3;
    const limit = (name, v) => ({ Name: name + " " + (Number.isInteger(v) ? whole(v) : figure(v)), Kind: "scatter", Mode: "lines", Color: "var:mute", Width: 1.5, Dash: "dash", X: [0, end], Y: [v, v] });
    return [
      ["Hit rate so far", "%", [line("hit rate", "p50", of((p) => (100 * p.hit) / (p.hit + p.miss || 1))), limit("at best", 100 * r.bestHitRate)]],
      ["Requests at once", "requests", [line("requests", "p50", of((p) => p.active)), limit("sessions at once", s.concurrency)]],
      ["Prompts of the requests at once", "tokens", [line("tokens", "p50", of((p) => p.prompts))]],
      ["Cache in use", "GB", [line("in use", "p50", of((p) => p.gigabytes), { Fill: "tozeroy", Filling: 0.15 }), limit("size", s.gigabytes)]],
      ["Different blocks in the cache", "blocks", [line("blocks", "p50", of((p) => p.blocks)), limit("room for", (s.gigabytes * 1e9) / (s.bytes * s.block))]],
      ["Evicted blocks so far", "blocks", [line("blocks", "fail", of((p) => p.evictedBlocks))]],
      ["Blocks read again so far", "blocks", [line("of sessions (L2, L3)", "p90", of((p) => p.missSession)), line("of groups (L1.5)", "fail", of((p) => p.missGroup), { Dash: "dash" })]],
    ].map(([Title, unit, list]) => ({ Title, Name: Title, X: { Title: "Time (s)", Fixed: true, Min: 0, Max: end, Clock: true, Scale: "linear" }, Y: { Title: unit, FromZero: true, Scale: "linear" }, Traces: list.map((t) => ({ X, ...t })), Legend: [] }));
  }

  const whole = (v) => Math.round(v).toLocaleString("en-US");
  const span = (ms) => (ms < 1e3 ? [figure(ms), "ms"] : ms < 6e5 ? [figure(ms / 1e3), "s"] : [figure(ms / 6e4), "min"]);
  const most = (list, f) => list.reduce((m, p) => Math.max(m, f(p)), 0);
  const percent = (v) => (100 * v).toFixed(1);
  function cards(r, s) {
    const gb = (blocks) => figure((blocks * s.block * s.bytes) / 1e9) + " GB", again = r.missGroup + r.missSession, blocks = most(r.series, (p) => p.blocks);
    return [
      ["Length", ...span(r.end), "of the simulated run", [["sessions", whole(a.Sessions.length)], ["of them rests", whole(a.Sessions.filter((x) => x.Restart).length)], ["turns", whole(r.turns)]]],
      ["Hit rate", percent(r.hitRate), "%", "of the blocks of all prompts", [["at best", percent(r.bestHitRate) + " %"], ["hit, tokens", whole(r.hit)], ["read, tokens", whole(r.miss)]]],
      ["Time to first token", ...span(r.averageTTFT), "mean of the turns", [["waiting, all", span(r.wait).join(" ")], ["reading, all", span(r.prefill).join(" ")], ["writing, all", span(r.decode).join(" ")]]],
      ["Requests at once", whole(most(r.series, (p) => p.active)), "requests", "at most", [["tokens", whole(most(r.series, (p) => p.prompts))]]],
      ["Cache in use", figure(most(r.series, (p) => p.gigabytes)), "GB", "at most", [["size, tokens", whole((s.gigabytes * 1e9) / s.bytes)], ["blocks", whole(blocks)], ["these are", gb(blocks)]]],
      ["Evicted", whole(r.evictions), "times a session", "of a full cache", [["blocks", whole(r.evictedBlocks)], ["read again", whole(again)], ["L1.5, L2 and L3", whole(r.missGroup) + ", " + whole(r.missSession)]]],
    ].map(([name, value, unit, of, more]) => make("div", { class: "card" }, make("h3", {}, name), make("p", { class: "big" }, value + " ", make("small", {}, unit)), make("p", { class: "of" }, of),
      make("dl", {}, ...more.map(([k, v]) => make("div", {}, make("dt", {}, k), make("dd", {}, v))))));
  }

  const lasting = redraws.length; // what the page itself draws again; charts of the simulation before are gone
  function run() {
    let s, r;
    try {
      s = settings();
      r = simulateCache(a.Sessions, s);
    } catch (e) {
      $("#said").textContent = e.message;
      return;
    }
    $("#said").textContent = "Simulated " + whole(r.turns) + " turns.";
    $("#simulated").replaceChildren(...cards(r, s));
    redraws.length = lasting;
    clock.users.length = 0;
    Object.assign(clock, { from: 0, to: r.end / 1e3, end: r.end / 1e3 });
    const list = lanes(r, s);
    $("#lanes").replaceChildren(...list.map((c) => make("figure", { class: "chart lane" }, make("figcaption", {}, c.Title))));
    list.forEach((c, i) => drawChart($("#lanes").children[i], c));
    showRequests(r.timeline.map((t) => ({
      due: t.paused / 1e3, start: t.ready / 1e3, first: t.decode / 1e3, end: t.end / 1e3, isl: t.input, osl: t.output, failure: 0, said: -1, served: t.prefill / 1e3, row: t.session.slot,
      begins: t.turn ? "" : t.session.s.Restart ? "rest" : "session", id: t.session.s.ID + ", turn " + t.turn + (t.session.s.Restart ? " of the rest of a session" : "") + ", " + whole(t.hit) + " tokens of its prompt in the cache, " + whole(t.miss) + " read",
    })), "turns");
    window.simulation = r;
  }
  form.onsubmit = (e) => { e.preventDefault(); run(); };
  run();
});
