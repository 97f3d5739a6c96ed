"use strict";
/* Keeps the parts of the live page up to date. A message names the parts that changed; what a browser has not got yet comes with the first one. */
(window.parts ||= []).push(({ $, $$, drawChart, clock, setClock, bindClock, data }) => {
  const connection = $("#connection"), save = $("#save");
  if (!connection) return;
  const charts = {}, waiting = new Map();
  let over = false, source = null, seconds = 1;
  const address = (path) => path + location.search; // the token, for browsers that keep no cookie
  save.href = address("report.html");

  const say = (text) => {
    if (connection.textContent !== text) connection.textContent = text;
    connection.hidden = text === "";
  };

  /* marked text, open details and the place of the keyboard stay */
  function swap(id, html) {
    const host = document.getElementById("part-" + id);
    if (!host) return true;
    const marked = getSelection();
    if (marked && !marked.isCollapsed && host.contains(marked.anchorNode)) return false;
    const open = $$("details", host).map((d) => d.open);
    const places = () => $$("a, button, summary, select, [tabindex]", host);
    const at = places().indexOf(document.activeElement), scrolled = $$("pre", host).map((e) => e.scrollTop);
    host.innerHTML = html;
    $$("details", host).forEach((d, i) => (d.open = !!open[i]));
    $$("pre", host).forEach((e, i) => (e.scrollTop = scrolled[i] || 0));
    if (at >= 0 && places()[at]) places()[at].focus({ preventScroll: true });
    bindClock(host);
    for (const e of $$("[data-chart]", host)) if (charts[e.dataset.chart]) drawChart(e, charts[e.dataset.chart]);
    return true;
  }

  function draw(id, c) {
    const k = id.slice("chart-".length), host = $(`[data-chart="${k}"]`);
    charts[k] = c;
    if (!host) return;
    if (host.update) host.update(c);
    else drawChart(host, c);
  }

  /* a page that nobody sees only remembers what it has to draw */
  function show() {
    if (document.hidden) return;
    const whole = clock.to - clock.from >= clock.end * (1 - 1e-9);
    clock.end = seconds;
    if (whole) setClock(0, seconds); // before the charts, which follow the clock
    if (waiting.has("bands")) data.Bands = waiting.get("bands"); // before the charts, which show them
    waiting.delete("bands");
    for (const [id, text] of [...waiting].sort(([a], [b]) => b.startsWith("chart-") - a.startsWith("chart-"))) {
      if (id.startsWith("chart-")) draw(id, text);
      else if (!swap(id, text)) continue;
      waiting.delete(id);
    }
  }
  document.addEventListener("visibilitychange", show);

  async function finish() {
    over = true;
    try {
      const answer = await fetch(address("report.html"));
      if (!answer.ok) throw new Error(answer.statusText);
      const page = URL.createObjectURL(await answer.blob());
      save.href = page; // the server ends with the run
      say("The run is over. Its report is in this page: ");
      const open = document.createElement("a");
      open.href = page;
      open.textContent = "open the report";
      open.id = "report";
      connection.append(open, " or save it.");
    } catch {
      say("The run is over. Its report could not be fetched; it can be made from the files of the run with aiperf report --html.");
    }
    source.close();
  }

  function connect() {
    source = new EventSource(address("events"));
    source.onopen = () => say("");
    source.onmessage = (event) => {
      const message = JSON.parse(event.data);
      seconds = message.seconds || seconds;
      document.title = message.title;
      for (const [id, text] of Object.entries(message.parts)) waiting.set(id, text);
      show();
      document.documentElement.dataset.live = message.number;
      if (message.over && !over) finish();
    };
    source.onerror = () => {
      if (over) return;
      say("The run does not answer. What is shown is its last state; this page continues when it answers again.");
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
    };
  }
  connect();
});
