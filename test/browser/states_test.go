package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hostile is a name of a model that is markup, writes from right to left and is long.
const hostile = "</script><img src=x onerror=alert(1)>\u202egnp.exe \u0627\u0644\u0646\u0645\u0648\u0630\u062c 模型 " + "averyveryverylongwordwithoutanyplacetobreakitaveryveryverylongwordwithoutanyplacetobreakit"

// phased is a run of a warm-up and two measured phases.
const phased = `
benchmark:
  models: {items: [{name: demo}]}
  endpoint: {urls: ["mock://?ttft=10ms&itl=2ms&tokens=16&jitter=0.5&reasoning=0.4&seed=3"], streaming: true}
  tokenizer: {name: builtin}
  datasets: [{name: main, type: synthetic, entries: 20, prompts: {isl: {mean: 50}, osl: {mean: 16}}}]
  phases:
    - {name: warm, kind: warmup, type: concurrency, concurrency: 2, requests: 8}
    - {name: low, kind: profiling, type: concurrency, concurrency: 2, requests: 60}
    - {name: high, kind: profiling, type: concurrency, concurrency: 8, requests: 240}
`

// adaptive is a run whose load seeks its limit, and finds none.
const adaptive = `
benchmark:
  models: {items: [{name: demo}]}
  endpoint: {urls: ["mock://?ttft=5ms&itl=1ms&tokens=8"], streaming: true}
  tokenizer: {name: builtin}
  datasets: [{name: main, type: synthetic, entries: 20, prompts: {isl: {mean: 50}, osl: {mean: 8}}}]
  phases:
    - {name: climb, kind: profiling, type: concurrency, concurrency: 4, duration: 30, adaptive_scale: true, adaptive_assessment_period: 1, adaptive_sustain_duration: 1,
       sla: {request_latency: {p95: {lt: 100000}}, error_rate: {avg: {le: 5}}}}
`

