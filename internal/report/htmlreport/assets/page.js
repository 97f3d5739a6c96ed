"use strict";
/* Draws the charts of the page. uPlot brings scales, axes, cursor and zoom; what stands in the panel is painted here, from the same data as
   the images of "aiperf plot". */
(async () => {
  const $ = (s, of = document) => of.querySelector(s);
  const $$ = (s, of = document) => [...of.querySelectorAll(s)];
  const make = (tag, attributes = {}, ...inside) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...inside.filter((x) => x != null));
    return e;
  };
  const root = document.documentElement;
  const token = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const colour = (c) => (c.startsWith("var:") ? token(c.slice(4)) : c);

  /* a rim for a colour of a picture that has too little contrast against the panel, as in the images: the hue nearer to that of the text */
  const channels = (c) => (c.length === 4 ? [1, 2, 3].map((i) => parseInt(c[i] + c[i], 16)) : [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  const luminance = (rgb) => rgb.reduce((sum, v, i) => sum + [0.2126, 0.7152, 0.0722][i] * (v <= 10 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4), 0);
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const rims = new Map();
  function edge(c) {
    if (!c.startsWith("#")) return null;
    const panel = token("panel"), key = c + panel;
    if (!rims.has(key)) {
      const from = channels(c), to = channels(token("ink")), ground = channels(panel);
      let rim = from;
      for (let share = 0; contrast(rim, ground) < 3 && share <= 1; share += 0.1) rim = from.map((v, i) => Math.round(v + (to[i] - v) * share));
      rims.set(key, rim === from || contrast(from, ground) >= 3 ? null : "rgb(" + rim + ")");
    }
    return rims.get(key);
  }
  let printing = false;
  const sharp = () => (printing ? 3 : 1); // times as many pixels on paper: charts are built so much larger and shown so much smaller
  const dots = () => (window.devicePixelRatio || 1) * sharp();

  /* three significant digits, thousands separated: the rule of the head figures */
  const figure = (v) => {
    if (v == null || !isFinite(v)) return "–";
    const a = Math.abs(v);
    if (a === 0) return "0";
    const digits = a >= 99.95 ? 0 : a >= 9.995 ? 1 : a >= 0.9995 ? 2 : -1;
    return digits < 0 ? String(+v.toPrecision(3)) : v.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
  };
  const data = $("#data") ? await unpack($("#data").textContent.trim()) : {};

  /* ---- theme ---- */
  const kept = () => { try { return localStorage.getItem("aiperf-theme"); } catch { return null; } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const redraws = [];
  const button = $("#theme");
  function setTheme(name, keep) {
    root.dataset.theme = name;
    button.textContent = name === "dark" ? "Light theme" : "Dark theme";
    if (keep) try { localStorage.setItem("aiperf-theme", name); } catch { /* a page from a mail has no storage */ }
    redraws.forEach((f) => f());
  }
  button.hidden = false;
  button.onclick = () => setTheme(root.dataset.theme === "dark" ? "light" : "dark", true);
  system.addEventListener("change", () => { if (!kept() && !$("[data-given]")) setTheme(system.matches ? "dark" : "light"); });
  setTheme(kept() || ($("[data-given]") || { dataset: {} }).dataset.given || (system.matches ? "dark" : "light"));

  /* ---- one clock for all lanes ---- */
  const clock = { from: 0, to: data.Seconds || 1, end: data.Seconds || 1, users: [] };
  function setClock(from, to) {
    let wide = Math.max(to - from, clock.end / 1e5);
    if (wide > clock.end * (1 - 1e-9)) wide = clock.end; // all of it, whatever sums of parts round to
    from = Math.min(Math.max(from, 0), clock.end - wide);
    if (Math.abs(from - clock.from) < 1e-9 && Math.abs(from + wide - clock.to) < 1e-9) return;
    clock.from = from;
    clock.to = from + wide;
    if (!clock.due) clock.due = requestAnimationFrame(() => { clock.due = 0; for (const f of clock.users) f(); }); // several moves, one picture
    for (const e of $$(".view")) e.textContent = wide >= clock.end ? "Whole run" : figure(clock.from) + " to " + figure(clock.to) + " s";
  }
  const moves = {
    in: () => [clock.from + (clock.to - clock.from) / 4, clock.to - (clock.to - clock.from) / 4],
    out: () => [clock.from - (clock.to - clock.from) / 2, clock.to + (clock.to - clock.from) / 2],
    left: () => [clock.from - (clock.to - clock.from) / 4, clock.to - (clock.to - clock.from) / 4],
    right: () => [clock.from + (clock.to - clock.from) / 4, clock.to + (clock.to - clock.from) / 4],
    all: () => [0, clock.end],
  };
  const bindClock = (of) => { for (const b of $$("[data-clock]", of)) b.onclick = () => setClock(...moves[b.dataset.clock]()); };
  bindClock();
  for (const e of $$(".bands")) for (const b of data.Bands || []) {
    const go = make("button", { type: "button" }, "Go to " + b.Name);
    go.onclick = () => { const around = b.To > b.From ? (b.To - b.From) / 5 : clock.end / 20; setClock(b.From - around, b.To + around); };
    e.append(go, " ");
  }
  for (const e of $$(".view")) e.textContent = "Whole run. Drag across a lane to zoom; a double click shows all.";

  /* ---- the address keeps what was chosen, so that a copied link shows the same; a link to a section stays one ---- */
  const chosenView = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  function keepInAddress(choices) {
    const before = chosenView.toString();
    for (const [k, v] of Object.entries(choices)) if (v) chosenView.set(k, v); else chosenView.delete(k);
    const text = chosenView.toString();
    if (text === before) return;
    try { history.replaceState(null, "", text ? "#" + text : location.pathname + location.search); } catch { /* a viewer that allows no address */ }
  }
  if (data.Rows) {
    const [from, to] = (chosenView.get("time") || "").split("-").map(Number);
    if (to > from && from >= 0) setClock(from, to);
    let due = 0;
    clock.users.push(() => { // after the last of several moves: browsers limit how often an address may change
      clearTimeout(due);
      due = setTimeout(() => keepInAddress({ time: clock.to - clock.from < clock.end * (1 - 1e-9) ? +clock.from.toPrecision(7) + "-" + +clock.to.toPrecision(7) : "" }), 300);
    });
  }

  /* notes what is drawn on a canvas as SVG, while it is drawn; it knows the calls that uPlot and this page make */
  class Recorder {
    constructor(g) {
      this.g = g;
      this.parts = [];
      this.path = "";
      this.open = [0]; // groups to close, by save()
      const num = (v) => +v.toFixed(2), at = (x, y) => { const p = g.getTransform().transformPoint(new DOMPoint(x, y)); return num(p.x) + " " + num(p.y); };
      const box = (x, y, w, h) => `M${at(x, y)}L${at(x + w, y)}L${at(x + w, y + h)}L${at(x, y + h)}Z`;
      const shape = (d, paint) => this.parts.push(`<path d="${d}" ${paint}${g.globalAlpha < 1 ? ` opacity="${num(g.globalAlpha)}"` : ""}/>`);
      const plain = (t) => String(t).replace(/[&<>"]/g, (x) => "&#" + x.charCodeAt(0) + ";");
      const calls = {
        save: () => this.open.push(0),
        restore: () => { if (this.open.length > 1) this.parts.push("</g>".repeat(this.open.pop())); },
        clip: () => { const id = "clip" + this.parts.length; this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`); this.open[this.open.length - 1]++; },
        beginPath: () => (this.path = ""), closePath: () => (this.path += "Z"),
        moveTo: (x, y) => (this.path += "M" + at(x, y)), lineTo: (x, y) => (this.path += (this.path ? "L" : "M") + at(x, y)), rect: (...r) => (this.path += box(...r)),
        arc: (x, y, r) => (this.path += `M${at(x - r, y)}a${num(r)} ${num(r)} 0 1 0 ${num(2 * r)} 0a${num(r)} ${num(r)} 0 1 0 ${num(-2 * r)} 0`),
        fillRect: (...r) => shape(box(...r), `fill="${g.fillStyle}"`), fill: () => shape(this.path, `fill="${g.fillStyle}"`),
        stroke: () => shape(this.path, `fill="none" stroke="${g.strokeStyle}" stroke-width="${num(g.lineWidth)}"${g.getLineDash().length ? ` stroke-dasharray="${g.getLineDash()}"` : ""}`),
        fillText: (t, x, y) => {
          const m = g.getTransform(), turn = num((Math.atan2(m.b, m.a) * 180) / Math.PI), [px, py] = at(x, y).split(" ");
          const anchor = { center: "middle", right: "end", end: "end" }[g.textAlign] || "start", base = { top: "text-before-edge", middle: "central", bottom: "text-after-edge" }[g.textBaseline] || "alphabetic";
          this.parts.push(`<text x="${px}" y="${py}" font-size="${parseFloat((/[\d.]+px/.exec(g.font) || ["12"])[0])}" fill="${g.fillStyle}" text-anchor="${anchor}" dominant-baseline="${base}"${turn ? ` transform="rotate(${turn} ${px} ${py})"` : ""}>${plain(t)}</text>`);
        },
      };
      this.names = Object.keys(calls);
      for (const name of this.names) g[name] = (...a) => { calls[name](...a); return Object.getPrototypeOf(g)[name].apply(g, a); };
    }
    end() { for (const name of this.names) delete this.g[name]; }
    text() { return this.parts.join("") + "</g>".repeat(this.open.reduce((a, b) => a + b)); }
  }

  /* ---- charts ---- */
  const mostMarks = 5000;
  const dashes = { dash: [7, 4], dot: [2, 3] };
  function ends(c, axis, pick) {
    let lo = Infinity, hi = -Infinity;
    const add = (v) => { if (v != null && isFinite(v) && !(axis.Scale === "log" && v <= 0)) { lo = Math.min(lo, v); hi = Math.max(hi, v); } };
    for (const t of c.Traces) pick(t, add);
    if (axis.Fixed) return [axis.Min, axis.Max];
    if (axis.Scale === "category") return [-0.6, axis.Labels.length - 0.4];
    if (lo > hi) return axis.Scale === "log" ? [1, 10] : [0, 1];
    if (axis.Scale === "log") { const k = Math.pow(hi / lo, 0.05) || 1; return [lo / Math.max(k, 1.02), hi * Math.max(k, 1.02)]; }
    if (axis.FromZero) { lo = Math.min(lo, 0); hi = Math.max(hi, 0); }
    const least = 0.01 * Math.max(Math.abs(lo), Math.abs(hi)), middle = (lo + hi) / 2; // a smaller spread than 1 % is not blown up to the whole panel
    if (hi > lo && hi - lo < least) { lo = middle - least / 2; hi = middle + least / 2; }
    const room = 0.05 * (hi - lo) || Math.abs(hi) * 0.05 || 0.5;
    return [axis.FromZero && lo === 0 ? 0 : lo - room, axis.FromZero && hi === 0 ? 0 : hi + room];
  }

  /* powers of ten with 2 and 5 between them; round values where these are too few */
  function decades(lo, hi) {
    const list = [];
    for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi); e++) for (const k of Math.log10(hi / lo) < 3 ? [1, 2, 5] : [1]) { const v = +(k * 10 ** e).toPrecision(3); if (v >= lo && v <= hi) list.push(v); }
    if (list.length > 2) return list;
    const raw = (hi - lo) / 5, ten = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= raw), even = [];
    for (let v = Math.ceil(lo / step) * step; v <= hi; v += step) even.push(+v.toPrecision(6));
    return even;
  }

  /* the place of a value on a scale, as a function that is quick for many values */
  function places(u, scale, log) {
    const { min, max } = u.scales[scale], a = u.valToPos(min, scale, true), b = u.valToPos(max, scale, true);
    if (!log) { const k = (b - a) / (max - min); return (v) => a + (v - min) * k; }
    const from = Math.log10(min), k = (b - a) / (Math.log10(max) - from);
    return (v) => a + (Math.log10(v) - from) * k;
  }

  /* stretches of the clock: warm-ups, a slow phase; and instants, which are lines. X gives the place of an instant; the rest is the panel and the size of a
     pixel. */
  function bands(g, X, left, top, width, height, k) {
    g.save();
    g.textAlign = "left";
    g.font = 11 * k + "px system-ui, sans-serif";
    let free = left; // names of instants begin to the right of this
    for (const [i, b] of (data.Bands || []).entries()) {
      if (b.From === b.To) {
        const x = X(b.From);
        if (x < left || x > left + width) continue;
        g.fillStyle = colour(b.Hue);
        g.fillRect(x - k, top, 2 * k, height);
        const wide = g.measureText(b.Name).width, at = Math.max(left, Math.min(x + 4 * k, left + width - wide - 2 * k));
        if (at < free) continue;
        g.fillText(b.Name, at, top + height - 18 * k); // above the names of stretches
        free = at + wide + 8 * k;
        continue;
      }
      const from = Math.max(X(b.From), left), to = Math.min(X(b.To), left + width);
      if (to <= from) continue;
      g.fillStyle = colour(b.Hue);
      g.globalAlpha = i % 2 ? 0.05 : 0.13; // neighbours differ, and an edge parts them
      g.fillRect(from, top, to - from, height);
      g.globalAlpha = 1;
      if (X(b.From) > left) g.fillRect(from, top, k, height);
      if (g.measureText(b.Name).width + 8 * k < to - from) g.fillText(b.Name, from + 4 * k, top + height - 5 * k);
    }
    g.restore();
  }

  /* what is out of sight is painted when it comes near: a move of the clock concerns every lane, and a window shows three of them */
  const near = new IntersectionObserver((list) => {
    for (const e of list) {
      e.target.away = !e.isIntersecting;
      if (e.isIntersecting && e.target.stale) { e.target.stale = false; e.target.repaint(); }
    }
  }, { rootMargin: "200px" });
  const skipped = (host) => (host.stale = !!host.away && !printing);

  function paint(u, c) {
    const g = u.ctx, k = dots();
    const X = places(u, "x", c.X.Scale === "log");
    g.save();
    g.beginPath();
    g.rect(u.bbox.left, u.bbox.top - 6 * k, u.bbox.width, u.bbox.height + 12 * k); // a mark at an end stays whole
    g.clip();
    if (c.X.Clock) bands(g, X, u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height, k);
    for (const t of c.Traces) {
      const place = places(u, t.Second ? "y2" : "y", (t.Second ? c.Y2 : c.Y).Scale === "log");
      const Y = c.Y.Clipped && t.Mode === "markers" ? (v) => Math.max(place(v), u.bbox.top) : place; // what is above a clipped axis is marked at its end
      const log = (t.Second ? c.Y2 : c.Y).Scale === "log";
      const there = (i) => t.Y[i] != null && t.X[i] != null && !(log && t.Y[i] <= 0) && !(c.X.Scale === "log" && t.X[i] <= 0);
      g.fillStyle = g.strokeStyle = colour(t.Color);
      g.globalAlpha = t.Opacity || 1;
      if (t.Cell) {
        for (let i = 0; i < t.X.length; i++) {
          g.globalAlpha = 0.08 + 0.92 * t.Shade[i];
          const x = X(t.X[i] - t.Cell.Width / 2), y = Y(t.Y[i] + t.Cell.Height / 2);
          g.fillRect(x, y, X(t.X[i] + t.Cell.Width / 2) - x, Y(t.Y[i] - t.Cell.Height / 2) - y);
        }
      } else if (t.Kind === "bar") {
        let least = u.bbox.width;
        for (let i = 1; i < t.X.length; i++) least = Math.min(least, Math.abs(X(t.X[i]) - X(t.X[i - 1])));
        const half = Math.min(0.4 * least, 60 * k), ground = log ? u.bbox.top + u.bbox.height : Y(0);
        for (let i = 0; i < t.X.length; i++) if (there(i)) g.fillRect(X(t.X[i]) - half, Y(t.Y[i]), 2 * half, ground - Y(t.Y[i]));
      } else {
        if (t.Mode !== "markers" || t.Fill) lines(g, k, u, t, X, Y, there, log);
        if (t.ErrorY || t.ErrorX) bars(g, k, t, X, Y, there);
        if (t.Mode.includes("markers")) marks(g, k, u, t, X, Y, there);
      }
      if (t.Text) {
        g.globalAlpha = 1;
        g.fillStyle = token("ink");
        g.font = 12 * k + "px system-ui, sans-serif";
        g.textAlign = "center";
        for (let i = 0; i < t.Text.length; i++) if (there(i)) {
          if (t.Cell) g.fillStyle = token(t.Shade[i] > 0.5 ? "panel" : "ink");
          const y = Y(t.Y[i]), above = y - 9 * k > u.bbox.top + 12 * k; // below the point where the panel ends
          const half = g.measureText(t.Text[i]).width / 2 + 2 * k, x = t.Cell ? X(t.X[i]) : Math.max(u.bbox.left + half, Math.min(X(t.X[i]), u.bbox.left + u.bbox.width - half)); // the text stays in the panel
          g.fillText(t.Text[i], x, t.Cell ? y + 4 * k : above ? y - 9 * k : y + 18 * k);
        }
      }
    }
    g.restore();
  }
  function lines(g, k, u, t, X, Y, there, log) {
    let part = [];
    const flush = () => {
      if (!part.length) return;
      g.beginPath();
      part.forEach(([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y)));
      if (t.Width && t.Mode !== "markers") {
        const rim = edge(t.Color);
        g.setLineDash((dashes[t.Dash] || []).map((d) => d * k));
        g.globalAlpha = t.Opacity || 1;
        if (rim) { g.strokeStyle = rim; g.lineWidth = (t.Width + 1.5) * k; g.stroke(); g.strokeStyle = colour(t.Color); }
        g.lineWidth = t.Width * k;
        g.stroke();
        g.setLineDash([]);
      }
      if (t.Fill) {
        g.globalAlpha = t.Filling;
        if (t.Fill !== "toself") {
          const ground = log ? u.bbox.top + u.bbox.height : Y(0);
          g.lineTo(part[part.length - 1][0], ground);
          g.lineTo(part[0][0], ground);
        }
        g.fill();
      }
      part = [];
    };
    for (let i = 0; i < t.X.length; i++) {
      if (!there(i)) { flush(); continue; }
      const at = [X(t.X[i]), Y(t.Y[i])];
      if (t.Shape === "hv" && part.length) part.push([at[0], part[part.length - 1][1]]);
      part.push(at);
    }
    flush();
  }
  function bars(g, k, t, X, Y, there) {
    g.globalAlpha = 0.9;
    g.lineWidth = 1.5 * k;
    g.beginPath();
    for (let i = 0; i < t.X.length; i++) {
      if (!there(i)) continue;
      const x = X(t.X[i]), y = Y(t.Y[i]), ey = t.ErrorY && t.ErrorY[i], ex = t.ErrorX && t.ErrorX[i];
      if (ey > 0) { const a = Y(t.Y[i] - ey), b = Y(t.Y[i] + ey); g.moveTo(x, a); g.lineTo(x, b); for (const e of [a, b]) { g.moveTo(x - 4 * k, e); g.lineTo(x + 4 * k, e); } }
      if (ex > 0) { const a = X(t.X[i] - ex), b = X(t.X[i] + ex); g.moveTo(a, y); g.lineTo(b, y); for (const e of [a, b]) { g.moveTo(e, y - 4 * k); g.lineTo(e, y + 4 * k); } }
    }
    g.stroke();
  }
  function marks(g, k, u, t, X, Y, there) {
    const { min, max } = u.scales.x;
    let seen = 0, every = 1; // of more than a canvas can take at once, every k-th; zooming shows the rest
    for (let i = 0; i < t.X.length; i++) if (t.X[i] >= min && t.X[i] <= max) seen++;
    every = Math.ceil(seen / mostMarks);
    seen = 0;
    const r = ((t.Size || 8) / 2) * k;
    g.globalAlpha = t.Opacity || 1;
    g.lineWidth = 2 * k;
    const rim = (t.Opacity || 1) >= 0.9 && edge(t.Color);
    for (let i = 0; i < t.X.length; i++) {
      if (t.X[i] < min || t.X[i] > max || seen++ % every || !there(i)) continue;
      const x = X(t.X[i]), y = Y(t.Y[i]);
      if (r < 2.2 * k) { g.fillRect(x - r, y - r, 2 * r, 2 * r); continue; } // small ones as squares: many of them stay fast
      g.beginPath();
      if (t.Symbol === "square") g.rect(x - r, y - r, 2 * r, 2 * r);
      else if (t.Symbol === "diamond") { g.moveTo(x - 1.3 * r, y); g.lineTo(x, y - 1.3 * r); g.lineTo(x + 1.3 * r, y); g.lineTo(x, y + 1.3 * r); }
      else if (t.Symbol === "triangle") { g.moveTo(x - 1.2 * r, y + r); g.lineTo(x + 1.2 * r, y + r); g.lineTo(x, y - 1.2 * r); }
      else if (t.Symbol === "cross") { g.moveTo(x - r, y - r); g.lineTo(x + r, y + r); g.moveTo(x - r, y + r); g.lineTo(x + r, y - r); g.strokeStyle = rim || colour(t.Color); g.stroke(); continue; }
      else g.arc(x, y, r, 0, 7);
      if (rim) { g.strokeStyle = rim; g.lineWidth = 1.5 * k; g.stroke(); }
      g.fill();
    }
  }

  const sample = (t) => {
    const c = colour(t.Color), area = t.Fill ? `<rect width="22" height="12" fill="${c}" opacity="${t.Filling || 0.2}"/>` : "";
    const dash = dashes[t.Dash] ? `stroke-dasharray="${dashes[t.Dash]}"` : "";
    const line = t.Width && t.Mode !== "markers" && t.Kind !== "bar" ? `<path d="M0 6h22" stroke="${c}" stroke-width="2" ${dash}/>` : "";
    const r = { square: `<rect x="7" y="2" width="8" height="8" fill="${c}"/>`, diamond: `<path d="M11 0l6 6-6 6-6-6z" fill="${c}"/>`, triangle: `<path d="M11 1l6 10H5z" fill="${c}"/>`, cross: `<path d="M7 2l8 8M15 2l-8 8" stroke="${c}" stroke-width="2"/>` };
    const dot = t.Kind === "bar" ? `<rect width="22" height="12" fill="${c}"/>` : /markers/.test(t.Mode) ? r[t.Symbol] || `<circle cx="11" cy="6" r="4" fill="${c}"/>` : "";
    return `<svg width="22" height="12" aria-hidden="true">${area}${line}${dot}</svg>`;
  };

  function legend(host, c) {
    const list = [...c.Traces.filter((t) => t.Name && !t.Unlisted), ...(c.Legend || [])];
    if (list.length < 2) return null;
    const ul = make("ul", { class: "legend" });
    for (const t of list.slice(0, 20)) {
      const li = make("li");
      li.innerHTML = sample(t);
      li.append(t.Name);
      ul.append(li);
    }
    return ul;
  }

  /* the numbers of a chart, for who cannot see it or wants to copy them */
  function numbers(c) {
    const d = make("details", {}, make("summary", {}, "Numbers"));
    d.ontoggle = () => {
      if (!d.open || d.children.length > 1) return;
      const body = make("tbody");
      let left = 0;
      for (const t of c.Traces) {
        if (!t.Name) continue;
        t.X.slice(0, 100).forEach((x, i) => body.append(make("tr", {}, make("th", { scope: "row" }, t.Name), make("td", {}, c.X.Scale === "category" ? c.X.Labels[x] : figure(x)), make("td", {}, figure(t.Y[i])))));
        left += Math.max(0, t.X.length - 100);
      }
      const head = make("tr", {}, ...["Series", c.X.Title, c.Y.Title].map((h) => make("th", { scope: "col" }, h)));
      d.append(make("table", {}, make("thead", {}, head), body));
      if (left) d.append(make("p", {}, left.toLocaleString("en-US") + " more points are left out here."));
    };
    return d;
  }

  /* a chart as a picture with its title and legend, for other programs: into the clipboard, or as a file where that is not allowed */
  async function picture(u, c) {
    const from = u.ctx.canvas, k = dots(), out = make("canvas"), g = out.getContext("2d"), top = 56 * k;
    out.width = from.width;
    out.height = from.height + top;
    g.fillStyle = token("panel");
    g.fillRect(0, 0, out.width, out.height);
    g.fillStyle = token("ink");
    g.font = "600 " + 15 * k + "px system-ui, sans-serif";
    g.fillText(c.Title, 12 * k, 22 * k, out.width - 24 * k);
    g.font = 12 * k + "px system-ui, sans-serif";
    let x = 12 * k;
    for (const t of [...c.Traces.filter((t) => t.Name && !t.Unlisted), ...(c.Legend || [])].slice(0, 20)) {
      g.fillStyle = colour(t.Color);
      g.fillRect(x, 36 * k, 14 * k, 8 * k);
      g.fillStyle = token("mute");
      g.fillText(t.Name, x + 18 * k, 44 * k);
      x += 34 * k + g.measureText(t.Name).width;
    }
    g.drawImage(from, 0, top);
    const blob = await new Promise((done) => out.toBlob(done, "image/png"));
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
      return "Copied";
    } catch { /* no permission, or an old browser */ }
    return saveFile(blob, c, "png");
  }
  function saveFile(blob, c, kind) {
    const a = make("a", { href: URL.createObjectURL(blob), download: c.Title.replace(/[^A-Za-z0-9]+/g, "_") + "." + kind });
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
    return "Saved";
  }

  /* a chart as an SVG file: what is drawn on the canvas meanwhile, with its title and legend */
  async function drawing(u, c) {
    const k = dots(), out = new Recorder(u.ctx);
    u.redraw(false);
    await new Promise((done) => setTimeout(done)); // uPlot draws after the present task
    out.end();
    const wide = u.ctx.canvas.width / k, high = u.ctx.canvas.height / k + 56, plain = (t) => String(t).replace(/[&<>"]/g, (x) => "&#" + x.charCodeAt(0) + ";");
    let x = 12, key = "";
    for (const t of [...c.Traces.filter((t) => t.Name && !t.Unlisted), ...(c.Legend || [])].slice(0, 20)) {
      key += `<rect x="${x}" y="36" width="14" height="8" fill="${colour(t.Color)}"/><text x="${x + 18}" y="44" font-size="12" fill="${token("mute")}">${plain(t.Name)}</text>`;
      x += 34 + 7 * t.Name.length;
    }
    const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" font-family="system-ui, sans-serif"><title>${plain(c.Title)}</title><rect width="100%" height="100%" fill="${token("panel")}"/>` +
      `<text x="12" y="22" font-size="15" font-weight="600" fill="${token("ink")}">${plain(c.Title)}</text>${key}<g transform="translate(0 56) scale(${1 / k})">${out.text()}</g></svg>`;
    return saveFile(new Blob([text], { type: "image/svg+xml" }), c, "svg");
  }

  /* what the tooltip of a lane says of the others */
  const lanes = [];
  const unitOf = (c) => c.Y.Title.replace(/ \(log\)$/, "");
  function valueAt(t, at) {
    let low = 0, high = t.X.length; // the first point after the instant
    while (low < high) { const k = (low + high) >> 1; if (t.X[k] <= at) low = k + 1; else high = k; }
    if (t.Shape === "hv") return low > 0 ? t.Y[low - 1] : null;
    const wide = t.X.length > 1 ? t.X[1] - t.X[0] : Infinity; // half of it on each side of a point
    const i = low > 0 && (low === t.X.length || at - t.X[low - 1] <= t.X[low] - at) ? low - 1 : low;
    return i < t.X.length && Math.abs(t.X[i] - at) <= Math.max(wide, 1e-9) ? t.Y[i] : null;
  }

  function drawChart(host, c) {
    const clocked = c.X.Clock;
    if (clocked) lanes.splice(0, lanes.length, ...lanes.filter((one) => one.host.isConnected), { host, chart: () => c });
    let xr, yr, y2r;
    const reach = (second) => (t, add) => {
      if (!!t.Second !== second) return;
      t.Y.forEach((v, i) => { if (v == null) return; const e = (t.ErrorY && t.ErrorY[i]) || (t.Cell ? t.Cell.Height / 2 : 0); add(v - e); add(v + e); });
      if (t.Kind === "bar" || t.Fill === "tozeroy") add(0);
    };
    function measure() {
      xr = ends(c, c.X, (t, add) => t.X.forEach((v, i) => { if (v == null) return; const e = (t.ErrorX && t.ErrorX[i]) || (t.Cell ? t.Cell.Width / 2 : 0); add(v - e); add(v + e); }));
      yr = ends(c, c.Y, reach(false));
      y2r = c.Y2 ? ends(c, c.Y2, reach(true)) : null;
    }
    measure();
    const box = make("div"), tip = make("div", { class: "tip" });
    tip.hidden = true;
    let key = legend(host, c), list = numbers(c);
    if (key) host.append(key);
    host.append(box, tip);
    if (c.Notes) for (const n of c.Notes) host.append(make("p", { class: "note" }, n));
    const under = make("div", { class: "under no-print" }, list);
    for (const [label, name, save] of [["Copy " + c.Title + " as PNG", "PNG", picture], ["Save " + c.Title + " as SVG", "SVG", drawing]]) {
      const b = make("button", { type: "button", class: "picture", "aria-label": label, title: label }, name);
      b.onclick = async () => {
        b.textContent = await save(u, c);
        setTimeout(() => (b.textContent = name), 2000);
      };
      under.append(b);
    }
    host.append(under);
    host.tabIndex = 0;
    const say = c.Title + ": " + c.Y.Title + " over " + c.X.Title + ". " + c.Traces.filter((t) => t.Name && !t.Unlisted).map((t) => t.Name).join(", ");
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", say);
    let u = null, wide = 0, ours = false, picked = null, pick = null;
    const axis = (a, scale, side) => ({
      scale, side, stroke: token("mute"), font: 12 * sharp() + "px system-ui, sans-serif", labelFont: Math.min(12, Math.max(8, ((side === 2 ? wide - 66 : 300) * 1.9) / a.Title.length)) * sharp() + "px system-ui, sans-serif",
      label: clocked && side === 2 ? null : a.Title, labelSize: 18 * sharp(), labelGap: 2 * sharp(), gap: 5 * sharp(), space: (side === 2 ? 50 : 30) * sharp(),
      size: (side === 2 ? 24 : 54) * sharp(), grid: { stroke: token("grid"), width: sharp(), show: scale !== "y2" }, ticks: { show: false },
      ...(clocked && side === 2 ? { values: (_, v) => v.map((x, i) => +x.toPrecision(6) + (i === v.length - 1 ? " s" : "")) } : {}),
      ...(a.Scale === "category" ? { splits: () => a.Labels.map((_, i) => i), values: () => a.Labels } : a.Ticks ? { splits: () => a.Ticks.map((t) => t.At), values: () => a.Ticks.map((t, i) => (i % Math.ceil((a.Ticks.length * 56) / wide) ? "" : t.Text)) } :
        a.Scale === "log" ? { splits: (_, i, lo, hi) => decades(lo, hi), values: (u, v) => apart(u, scale, side, v.map((x) => x.toLocaleString("en-US", { maximumSignificantDigits: 4 })), v), filter: (_, v) => v } : clocked && side === 2 ? {} : { values: (_, v, i, room, step) => v.map((x) => x.toLocaleString("en-US", { maximumFractionDigits: Math.min(10, Math.max(0, Math.ceil(1 - Math.log10(step)))) })) }),
    });
    /* the texts of a logarithmic axis, without those that would touch the one before */
    function apart(u, scale, side, texts, values) {
      let last = -Infinity;
      return texts.map((text, i) => {
        const at = Math.abs(u.valToPos(values[i], scale)), half = side === 2 ? 3.6 * text.length + 4 : 8;
        if (side === 2 ? at - half < last : last - at < half && last > -Infinity) return "";
        last = side === 2 ? at + half : at - half;
        return text;
      });
    }
    function build() {
      if (u) u.destroy(); // first: what is wider than its column would keep that wide
      const now = Math.max(240, Math.floor(box.parentElement.clientWidth - 2 * parseFloat(getComputedStyle(box.parentElement).paddingLeft)));
      wide = now;
      ours = true;
      const z = sharp();
      box.style.zoom = 1 / z;
      u = new uPlot({
        width: now * z, height: (host.classList.contains("lane") ? 190 : host.classList.contains("tall") ? 400 : 320) * z,
        legend: { show: false }, padding: [8 * z, 28 * z, 0, 0],
        cursor: { drag: { x: true, y: false }, points: { show: false }, sync: clocked ? { key: "clock", setSeries: false } : undefined },
        scales: {
          x: { time: false, distr: c.X.Scale === "log" ? 3 : 1, range: (_, lo, hi) => [lo, hi] },
          y: { distr: c.Y.Scale === "log" ? 3 : 1, range: () => yr },
          ...(c.Y2 ? { y2: { distr: c.Y2.Scale === "log" ? 3 : 1, range: () => y2r } } : {}),
        },
        axes: [axis(c.X, "x", 2), axis(c.Y, "y", 3), ...(c.Y2 ? [axis(c.Y2, "y2", 1)] : [])],
        series: [{}, { scale: "y", paths: () => null, points: { show: false } }, ...(c.Y2 ? [{ scale: "y2", paths: () => null, points: { show: false } }] : [])],
        hooks: {
          draw: [(p) => { if (!skipped(host)) paint(p, c); }],
          setCursor: [(p) => point(p)],
          setScale: [(p, name) => { if (name === "x" && clocked && !ours) setClock(p.scales.x.min, p.scales.x.max); }],
        },
      }, [xr, yr, ...(c.Y2 ? [y2r] : [])], box);
      if (clocked) u.setScale("x", { min: clock.from, max: clock.to });
      ours = false;
      u.over.addEventListener("click", () => { if (pick && picked) pick(...picked); });
      u.over.ondblclick = () => (clocked ? setClock(0, clock.end) : u.setScale("x", { min: xr[0], max: xr[1] }));
      host.uplot = u;
    }
    function point(p) {
      const { left, top } = p.cursor;
      if (left == null || left < 0 || (clocked && !p.over.matches(":hover"))) { tip.hidden = true; return; } // another lane has the pointer
      let best = null, least = 30;
      for (const t of c.Traces) {
        if (t.Fill === "toself" || t.Silent) continue;
        const s = t.Second ? "y2" : "y";
        for (let i = 0; i < t.X.length; i++) {
          if (t.Y[i] == null) continue;
          const dx = p.valToPos(t.X[i], "x") - left;
          if (t.Cell) {
            const half = (p.valToPos(t.X[i] + t.Cell.Width, "x") - p.valToPos(t.X[i], "x")) / 2, high = (p.valToPos(t.Y[i], s) - p.valToPos(t.Y[i] + t.Cell.Height, s)) / 2;
            if (Math.abs(dx) <= half && Math.abs(p.valToPos(t.Y[i], s) - top) <= high) { least = 0; best = [t, i]; }
            continue;
          }
          if (Math.abs(dx) > least) continue;
          const y = p.valToPos(t.Y[i], s), d = Math.hypot(dx, ((c.Y.Clipped ? Math.max(y, 0) : y) - top) * (t.Mode === "lines" ? 0.5 : 1));
          if (d < least) { least = d; best = [t, i]; }
        }
      }
      tip.hidden = !best && !clocked;
      picked = best;
      if (host.onpoint && best) host.onpoint(...best);
      if (tip.hidden) return;
      if (clocked) tip.replaceChildren(...instant(p.posToVal(left, "x"), best));
      else tip.textContent = described(...best);
      tip.style.left = Math.max(0, Math.min(left + 66, wide - tip.offsetWidth - 4)) + "px";
      tip.style.top = top + 30 + "px";
    }
    /* a point in words */
    function described(t, i) {
      const y = t.Second ? c.Y2 : c.Y, unit = y.Unit || (clocked ? unitOf(c) : "");
      const x = c.X.Scale === "category" ? c.X.Labels[t.X[i]] : figure(t.X[i]);
      return [t.Name, x + (c.X.Unit ? " " + c.X.Unit : clocked ? " s" : ""), !t.Cell && figure(t.Y[i]) + (unit ? " " + unit : ""), t.Text && t.Text[i], t.Hover && t.Hover[i]].filter(Boolean).join(" · ");
    }
    /* every series of every lane at an instant of the clock, and the point that the pointer is at */
    function instant(at, best) {
      const list = make("dl");
      for (const lane of lanes) {
        if (!lane.host.isConnected) continue;
        const now = lane.chart(), unit = unitOf(now), shown = [];
        for (const t of now.Traces) {
          const v = t.Name && !t.Cell && t.Mode !== "markers" ? valueAt(t, at) : null;
          if (v == null) continue;
          const name = t.Name.startsWith(now.Title) || t.Name === unit ? "" : t.Name + " ";
          shown.push(name + figure(v) + " " + unit);
        }
        if (shown.length) list.append(make("dt", {}, now.Title), make("dd", {}, shown.join(" · ")));
      }
      return [make("strong", {}, figure(at) + " s"), ...(best ? [make("p", {}, described(...best))] : []), list];
    }
    host.onkeydown = (e) => {
      if (e.target !== host) return;
      const move = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", Home: "all" }[e.key];
      if (!move) return;
      e.preventDefault();
      if (clocked) return setClock(...moves[move]());
      const a = u.scales.x.min, b = u.scales.x.max, w = b - a;
      const to = { in: [a + w / 4, b - w / 4], out: [a - w / 2, b + w / 2], left: [a - w / 4, b - w / 4], right: [a + w / 4, b + w / 4], all: xr }[move];
      u.setScale("x", { min: Math.max(to[0], xr[0]), max: Math.min(to[1], xr[1]) });
    };
    host.repaint = () => u.redraw(false);
    near.observe(host);
    build();
    host.onpick = (f) => (pick = f);
    redraws.push(() => { if (!host.isConnected) return; build(); relabel(); });
    function relabel() {
      const next = legend(host, c);
      if (key && next) key.replaceWith(next);
      key = next;
    }
    /* draws another state of the same chart: the axes keep their titles */
    host.update = (next) => {
      c = next;
      measure();
      ours = true;
      u.setData([xr, yr, ...(c.Y2 ? [y2r] : [])]);
      if (clocked) u.setScale("x", { min: clock.from, max: clock.to });
      ours = false;
      if (!list.open) { const fresh = numbers(c); list.replaceWith(fresh); list = fresh; }
      if (key) relabel();
    };
    if (clocked) clock.users.push(() => { ours = true; u.setScale("x", { min: clock.from, max: clock.to }); ours = false; });
    new ResizeObserver(() => { if (Math.abs(box.parentElement.clientWidth - 2 * parseFloat(getComputedStyle(box.parentElement).paddingLeft) - wide) > 3 && !printing) build(); }).observe(host);
  }

  for (const host of $$("[data-chart]")) drawChart(host, data.Charts[+host.dataset.chart]);
  const shared = { keepInAddress, chosenView, $, $$, make, figure, token, data, clock, setClock, moves, near, skipped, bands, mostMarks, redraws, dots, drawChart, bindClock };
  for (const part of window.parts || []) part(shared);

  /* ---- printing: light, every setting open ---- */
  let before;
  addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, closed: $$("details:not(.chart details)").filter((d) => !d.open), rules: make("style") };
    printing = true;
    for (const d of before.closed) d.open = true;
    /* charts are measured in the layout of the paper, which is not there yet: its rules hold for the window meanwhile */
    for (const r of document.styleSheets[0].cssRules) if (r.media && r.media.mediaText === "print") before.rules.textContent += [...r.cssRules].map((x) => x.cssText).join("\n");
    document.head.append(before.rules);
    document.body.style.width = "186mm";
    setTheme("light");
  });
  addEventListener("afterprint", () => {
    printing = false;
    before.rules.remove();
    document.body.style.width = "";
    for (const d of before.closed) d.open = false;
    setTheme(before.theme);
  });

  const copy = $("#copy");
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.onclick = () => navigator.clipboard.writeText($("#command").textContent).then(() => ($("#copied").textContent = "Copied."), () => ($("#copied").textContent = "The browser does not allow it: mark the text."));
  }
  window.aiperf = { $, $$, make, figure, drawChart, redraws }; // for the dashboard
  root.dataset.ready = "true";
  window.readyAt = performance.now();
})();
