// Package browser drives the pages of the program in a real Chromium (Debian's package chromium): make test-browser.
package browser

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// program is the built aiperf, work a directory with runs of it, chromium the browser of all tests.
var (
	program, work string
	chromium      context.Context
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("no test here is short: each drives a browser")
		return
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "browser")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		program, work = filepath.Join(dir, "aiperf"), filepath.Join(dir, "runs")
		build := exec.Command("go", "build", "-C", "../..", "-trimpath", "-o", program, "./cmd/aiperf")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v\n%s", err, out))
		}
		for _, concurrency := range []string{"2", "6"} {
			run := exec.Command(program, "profile", "--url", "mock://?ttft=10ms&itl=2ms&tokens=16&jitter=0.5&error-rate=0.05&seed=3", "-m", "demo", "--tokenizer", "builtin", "--streaming",
				"--concurrency", concurrency, "--request-count", "120", "--random-seed", "1", "--artifact-dir", filepath.Join(work, "c"+concurrency), "--export-html", "--export-level", "raw")
			if out, err := run.CombinedOutput(); err != nil {
				panic(fmt.Sprintf("%v\n%s", err, out))
			}
		}
		if out, err := exec.Command(program, "report", "--html", work).CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v\n%s", err, out))
		}
		go func() { _, _ = makeStates() }() // the tests that need them report an error
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
			chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
		alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
		defer stop()
		var done func()
		chromium, done = chromedp.NewContext(alloc)
		defer done()
		if err := chromedp.Run(chromium); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// tab is a page in a separate browser, with its network requests and script errors.
type tab struct {
	context.Context
	t        *testing.T
	mu       sync.Mutex
	loaded   []string
	complain []string
}

// open opens an address in a window of a width and waits until its script is done.
func open(t *testing.T, address string, width int64) *tab {
	t.Helper()
	p := openAny(t, address, width)
	p.do(chromedp.WaitReady(`html[data-ready="true"]`, chromedp.ByQuery))
	return p
}

// window opens an empty window. Pages of one window would hide each other, and a hidden page is drawn once a second.
func window(t *testing.T) target.ID {
	t.Helper()
	browser := cdp.WithExecutor(chromium, chromedp.FromContext(chromium).Browser)
	id, err := target.CreateTarget("about:blank").WithNewWindow(true).Do(browser)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// openAny opens an address, with or without a script.
func openAny(t *testing.T, address string, width int64) *tab {
	t.Helper()
	ctx, done := chromedp.NewContext(chromium, chromedp.WithTargetID(window(t)))
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(func() { cancel(); done() })
	p := &tab{Context: ctx, t: t}
	chromedp.ListenTarget(ctx, func(ev any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			p.loaded = append(p.loaded, ev.Request.URL)
		case *runtime.EventExceptionThrown:
			p.complain = append(p.complain, ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError {
				p.complain = append(p.complain, fmt.Sprint(ev.Args))
			}
		}
	})
	p.do(network.Enable(), runtime.Enable(), emulation.SetDeviceMetricsOverride(width, 900, 1, false), chromedp.Navigate(address))
	return p
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p, actions...); err != nil {
		p.t.Fatalf("%v; the page complains of %v", err, p.complain)
	}
}

// text is what a script gives, as text.
func (p *tab) text(script string) string {
	p.t.Helper()
	var out string
	p.do(chromedp.Evaluate("String("+script+")", &out))
	return out
}

// want fails unless a script gives a text.
func (p *tab) want(script, text string) {
	p.t.Helper()
	if got := p.text(script); !strings.Contains(got, text) {
		p.t.Errorf("%s is %q, want %q", script, got, text)
	}
}

// alone fails where the page asked for anything but itself, or its script failed.
func (p *tab) alone() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.loaded) != 1 || len(p.complain) > 0 {
		p.t.Errorf("the page loaded %v and complains of %v", p.loaded, p.complain)
	}
}