// makeStates are pages of odd runs, by name, made once.
var makeStates = sync.OnceValues(func() (map[string]string, error) {
	dir := filepath.Join(filepath.Dir(work), "states")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	config := map[string]string{"phases": phased, "adaptive": adaptive} // the name of a file each
	for name, text := range config {
		config[name] = filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(config[name], []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	flags := func(url string, more ...string) []string {
		return append([]string{"--url", "mock://?ttft=5ms&itl=1ms&tokens=8&jitter=0.5&" + url, "-m", "demo", "--tokenizer", "builtin", "--random-seed", "1"}, more...)
	}
	list, err := makeRuns(dir, map[string][]string{
		"all failed": flags("error-rate=1", "--streaming", "--request-count", "12"),
		"one":        flags("", "--streaming", "--request-count", "1"),
		"unstreamed": flags("", "--request-count", "150", "--concurrency", "4"),
		"embeddings": flags("", "--endpoint-type", "embeddings", "--request-count", "20"),
		"images":     flags("", "--endpoint-type", "image_generation", "--request-count", "5"),
		"video":      flags("", "--endpoint-type", "video_generation", "--request-count", "4"),
		"rankings":   flags("", "--endpoint-type", "nim_rankings", "--request-count", "10", "--rankings-passages-mean", "3"),
		"short":      flags("", "--streaming", "--benchmark-duration", "0.5", "--concurrency", "2"),
		"two":        flags("error-rate=0.5", "--streaming", "--request-count", "2"),
		"hostile": append(flags("", "--streaming", "--request-count", "30"), "-m", hostile, "--extra-inputs", "note:<b>", "--header", "X-Note: </script><img src=x onerror=alert(1)>",
			"--header", "Authorization: Bearer sk-0123456789abcdef"),
		"rate":      flags("", "--streaming", "--request-count", "120", "--request-rate", "40", "--slice-duration", "0.5"),
		"explained": flags("capacity=3", "--streaming", "--request-count", "600", "--request-rate", "120", "--arrival-pattern", "poisson", "--isl", "60", "--synthetic-input-tokens-stddev", "30"),
		"phases":    {"--config", config["phases"]},
		"adaptive":  {"--config", config["adaptive"]},
	})
	if err != nil {
		return nil, err
	}
	page := list["explained"] // its own explanation, and the model of the server
	if out, err := exec.Command(program, "explain", filepath.Dir(page), "--server-model", "--html", page).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return list, nil
})

// makeRuns runs profile with the flags of each name, all at once since most of them wait, and returns the page of each.
func makeRuns(dir string, flags map[string][]string) (map[string]string, error) {
	list, faults := map[string]string{}, make(chan error)
	for name, words := range flags {
		at := filepath.Join(dir, strings.ReplaceAll(name, " ", "_"))
		list[name] = filepath.Join(at, "report.html")
		go func() {
			run := exec.Command(program, append(append([]string{"profile"}, words...), "--artifact-dir", at, "--export-html", "--export-level", "raw")...)
			out, err := run.CombinedOutput() // a run of failures alone ends with status 1, and leaves its page
			if _, missing := os.Stat(list[name]); missing != nil {
				faults <- fmt.Errorf("%s: %w: %w\n%s", name, missing, err, out)
				return
			}
			faults <- nil
		}()
	}
	var all []error
	for range flags {
		all = append(all, <-faults)
	}
	return list, errors.Join(all...)
}

// states are those pages.
func states(t *testing.T) map[string]string {
	t.Helper()
	list, err := makeStates()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// watchTexts keeps what is written on each canvas, with its box in pixels of the canvas, from when the canvas was last cleared. Charts out of sight are
// drawn as well.
const watchTexts = `(() => {
	window.IntersectionObserver = class { constructor(f) { this.f = f; } observe(e) { this.f([{ target: e, isIntersecting: true }]); } };
	const c = CanvasRenderingContext2D.prototype, write = c.fillText, clear = c.clearRect, width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
	Object.defineProperty(HTMLCanvasElement.prototype, "width", { ...width, set(v) { this.texts = []; width.set.call(this, v); } });
	c.clearRect = function (...a) { this.canvas.texts = []; return clear.apply(this, a); };
	c.fillText = function (words, x, y, ...more) {
		if (words !== "") {
			const m = this.measureText(words), t = this.getTransform(), corner = (dx, dy) => t.transformPoint(new DOMPoint(x + dx, y + dy));
			const p = corner(-m.actualBoundingBoxLeft, -m.actualBoundingBoxAscent), q = corner(m.actualBoundingBoxRight, m.actualBoundingBoxDescent);
			(this.canvas.texts ||= []).push([String(words), Math.min(p.x, q.x), Math.min(p.y, q.y), Math.max(p.x, q.x), Math.max(p.y, q.y)]);
		}
		return write.call(this, words, x, y, ...more);
	};
})()`

// findTexts are pairs of texts of a canvas that touch, and texts that leave it.
const findTexts = `(() => {
	const bad = [];
	for (const canvas of document.querySelectorAll("canvas")) {
		const all = canvas.texts || [], title = (canvas.closest("figure")?.querySelector("figcaption")?.textContent || canvas.id) + ": ";
		all.forEach((a, i) => {
			if (a[1] < -1 || a[2] < -1 || a[3] > canvas.width + 1 || a[4] > canvas.height + 1) bad.push(title + a[0] + " leaves the picture");
			for (const b of all.slice(0, i)) if (a[1] < b[3] - 1 && b[1] < a[3] - 1 && a[2] < b[4] - 1 && b[2] < a[4] - 1) bad.push(title + b[0] + " touches " + a[0]);
		});
	}
	return bad.slice(0, 8).join("; ") + (document.documentElement.scrollWidth > innerWidth ? "; wider than the window: " + document.documentElement.scrollWidth : "");
})()`

// wrapped are head figures, and the texts below them, that are wider than their card, or of more lines than figure and unit.
const wrapped = `[...document.querySelectorAll(".card .big, .card dl div")].filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().height > 2.4 * parseFloat(getComputedStyle(e).fontSize)).map((e) => e.textContent).join("; ")`

// TestTextsOfCharts: in no page does a text of a chart touch another, or leave the chart, nor is a page wider than its window, nor do head
// figures wrap: phone, tablet, laptop, large screen.
func TestTextsOfCharts(t *testing.T) {
	list := maps.Clone(states(t))
	for name, path := range pages(t) {
		if name != "turns" && name != "swim lane" {
			list[name] = path
		}
	}
	for name, path := range list {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openAny(t, "about:blank", 1280)
			p.do(chromedp.ActionFunc(func(ctx context.Context) error {
				_, err := page.AddScriptToEvaluateOnNewDocument(watchTexts).Do(ctx)
				return err
			}))
			p.do(chromedp.Navigate("file://"+path), chromedp.WaitReady(`html[data-ready="true"]`, chromedp.ByQuery))
			for _, width := range []int64{1280, 1920, 900, 360} {
				p.do(emulation.SetDeviceMetricsOverride(width, 900, 1, false))
				p.settled() // the charts learn their new width
				p.settled() // and are drawn
				if bad := p.text(findTexts); bad != "" {
					t.Errorf("%d wide: %s", width, bad)
				}
				if bad := p.text(wrapped); bad != "" {
					t.Errorf("%d wide: head figures wrap: %s", width, bad)
				}
			}
		})
	}
}

// TestWithoutScript: where no script may run, verdict, head figures and tables are there, what is missing is said, and no empty frame is.
func TestWithoutScript(t *testing.T) {
	list := map[string]string{"run": filepath.Join(work, "c6", "report.html"), "sweep": filepath.Join(work, "report.html"), "phases": states(t)["phases"]}
	for name, path := range list {
		p := openAny(t, "about:blank", 1280)
		p.do(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate("file://"+path))
		seen := p.text(`document.body.innerText`)
		for _, want := range []string{"A script inside this page draws", "Settings and command of the run"} {
			if !strings.Contains(seen, want) {
				t.Errorf("%s: without a script the page lacks %q", name, want)
			}
		}
		if name != "sweep" && !(strings.Contains(seen, "Time to first token") && strings.Contains(seen, "p50 of ")) {
			t.Errorf("%s: no head figures", name)
		}
		p.want(`getComputedStyle(document.querySelector(".verdict")).display`, "flex")
		p.want(`[...document.querySelectorAll("[data-chart], #waterfall, .tools")].every((e) => e.getClientRects().length === 0)`, "true")
		p.alone()
	}
}

// TestWholeWords: the key of the picture of requests has a different colour for each word; on paper no key of a setting, no head of a column and no flag is broken.
func TestWholeWords(t *testing.T) {
	p := open(t, "file://"+states(t)["phases"], 794) // A4
	p.want(`(() => { const all = [...document.querySelectorAll("p.legend span[class]")].map((e) => getComputedStyle(e).backgroundColor); return all.length + " " + new Set(all).size; })()`, "5 5")
	p.do(emulation.SetEmulatedMedia().WithMedia("print"), chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil))
	for _, place := range []string{`#settings th[scope="row"]`, `#errors thead th`, `#command .whole`} {
		if broken := p.text(`[...document.querySelectorAll('` + place + `')].filter((e) => {
			const r = document.createRange(), words = e.firstChild;
			return [...words.textContent.matchAll(/\S+/g)].some((m) => { r.setStart(words, m.index); r.setEnd(words, m.index + m[0].length); return r.getClientRects().length > 1; });
		}).map((e) => e.textContent).join()`); broken != "" {
			t.Errorf("broken on paper: %s", broken)
		}
	}
	if got := p.text(`String(document.querySelectorAll('#settings th[scope="row"]').length > 5)`); got != "true" {
		t.Error("there are no settings")
	}
}

