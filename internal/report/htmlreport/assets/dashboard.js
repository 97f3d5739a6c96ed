"use strict";
/* The dashboard: which runs are chosen, and which plots of them are shown, how large, and with which settings. All of it lives in this tab; a reload starts over. */
(async () => {
  while (!window.aiperf) await new Promise((next) => setTimeout(next, 10));
  const { $, $$, make, drawChart } = window.aiperf;
  const token = new URLSearchParams(location.search).get("token") || "";
  const ask = async (path, question) => {
    const r = await fetch("api/" + path, { method: "POST", headers: { "Content-Type": "application/json", ...(token && { Authorization: "Bearer " + token }) }, body: JSON.stringify(question) }).catch(() => {
      throw new Error("The program that serves this page does not answer: it was stopped. Start aiperf plot --dashboard again and reload.");
    });
    if (!r.ok) throw new Error((await r.text()).trim());
    return r;
  };
  const dark = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");

  /* the token, for browsers that keep no cookie */
  const address = (path) => { const [page, part] = path.split("#"); return page + (token ? (page.includes("?") ? "&" : "?") + "token=" + encodeURIComponent(token) : "") + (part ? "#" + part : ""); };
  for (const a of $$("a[href]")) if (!/^#|:/.test(a.getAttribute("href"))) a.href = address(a.getAttribute("href"));
  const editor = $("#plot-editor");
  if (!editor) return;

  /* runs: directories that are chosen, the only one on the page of a run. plots: {Name, Settings, large, hidden, custom} */
  const ticks = $$(".tick"), single = editor.dataset.run;
  const ticked = () => ticks.filter((e) => e.checked);
  const state = { plots: null, facts: null, number: 0 };
  const chosen = () => (single ? [single] : ticked().map((e) => e.dataset.dir));

  let toasting;
  function toast(text) {
    $("#toast").textContent = text;
    $("#toast").hidden = false;
    clearTimeout(toasting);
    toasting = setTimeout(() => ($("#toast").hidden = true), 5000);
  }

  async function load() {
    try {
      const r = await ask("plots", { Runs: chosen(), Theme: dark(), Plots: state.plots && state.plots.map((p) => ({ Name: p.Name, Settings: p.Settings })) });
      const facts = await r.json();
      const before = state.plots || [];
      state.facts = facts;
      state.plots = facts.Plots.map((p, i) => ({ large: false, hidden: false, custom: false, ...before[i], Name: p.Name, Settings: p.Settings, Chart: p.Chart, Missing: p.Missing }));
    } catch (e) {
      toast(e.message);
      return;
    }
    show();
  }

  function show() {
    const f = state.facts;
    $("#mode").textContent = f.Multi ? "Comparing " + f.Chosen.length + " of " + f.Runs.length + " runs" : single ? "" : "Plots of one run: " + (f.Runs.find((r) => r.Dir === f.Chosen[0]) || {}).Name;
    const missing = state.plots.filter((p) => p.Missing && !p.hidden);
    $("#missing").replaceChildren(...missing.map((p) => make("li", {}, p.Name + " is not drawn: " + p.Missing)));
    const grid = $("#grid"), focused = document.activeElement, held = focused.closest(".plot"), place = held && $$("button", held).indexOf(focused);
    grid.replaceChildren();
    state.plots.forEach((p, i) => { if (p.Chart && !p.hidden) grid.append(box(p, i)); });
    const add = make("button", { type: "button", class: "panel add", id: "add" }, "+ Create custom plot");
    add.onclick = () => edit(-1);
    grid.append(add);
    const hidden = state.plots.map((p, i) => [p, i]).filter(([p]) => p.hidden);
    $("#hidden-plots").replaceChildren(...(hidden.length ? hidden.map(([p, i]) => {
      const b = make("button", { type: "button" }, "Restore");
      b.onclick = () => { state.plots[i].hidden = false; show(); };
      return make("li", {}, p.Name, b);
    }) : [make("li", {}, "No plot is hidden.")]));
    if (held) { // who works with keys goes on where they were
      const again = $$(".plot", grid).find((e) => e.dataset.name === held.dataset.name);
      ((again && $$("button", again)[place]) || add).focus();
    }
  }

  function box(p, i) {
    const button = (label, text, f) => { const b = make("button", { type: "button", "aria-label": label, title: label }, text); b.onclick = f; return b; };
    const head = make("div", { class: "head" }, make("h3", {}, p.Chart.Title),
      make("span", {}, button(p.large ? "Small" : "Large", p.large ? "–" : "□", () => { p.large = !p.large; show(); }), button("Settings of " + p.Chart.Title, "⚙", () => edit(i)), button("Hide " + p.Chart.Title, "✕", () => { p.hidden = true; show(); })));
    const host = make("figure", { class: "chart" + (p.large ? " tall" : "") });
    const outer = make("article", { class: "panel plot" + (p.large ? " large" : ""), "data-name": p.Name }, head, p.Chart.Subtitle ? make("p", { class: "note" }, p.Chart.Subtitle) : null, host);
    outer.oncontextmenu = (e) => { e.preventDefault(); menu(e.pageX, e.pageY, i); };
    requestAnimationFrame(() => {
      if (!host.isConnected) return;
      drawChart(host, p.Chart);
      if (state.facts.Multi) host.onpick((t, k) => t.Key && t.Key[k] && runWindow(t.Key[k]));
    });
    return outer;
  }

  function menu(x, y, i) {
    const p = state.plots[i], m = $("#context");
    const item = (text, f) => { const b = make("button", { type: "button" }, text); b.onclick = () => { m.hidden = true; f(); }; return b; };
    m.replaceChildren(item("Edit settings", () => edit(i)), item("Hide", () => { p.hidden = true; show(); }), item("Remove", () => { state.plots.splice(i, 1); show(); }));
    m.style.left = x + "px";
    m.style.top = y + "px";
    m.hidden = false;
    m.firstChild.focus();
  }
  addEventListener("click", (e) => { if (!$("#context").contains(e.target)) $("#context").hidden = true; });
  addEventListener("keydown", (e) => { if (e.key === "Escape") $("#context").hidden = true; });

  /* ---- runs ---- */
  function compareLink() {
    const on = ticked();
    $("#selected").textContent = on.length + " of " + ticks.length + " chosen";
    $("#compare").hidden = on.length < 2;
    $("#compare").textContent = on.length === 2 ? "Compare the two runs" : "Compare the " + on.length + " runs";
    $("#compare").href = address("compare?" + on.map((e) => e.dataset.link.split("?")[1]).join("&"));
    for (const b of $$("#groups input")) {
      const group = ticks.filter((e) => e.dataset.group === b.value || b.value === ""), n = group.filter((e) => e.checked).length;
      b.checked = n === group.length;
      b.indeterminate = n > 0 && n < group.length;
    }
  }
  function choose(changed) {
    if (!ticked().length) {
      for (const e of changed) e.checked = true;
      toast("At least one run stays chosen.");
    }
    compareLink();
    if (state.facts && (ticked().length > 1) !== state.facts.Multi) state.plots = null; // one run has other plots than several
    load();
  }
  if (ticks.length) {
    for (const e of ticks) e.onchange = () => choose([e]);
    const groups = [...new Set(ticks.map((e) => e.dataset.group))];
    for (const name of groups.length > 1 ? ["", ...groups.filter((x) => x)] : [""]) {
      const b = make("input", { type: "checkbox", value: name });
      b.onchange = () => { const mine = ticks.filter((e) => name === "" || e.dataset.group === name); for (const e of mine) e.checked = b.checked; choose(mine.slice(0, 1)); };
      $("#groups").append(make("label", {}, b, " " + (name || "all runs")), " ");
    }
    for (const b of $$("button.figures")) b.onclick = () => runWindow(b.dataset.dir);
    compareLink();
  }

  async function runWindow(dir) {
    let d;
    try {
      d = await (await ask("run", { Runs: [dir] })).json();
    } catch (e) {
      return toast(e.message);
    }
    $("#run-title").textContent = d.Name;
    const rows = (list) => make("table", {}, make("tbody", {}, ...list.map((r) => make("tr", {}, make("th", { scope: "row" }, r[0]), make("td", {}, r[1])))));
    const report = (ticks.find((e) => e.dataset.dir === dir) || editor).dataset.link;
    $("#run-body").replaceChildren(...(report ? [make("p", {}, make("a", { href: address(report) }, "Report of this run"), " · ", make("a", { href: address(report + "#plots") }, "Plots of this run"))] : []), make("h3", {}, "Key figures (avg)"), rows(d.Figures.map((r) => [r.Name, r.Cell[0]])), make("details", {}, make("summary", {}, "Configuration"), rows(d.Settings)));
    $("#run").showModal();
  }
  $("#run-close").onclick = () => $("#run").close();

  /* ---- the dialog of a plot ---- */
  /* what a type of plot of one run can stand along; others take anything */
  const along = { area: ["timestamp_s"], dual_axis: ["timestamp_s"], request_timeline: ["request_start_ns"], timeslice: ["Timeslice"], percentile_bands: ["timestamp_s"] };
  const sources = { "GPU telemetry": "gpu_telemetry", "Server metrics": "server_metrics" };
  const nested = (v) => (v && typeof v === "object" ? v : v ? { metric: v } : {});
  function edit(i) {
    const f = state.facts, p = i < 0 ? { Name: "custom_" + (state.number + 1), Settings: { type: f.Multi ? "scatter_line" : "scatter" } } : state.plots[i], s = p.Settings;
    const field = {};
    const select = (key, label, options, value) => {
      const e = make("select", { name: key });
      for (const o of options) {
        if (o.Items) { const g = make("optgroup", { label: o.Name }); for (const [tag, name] of o.Items) g.append(new Option(name, tag)); e.append(g); }
        else e.append(new Option(o[1], o[0]));
      }
      if (value != null && ![...e.options].some((x) => x.value === value)) e.append(new Option(value, value)); // what the list does not offer stays
      if (value != null) e.value = value;
      field[key] = e;
      return make("label", {}, label, e);
    };
    const input = (key, label, value) => { const e = make("input", { name: key, value: value || "" }); field[key] = e; return make("label", {}, label, e); };
    const usual = ["p50", "avg", "p90", "p95", "p99"];
    /* the statistics that a metric has; the one that was chosen stays if it can, else the first usual one */
    const statsOf = (key, stat, wanted) => {
      const has = f.Stats[field[key].value] || [], e = field[stat];
      e.replaceChildren(...(has.length ? has : [""]).map((x) => new Option(x || "none", x)));
      e.value = has.includes(wanted) ? wanted : usual.find((x) => has.includes(x)) || has[0] || "";
    };
    const withStats = (key, stat, wanted) => { statsOf(key, stat, wanted); field[key].onchange = () => statsOf(key, stat, field[stat].value); };
    const scales = [["", "linear"], ["log", "logarithmic"]];
    const one = (list) => (list && list[0]) || "";
    const x = nested(s.x), y = nested(s.y), y2 = nested(s.y2);
    const columns = [["", "none"], ...f.Columns.map((c) => [c, c])];
    const list = [select("type", "Plot type", f.Types.map((c) => ({ Name: c.Name, Items: c.Types.map((t) => [t, t.replaceAll("_", " ")]) })), s.type)];
    if (f.Multi) {
      list.push(select("x", "x metric", f.Metrics, x.metric), select("xstat", "x statistic", [], null), select("y", "y metric", f.Metrics, y.metric), select("ystat", "y statistic", [], null),
        select("label", "Label by", columns, one(s.labels)), select("group", "Group by", columns, one(s.groups) || "model"));
    } else {
      list.push(select("x", "x axis", [["request_number", "request number"], ["timestamp", "end of the request"], ["timestamp_s", "time"], ["request_start_ns", "start of the request"], ["Timeslice", "time slice"], ...f.Metrics], x.metric), select("y", "y metric", [["throughput_tokens_per_sec", "token throughput over time"], ["active_requests", "active requests"], ...f.Metrics], y.metric), select("ystat", "y statistic (time slices)", [["", "none"]], s.stat || y.stat || ""), select("y2", "second metric (dual axis)", [["", "none"], ...f.Metrics], y2.metric || ""));
    }
    list.push(input("title", "Title", s.title), input("xlabel", "x label", s.x_label), input("ylabel", "y label", s.y_label),
      select("scale", "Axes start", [["none", "at zero"], ["x", "x where the data do"], ["y", "y where the data do"], ["both", "both where the data do"]], s.autoscale || "none"),
      select("xscale", "x scale", scales, s.x_scale === "log" ? "log" : ""), select("yscale", "y scale", scales, s.y_scale === "log" ? "log" : ""),
      select("large", "Size", [["", "small"], ["large", "large"]], p.large ? "large" : ""));
    $("#fields").replaceChildren(...list);
    if (f.Multi) { withStats("x", "xstat", x.stat || "avg"); withStats("y", "ystat", y.stat || s.stat || "avg"); }
    else {
      const fit = () => {
        const only = along[field.type.value], slice = field.type.value === "histogram" ? [] : ["Timeslice"]; // time slices are no place for single requests
        for (const o of field.x.options) o.hidden = o.disabled = only ? !only.includes(o.value) : slice.includes(o.value);
        if (field.x.selectedOptions[0].disabled) field.x.value = [...field.x.options].find((o) => !o.disabled).value;
        field.y2.disabled = field.type.value !== "dual_axis";
        const chosen = field.ystat.value, of = field.y.selectedOptions[0];
        const told = of && sources[of.parentNode.label] ? usual.concat("min", "max", "std") : []; // by servers, which have statistics of their own
        const has = field.type.value === "timeslice" ? f.Stats[field.y.value] || told : chosen ? [chosen] : [];
        field.ystat.replaceChildren(new Option("none", ""), ...has.map((x) => new Option(x, x)));
        field.ystat.value = has.includes(chosen) ? chosen : "";
      };
      field.type.onchange = field.y.onchange = fit;
      fit();
    }
    $("#edit-title").textContent = i < 0 ? "Create custom plot" : "Edit " + p.Name;
    $("#update").hidden = $("#edit-hide").hidden = i < 0;
    $("#fault").textContent = "";
    const dialog = $("#edit");
    $("form", dialog).onsubmit = async (e) => {
      const what = e.submitter ? e.submitter.value : "update";
      if (what === "cancel") return;
      if (what === "hide") { p.hidden = true; return show(); }
      e.preventDefault();
      const v = (key) => (field[key] ? field[key].value : "");
      const next = { ...s, type: v("type"), title: v("title") || undefined, x_label: v("xlabel") || undefined, y_label: v("ylabel") || undefined, autoscale: v("scale"), x_scale: v("xscale") || undefined, y_scale: v("yscale") || undefined };
      if (f.Multi) {
        Object.assign(next, { x: { metric: v("x"), stat: v("xstat") || undefined }, y: { metric: v("y"), stat: v("ystat") || undefined }, labels: v("label") ? [v("label")] : [], groups: v("group") ? [v("group")] : [], stat: undefined });
      } else {
        const named = (tag) => { // the name of what GPUs and servers tell does not say who tells it
          const group = f.Metrics.find((g) => sources[g.Name] && g.Items.some(([t]) => t === tag));
          return group ? { metric: tag, source: sources[group.Name] } : tag || undefined;
        };
        Object.assign(next, { x: v("x"), y: v("y") === y.metric ? s.y : named(v("y")), stat: v("ystat") || undefined, y2: v("type") !== "dual_axis" ? undefined : v("y2") === y2.metric ? s.y2 : named(v("y2")) });
        if (v("y") !== y.metric) next.source = undefined;
      }
      const name = what === "new" ? "custom_" + ++state.number : p.Name;
      try {
        const got = (await (await ask("plots", { Runs: chosen(), Theme: dark(), Plots: [{ Name: name, Settings: JSON.parse(JSON.stringify(next)) }] })).json()).Plots[0];
        if (got.Missing) throw new Error(got.Missing);
        const fresh = { Name: name, Settings: got.Settings, Chart: got.Chart, large: !!v("large"), hidden: false, custom: what === "new" || !!p.custom };
        if (what === "new") state.plots.push(fresh);
        else state.plots[i] = fresh;
        dialog.close();
        show();
      } catch (err) {
        $("#fault").textContent = err.message;
      }
    };
    dialog.showModal();
  }

  /* ---- export and layout ---- */
  $("#menu").onclick = () => { const open = $("#side").hidden; $("#side").hidden = !open; $("#menu").setAttribute("aria-expanded", open); };
  $("#format").onchange = () => ($("#size").disabled = $("#format").value === "html");
  $("#reset").onclick = async () => { const mine = state.plots.filter((p) => p.custom); state.plots = null; await load(); state.plots.push(...mine); show(); toast("Plots are those of the settings again; custom ones stay."); };
  $("#export").onclick = async () => {
    const visible = state.plots.filter((p) => p.Chart && !p.hidden);
    try {
      const r = await ask("export", { Runs: chosen(), Theme: dark(), Format: $("#format").value, Size: $("#size").value, Plots: visible.map((p) => ({ Name: p.Name, Settings: p.Settings })) });
      const a = make("a", { href: URL.createObjectURL(await r.blob()), download: "aiperf_plots.zip" });
      a.click();
      URL.revokeObjectURL(a.href);
      toast(visible.length + " plots exported.");
    } catch (e) { toast(e.message); }
  };
  new MutationObserver(load).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  await load();
  document.documentElement.dataset.loaded = "true";
})();