func file(parts ...string) string {
	return "file://" + filepath.Join(append([]string{work}, parts...)...)
}

// settled waits for the picture of the last move.
func (p *tab) settled() {
	p.t.Helper()
	p.do(chromedp.Evaluate(`new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))`, nil, awaited))
}

// click clicks where an element is once nothing moves any more: charts are drawn a picture after their page.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.settled()
	p.do(chromedp.Click(selector, chromedp.ByQuery, chromedp.NodeVisible))
}

// TestReport: every control of a run's page does what it says, and nothing is loaded.
func TestReport(t *testing.T) {
	p := open(t, file("c6", "report.html"), 1280)
	if charts := p.text(`document.querySelectorAll(".uplot canvas").length`); charts < "1" {
		t.Errorf("%s charts", charts)
	}
	theme := p.text(`document.documentElement.dataset.theme`)
	p.click("#theme")
	if p.text(`document.documentElement.dataset.theme`) == theme {
		t.Error("the theme stays")
	}
	view := `document.querySelector(".view").textContent`
	p.want(view, "Whole run")
	p.click(`[data-clock="in"]`)
	p.want(view, " to ")
	first := p.text(view)
	p.click(`[data-clock="right"]`)
	if p.text(view) == first {
		t.Error("the clock does not move")
	}
	p.settled()
	if got := p.text(`(() => { const all = [...document.querySelectorAll(".lane")].map((e) => e.uplot.scales.x.min); return all.every((v) => v === all[0] && v > 0); })()`); got != "true" {
		t.Error("not every lane follows the clock")
	}
	p.click(`[data-clock="all"]`)
	p.want(view, "Whole run")

	p.do(chromedp.Focus("#waterfall", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	p.want(`document.querySelector("#detail").textContent`, "started at")
	p.do(chromedp.Evaluate(`(() => { const f = document.querySelector("#filter"); f.value = "failed"; f.onchange(); })()`, nil))
	p.want(`document.querySelector("#shown").textContent`, " of 120 requests")
	if p.text(`document.querySelector("#shown").textContent`) == "120 of 120 requests" {
		t.Error("the filter shows all")
	}
	p.do(chromedp.Evaluate(`document.querySelector(".chart details").open = true`, nil), chromedp.WaitVisible(".chart details table", chromedp.ByQuery))
	p.alone()
}

// TestWaterfall: a click on a bar shows its request; the wheel zooms with Ctrl and only then, so that without it the page scrolls.
func TestWaterfall(t *testing.T) {
	p := open(t, file("c6", "report.html"), 1280)
	p.do(chromedp.ScrollIntoView("#waterfall", chromedp.ByQuery))
	p.settled()
	var at struct{ X, Y float64 }
	p.do(chromedp.Evaluate(`(() => { const b = document.querySelector("#waterfall").getBoundingClientRect(); return { x: b.left + b.width / 2, y: b.top + b.height / 2 }; })()`, &at))
	p.want(`document.querySelector("#detail").textContent.includes("started at")`, "false")
	p.do(chromedp.MouseClickXY(at.X, at.Y))
	p.want(`document.querySelector("#detail").textContent`, "started at")
	view := `document.querySelector(".view").textContent`
	whole := p.text(view)
	wheel := func(with input.Modifier, by float64) {
		p.do(input.DispatchMouseEvent(input.MouseWheel, at.X, at.Y).WithDeltaX(0).WithDeltaY(by).WithModifiers(with))
		p.settled()
	}
	wheel(input.ModifierNone, -10)
	p.want(view, whole)
	wheel(input.ModifierCtrl, -100)
	p.want(view, " to ")
	wheel(input.ModifierCtrl, 100)
	p.want(view, "Whole run")
	p.alone()
}

// TestLessMotion: with prefers-reduced-motion nothing moves.
func TestLessMotion(t *testing.T) {
	p := openAny(t, "about:blank", 1280)
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}), chromedp.Navigate(file("c6", "report.html")))
	p.want(`matchMedia("(prefers-reduced-motion: reduce)").matches`, "true")
	p.want(`[...document.querySelectorAll("*")].filter((e) => { const s = getComputedStyle(e); return parseFloat(s.transitionDuration) > 0.001 || s.animationName !== "none" || s.scrollBehavior === "smooth"; }).length + document.getAnimations().length`, "0")
}