// TestPhasesOfARequest: the detail of a request shows its phases as bars, whose times add up to its latency; reasoning is one of them.
func TestPhasesOfARequest(t *testing.T) {
	p := open(t, "file://"+states(t)["phases"], 1280)
	p.do(chromedp.Focus("#waterfall", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	for range 20 { // on a busy machine, all of a request may have arrived together: then it has no such phase
		if p.text(`document.querySelector(".phases")?.textContent.includes("reasoning")`) == "true" {
			break
		}
		p.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	var text string
	p.do(chromedp.Evaluate(`JSON.stringify([...document.querySelectorAll(".phases li:not(.messages)")].map((li) => [li.children[0].textContent, parseFloat(li.lastChild.textContent.replace(",", "")), li.querySelector(".bar")?.getBoundingClientRect().width ?? -1]))`, &text))
	var list [][3]any
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	sum, reasoning := 0.0, false
	for i, one := range list {
		name, ms, wide := one[0].(string), one[1].(float64), one[2].(float64)
		reasoning = reasoning || name == "reasoning"
		switch {
		case i == len(list)-1:
			if name != "request latency" || sum < 0.97*ms || sum > 1.03*ms { // each is rounded to three digits
				t.Errorf("%s of %v ms, its phases %v ms", name, ms, sum)
			}
		case name != "waited in the client":
			sum += ms
			fallthrough
		default:
			if wide < 2 {
				t.Errorf("%s has no bar", name)
			}
		}
	}
	if len(list) < 4 || !reasoning {
		t.Errorf("phases %s", text)
	}
	p.want(`document.querySelector("#key-reason").hidden`, "false")
	p.want(`[...document.querySelectorAll(".bands button")].map((b) => b.textContent).join()`, "Go to warm,Go to low,Go to high")
	p.want(`document.querySelector("#phases").textContent`, "Figures of each phase")
	p.click(`.bands button:last-child`)
	p.want(`document.querySelector(".view").textContent`, " to ")
	p.alone()
}