// TestPrint: for paper the page is light, open, and its charts are three times as sharp and no wider than their panels; afterwards it is as it was.
func TestPrint(t *testing.T) {
	p := open(t, file("c6", "report.html"), 1280)
	p.do(chromedp.Evaluate(`document.documentElement.dataset.theme === "light" && document.querySelector("#theme").click()`, nil))
	state := `(() => {
		const fits = [...document.querySelectorAll("[data-chart]")].every((e) => e.querySelector(".uplot").getBoundingClientRect().width <= e.clientWidth);
		return [document.documentElement.dataset.theme, document.querySelector("#settings details").open, document.querySelector(".lane canvas").width > 1500, fits].join();
	})()`
	p.want(state, "dark,false,false,true")
	p.do(chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	p.want(state, "light,true,true,true")
	p.do(chromedp.Evaluate(`dispatchEvent(new Event("afterprint"))`, nil))
	p.want(state, "dark,false,false,true")
	p.alone()
}

// TestSweep: the page over runs draws its charts and leads to theirs.
func TestSweep(t *testing.T) {
	p := open(t, file("report.html"), 1280)
	p.want(`document.querySelector("tbody a").getAttribute("href")`, "c2/report.html")
	p.want(`document.querySelectorAll(".uplot").length`, "5")
	p.alone()
}

// TestWidths: no page scrolls sideways on a phone, a laptop, a large screen.
func TestWidths(t *testing.T) {
	t.Parallel()
	list := []string{file("c6", "report.html"), file("report.html")}
	for name, path := range pages(t) {
		if strings.HasPrefix(name, "agents") {
			list = append(list, "file://"+path)
		}
	}
	for _, page := range list {
		p := open(t, page, 360)
		for _, width := range []int64{360, 900, 1920} {
			p.do(emulation.SetDeviceMetricsOverride(width, 900, 1, false), chromedp.Sleep(200*time.Millisecond))
			if got := p.text(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
				t.Errorf("%s is %s wide in a window of %d", page, p.text(`document.documentElement.scrollWidth`), width)
			}
		}
	}
}

// many writes a run of 50,000 requests and its report.
func many(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "many")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range 50000 {
		start, ttft := int64(i)*10_000_000, 80+(i*7919)%400
		fmt.Fprintf(&lines, `{"metadata":{"x_request_id":"r%d","benchmark_phase":"profiling","request_start_ns":%d,"request_end_ns":%d},"metrics":{"time_to_first_token":{"value":%d,"unit":"ms"},"inter_token_latency":{"value":%d.5,"unit":"ms"},"request_latency":{"value":%d,"unit":"ms"},"output_sequence_length":{"value":100,"unit":"tokens"}}}`+"\n",
			i, start, start+int64(ttft+1000)*1_000_000, ttft, 8+i%5, ttft+1000)
	}
	for name, text := range map[string]string{"profile_export.jsonl": lines.String(), "profile_export_aiperf.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(program, "report", "--html", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// frames is how long a script's moves take until their picture is there, in ms a move.
func (p *tab) frames(move string) float64 {
	p.t.Helper()
	var frame float64
	p.do(chromedp.Evaluate(`(async () => {
		const move = `+move+`, t = performance.now();
		for (let i = 0; i < 10; i++) { move(i); await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))); }
		return (performance.now() - t) / 10;
	})()`, &frame, awaited))
	return frame
}

// TestManyRequests: a page of 50,000 requests stays small, loads and moves; its times are printed.
func TestManyRequests(t *testing.T) {
	dir := many(t)
	info, err := os.Stat(filepath.Join(dir, "report.html"))
	if err != nil || info.Size() > 1500<<10 {
		t.Errorf("%v: %d KiB", err, info.Size()>>10)
	}
	p := open(t, "file://"+filepath.Join(dir, "report.html"), 1280)
	p.want(`document.querySelector("#requests .lead").textContent`, "20,000 of 50,000 requests")
	frame := p.frames(`(i) => document.querySelector(i % 2 ? '[data-clock="out"]' : '[data-clock="in"]').click()`)
	t.Logf("report: %d KiB; ready %s ms after the navigation; a zoom takes %.0f ms", info.Size()>>10, p.text(`Math.round(window.readyAt)`), frame)
	p.alone()

	p = open(t, dashboard(t, dir), 1280)
	p.do(chromedp.WaitReady(`html[data-loaded="true"]`, chromedp.ByQuery))
	p.settled()
	loaded := p.text(`Math.round(performance.now())`)
	p.want(`document.querySelectorAll(".plot .uplot").length`, "5")
	frame = p.frames(`(i) => document.querySelector(".plot .chart").dispatchEvent(new KeyboardEvent("keydown", { key: i % 2 ? "-" : "+" }))`)
	t.Logf("dashboard: plots after %s ms; a zoom takes %.0f ms", loaded, frame)
}

// dashboard serves the runs of a directory until the test ends, and gives the address.
func dashboard(t *testing.T, dir string, more ...string) string {
	t.Helper()
	server := exec.Command(program, append([]string{"plot", dir, "--dashboard", "--port", "0"}, more...)...)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := server.Wait(); err != nil {
			t.Errorf("after Ctrl-C: %v", err)
		}
	})
	address := ""
	for in := bufio.NewScanner(out); in.Scan() && !strings.HasPrefix(in.Text(), "Press"); {
		if at, ok := strings.CutPrefix(in.Text(), "Dashboard ready: "); ok {
			address = at
		}
	}
	return address
}

// TestDashboard: every control does what it says, and the page asks its own server alone.
func TestDashboard(t *testing.T) {
	address := dashboard(t, work)
	p := open(t, address, 1280)
	ready := func() {
		p.do(chromedp.WaitReady(`html[data-loaded="true"]`, chromedp.ByQuery), chromedp.WaitReady("#add", chromedp.ByQuery))
		p.settled()
	}
	ready()
	plots := `document.querySelectorAll(".plot").length`
	p.want(`document.querySelector("#mode").textContent`, "Comparing 2 of 2 runs")
	p.want(plots, "4")
	until := func(script, text string) {
		t.Helper()
		for range 100 {
			if strings.Contains(p.text(script), text) {
				return
			}
			p.do(chromedp.Sleep(50 * time.Millisecond))
		}
		p.want(script, text)
	}

	p.want(`document.querySelector("#side").hidden`, "true")
	p.click("#menu")
	p.want(`document.querySelector("#side").hidden`, "false")

	p.click(`.plot [aria-label^="Hide"]`)
	p.want(plots, "3")
	p.want(`document.querySelector("#hidden-plots").textContent`, "pareto_curve_throughput_per_gpu_vs_latency")
	p.click("#hidden-plots button")
	p.want(plots, "4")
	p.click(`.plot [aria-label="Large"]`)
	p.want(`document.querySelector(".plot").className`, "large")

	p.click("#add")
	p.do(chromedp.Evaluate(`(() => { const f = document.querySelector("#edit form"); f.x.value = "time_to_first_token"; f.xstat.value = "p90"; f.y.value = "request_latency"; f.title.value = "Mine"; })()`, nil))
	p.click("#save-new")
	until(plots, "5")
	p.want(`[...document.querySelectorAll(".plot h3")].at(-1).textContent`, "Mine")
	p.click(`.plot:nth-last-child(2) [aria-label^="Settings"]`)
	p.want(`document.querySelector("#edit form").xstat.value`, "p90")
	// the statistics are those of the metric: a rate of the whole run has one
	p.want(`(() => { const f = document.querySelector("#edit form"); f.x.value = "request_throughput"; f.x.onchange(); return [...f.xstat.options].map((o) => o.value).join() + "|" + f.xstat.value; })()`, "avg|avg")
	p.want(`(() => { const f = document.querySelector("#edit form"); f.x.value = "time_to_first_token"; f.x.onchange(); return f.xstat.options.length > 5; })()`, "true")
	p.do(chromedp.Evaluate(`(() => { const f = document.querySelector("#edit form"); f.title.value = "Yours"; f.yscale.value = "log"; })()`, nil))
	p.click("#update")
	until(`[...document.querySelectorAll(".plot h3")].at(-1).textContent`, "Yours")
	p.want(`[...document.querySelectorAll(".plot .chart")].at(-1).querySelector("[role=img]").ariaLabel`, "(log)")
	p.want(plots, "5")

	p.do(chromedp.Evaluate(`document.querySelector(".plot").dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true}))`, nil))
	p.click("#context button:nth-child(3)")
	p.want(plots, "4")
	p.click("#reset")
	until(plots, "5")

	p.do(chromedp.Evaluate(`(() => { document.documentElement.before = document.documentElement.dataset.theme; document.querySelector("#theme").click(); })()`, nil))
	if got := p.text(`document.documentElement.dataset.theme === document.documentElement.before`); got == "true" {
		t.Error("the theme stays")
	}
	ready()

	p.do(chromedp.Evaluate(`URL.createObjectURL = (b) => { window.exported = b.size; return "#"; }`, nil))
	p.click("#export")
	until(`window.exported > 10000`, "true")
	p.do(chromedp.Evaluate(`(() => { const f = document.querySelector("#format"); f.value = "html"; f.onchange(); })()`, nil))
	p.want(`document.querySelector("#size").disabled`, "true")

	// one run without the other is a single run, with other plots
	p.click(".tick")
	until(`document.querySelector("#mode").textContent`, "Plots of one run: c6")
	p.click(".tick")
	until(`document.querySelector("#mode").textContent`, "Comparing 2")

	// without a pointer, the list of runs leads there
	p.do(chromedp.Focus("button.figures", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	until(`document.querySelector("dialog#run").open`, "true")
	p.want(`document.querySelector("#run-title").textContent`, "c2")
	p.do(chromedp.KeyEvent(kb.Escape))
	until(`document.querySelector("dialog#run").open`, "false")

	// a point leads to its run: the pointer goes over the panel until it is near one, and clicks there; again if the plots were drawn anew meanwhile
	ready()
	click := `(() => {
		if (document.querySelector("dialog#run").open) return true;
		const host = document.querySelectorAll(".plot .chart")[2], u = host.uplot, { left, top, width, height } = u.over.getBoundingClientRect();
		for (let x = 4; x < width; x += 6) for (let y = 4; y < height; y += 6) {
			u.setCursor({ left: x, top: y });
			if (host.querySelector(".tip").hidden) continue;
			for (const kind of ["mousemove", "mousedown", "mouseup", "click"]) u.over.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX: left + x, clientY: top + y }));
			return "clicked";
		}
		return "no point is found";
	})()`
	until(click, "true")
	p.want(`document.querySelector("#run-body").textContent`, "Time to First Token (ms)")
	p.want(`document.querySelector("#run-body a:nth-of-type(2)").href`, "#plots")

	p.mu.Lock()
	defer p.mu.Unlock()
	for _, asked := range p.loaded {
		if origin, _, _ := strings.Cut(address, "?"); !strings.HasPrefix(asked, origin) {
			t.Errorf("the page asked %s", asked)
		}
	}
	if len(p.complain) > 0 {
		t.Error(p.complain)
	}
}
