package browser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// point is a measured run of the test's systems, with figures that are computed here from its files.
type point struct {
	name                   string // as the page has it
	gpus                   float64
	tokensPerSecond, speed float64
	ttft                   map[string]float64 // percentiles, ms
}

// makeSystems measures two simulated systems, each under two loads, and writes the page that compares them.
var makeSystems = sync.OnceValues(func() (string, error) {
	if _, err := makeStates(); err != nil { // which would disturb these measurements
		return "", err
	}
	for name, server := range map[string]string{"quick": "ttft=8ms&itl=2ms", "slow": "ttft=16ms&itl=3ms"} {
		for _, concurrency := range []string{"1", "6"} {
			if out, err := exec.Command(program, "profile", "--url", "mock://?"+server+"&tokens=12&jitter=0.2&seed=5", "-m", "demo", "--tokenizer", "builtin", "--streaming",
				"--concurrency", concurrency, "--request-count", "110", "--random-seed", "1", "--artifact-dir", filepath.Join(work, "..", "systems", name, "c"+concurrency)).CombinedOutput(); err != nil {
				return "", fmt.Errorf("%w\n%s", err, out)
			}
		}
	}
	dir := filepath.Join(work, "..", "systems")
	if out, err := exec.Command(program, "plot", "--html", filepath.Join(dir, "quick"), filepath.Join(dir, "slow"), filepath.Join(dir, "absent"),
		"--label", "Q", "--label", "S", "--label", "X", "--gpus", "4,1,1", "--gpu-hour-price", "2", "--output", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return filepath.Join(dir, "systems.html"), nil
})

// pointsOf reads the runs: throughput from the tokens and the duration, percentiles and speed from the records.
func pointsOf(t *testing.T) (list []point) {
	t.Helper()
	for _, one := range []struct {
		dir, name string
		gpus      float64
	}{{"quick/c1", "Q, concurrency 1", 4}, {"quick/c6", "Q, concurrency 6", 4}, {"slow/c1", "S, concurrency 1", 1}, {"slow/c6", "S, concurrency 6", 1}} {
		dir := filepath.Join(work, "..", "systems", one.dir)
		p := point{name: one.name, gpus: one.gpus, ttft: map[string]float64{}}
		text, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
		if err != nil {
			t.Fatal(err)
		}
		var summary struct {
			Duration struct{ Avg float64 } `json:"benchmark_duration"`
		}
		if err := json.Unmarshal(text, &summary); err != nil {
			t.Fatal(err)
		}
		if text, err = os.ReadFile(filepath.Join(dir, "profile_export.jsonl")); err != nil {
			t.Fatal(err)
		}
		var tokens float64
		var ttft, speed []float64
		for line := range strings.Lines(string(text)) {
			var r struct {
				Metrics map[string]struct{ Value any }
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			value := func(tag string) float64 { v, _ := r.Metrics[tag].Value.(float64); return v }
			tokens += value("output_sequence_length")
			ttft, speed = append(ttft, value("time_to_first_token")), append(speed, value("output_token_throughput_per_user"))
		}
		p.tokensPerSecond, p.speed = tokens/summary.Duration.Avg, quantile(speed, 50)
		for _, at := range []float64{50, 90, 99} {
			p.ttft[fmt.Sprintf("p%g", at)] = quantile(ttft, at)
		}
		list = append(list, p)
	}
	return list
}

// quantile interpolates between the closest ranks.
func quantile(v []float64, p float64) float64 {
	slices.Sort(v)
	rank := p / 100 * float64(len(v)-1)
	low := int(rank)
	return v[low] + (rank-float64(low))*(v[min(low+1, len(v)-1)]-v[low])
}

// frontOf returns the names of the points that no other point of their system beats, by a walk from the best horizontal value.
func frontOf(list []point, y func(point) float64) (names []string) {
	for _, system := range []string{"Q", "S"} {
		own := slices.DeleteFunc(slices.Clone(list), func(p point) bool { return !strings.HasPrefix(p.name, system) })
		slices.SortFunc(own, func(a, b point) int { return cmp.Compare(b.speed, a.speed) })
		highest := math.Inf(-1)
		for _, p := range own {
			if y(p) > highest {
				highest, names = y(p), append(names, p.name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// systemsDriver drives the page by scripts, which both browsers run.
type systemsDriver struct {
	t  *testing.T
	of func(script string) string
}

// set changes a control as a user would: its value, or its tick for "on" and "off".
func (d *systemsDriver) set(id, value string) {
	d.t.Helper()
	before := d.of(`document.documentElement.dataset.drawn`)
	script := fmt.Sprintf(`(() => { const e = document.getElementById(%q); if (e.type === "checkbox") e.checked = %t; else { e.value = %q; if (e.value !== %[3]q && e.type !== "range") throw new Error(e.id + " cannot be " + %[3]q); } for (const n of ["input", "change"]) e.dispatchEvent(new Event(n, { bubbles: true })); return ""; })()`, id, value == "on", value)
	d.of(script)
	d.drawn(before)
}

// drawn waits until the page is drawn again.
func (d *systemsDriver) drawn(before string) {
	d.t.Helper()
	if got := d.of(`new Promise((done) => { const until = performance.now() + 5000, look = () => document.documentElement.dataset.drawn !== ` + strconv.Quote(before) + ` ? done("yes") : performance.now() > until ? done("no") : setTimeout(look, 10); look(); })`); got != "yes" {
		d.t.Error("the page is not drawn again")
	}
}

func (d *systemsDriver) best() string { return d.of(`document.querySelector("#best").textContent`) }

// passing returns the names of the points with a text in the column "Passes".
func (d *systemsDriver) passing(text string) string {
	return d.of(`[...document.querySelectorAll("#points tbody tr")].filter((tr) => tr.querySelector(".why").textContent.startsWith(` + strconv.Quote(text) + `)).map((tr) => tr.firstElementChild.firstChild.textContent).sort().join("; ")`)
}

// number returns the first number of a text after a word.
func number(t *testing.T, text, after string) float64 {
	t.Helper()
	_, rest, _ := strings.Cut(text, after)
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.Fields(rest + " x")[0], ",", ""), 64)
	if err != nil {
		t.Errorf("%q has no number after %q", text, after)
	}
	return v
}

// drive uses every control and compares the answers with those computed from the files.
func (d *systemsDriver) drive(list []point) {
	t := d.t
	t.Helper()
	perGPU := func(p point) float64 { return p.tokensPerSecond / p.gpus }
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.01*want {
			t.Errorf("%s: the page says %g, the files %g", what, got, want)
		}
	}
	d.set("doubtful", "on") // a machine with other work makes runs uncertain
	top := slices.MaxFunc(list, func(a, b point) int { return cmp.Compare(perGPU(a), perGPU(b)) })
	text := d.best()
	if !strings.HasPrefix(text, "4 of 4 points pass. Best by output throughput per GPU: "+top.name+", ") {
		t.Errorf("%s; the files say %s", text, top.name)
	}
	near("best throughput per GPU", number(t, text, top.name+", "), perGPU(top))
	if got, want := d.passing("yes, on the frontier"), strings.Join(frontOf(list, perGPU), "; "); got != want {
		t.Errorf("frontier %s, want %s", got, want)
	}

	// limits: between the values of the points, so that some pass
	for _, stat := range []string{"p50", "p90", "p99"} {
		d.set("ttft-stat", stat)
		sorted := slices.SortedFunc(slices.Values(list), func(a, b point) int { return cmp.Compare(a.ttft[stat], b.ttft[stat]) })
		limit := (sorted[1].ttft[stat] + sorted[2].ttft[stat]) / 2
		d.set("ttft-limit", fmt.Sprintf("%.4f", limit))
		keep := slices.DeleteFunc(slices.Clone(list), func(p point) bool { return p.ttft[stat] > limit })
		best := slices.MaxFunc(keep, func(a, b point) int { return cmp.Compare(perGPU(a), perGPU(b)) })
		if got := d.best(); !strings.HasPrefix(got, fmt.Sprintf("%d of 4 points pass. ", len(keep))) || !strings.Contains(got, ": "+best.name+",") {
			t.Errorf("TTFT %s up to %g: %s; the files say %d, %s", stat, limit, got, len(keep), best.name)
		}
		if got := d.passing("no: TTFT " + stat); strings.Count(got, ";")+1 != 4-len(keep) {
			t.Errorf("TTFT %s: these fail: %s", stat, got)
		}
	}
	if got := d.of(`String(document.querySelectorAll("#points tr.fails").length)`); got != "2" {
		t.Errorf("%s rows are grey", got)
	}
	d.set("ttft-range", "0") // the slider goes below every point
	if got := d.best(); got != "No point passes." {
		t.Errorf("with the lowest limit: %s", got)
	}
	d.set("ttft-range", "200") // its end means no limit
	for _, id := range []string{"itl", "e2e"} {
		d.set(id+"-limit", "0.001")
		if got := d.best(); got != "No point passes." {
			t.Errorf("%s up to 0.001 ms: %s", id, got)
		}
		before := d.of(`document.documentElement.dataset.drawn`)
		d.of(`document.querySelector("#clear").click() ?? ""`)
		d.drawn(before)
		if got := d.best(); !strings.HasPrefix(got, "4 of 4 points pass.") {
			t.Errorf("without limits: %s", got)
		}
	}
	d.set("failed", "0")
	if got := d.best(); !strings.HasPrefix(got, "4 of 4 points pass.") {
		t.Errorf("none failed: %s", got)
	}

	// cost: the best is the cheapest; a price changes it
	d.set("trade-y", "cost-output")
	cost := func(price map[string]float64) func(p point) float64 {
		return func(p point) float64 { return price[p.name[:1]] / 3600 * p.gpus * (1e6 / p.tokensPerSecond) }
	}
	for _, price := range []map[string]float64{{"Q": 2, "S": 2}, {"Q": 0.01, "S": 2}} {
		if price["Q"] != 2 {
			before := d.of(`document.documentElement.dataset.drawn`)
			d.of(`(() => { const e = document.querySelector("#systems input"); e.value = "0.01"; e.dispatchEvent(new Event("input", { bubbles: true })); return ""; })()`)
			d.drawn(before)
		}
		of := cost(price)
		cheapest := slices.MinFunc(list, func(a, b point) int { return cmp.Compare(of(a), of(b)) })
		text := d.best()
		if !strings.Contains(text, ": "+cheapest.name+", ") {
			t.Errorf("prices %v: %s; the files say %s", price, text, cheapest.name)
			continue
		}
		near("lowest cost", number(t, text, cheapest.name+", "), of(cheapest))
		for i, p := range list {
			near("cost of "+p.name, number(t, d.of(fmt.Sprintf(`document.querySelectorAll("#points [data-name^='Cost'] span")[%d].textContent`, i)), ""), of(p))
		}
	}

	// the other controls: what they do is seen on the page
	header := func(id string) string {
		return d.of(`(() => { const e = document.querySelector("#` + id + ` details"); e.open = true; e.dispatchEvent(new Event("toggle")); return [...e.querySelectorAll("thead th")].map((h) => h.textContent).join(" | "); })()`)
	}
	for id, want := range map[string]string{"trade-y": "output", "trade-x": "ttft-p90", "growth-y": "itl", "growth-stat": "p90", "growth-x": "achieved"} {
		d.set(id, want)
	}
	for _, id := range []string{"trade-log-x", "trade-log-y", "growth-log-x", "growth-log-y"} {
		d.set(id, "on")
	}
	if got := header("trade-chart"); got != "Series | TTFT p90 (ms), logarithmic | Output throughput (tokens/s), logarithmic" {
		t.Error(got)
	}
	if got := header("growth-chart"); got != "Series | Requests (requests/s), logarithmic | ITL p90 (ms), logarithmic" {
		t.Error(got)
	}
	d.set("color-by", "phases.concurrency")
	if got := d.of(`[...document.querySelectorAll("#best-of strong")].map((e) => e.textContent).join()`); got != "1: ,6: " {
		t.Errorf("colours by concurrency: %s", got)
	}
	before := d.of(`document.documentElement.dataset.drawn`)
	d.of(`document.querySelectorAll("#switches input")[0].click() ?? ""`)
	d.drawn(before)
	if got := d.best(); !strings.HasPrefix(got, "2 of 2 points pass.") || !strings.Contains(got, ": S, ") {
		t.Errorf("with one system hidden: %s", got)
	}
	d.of(`document.querySelectorAll("#points tbody button")[3].click() ?? ""`)
	chosen := d.of(`document.querySelector("#chosen").textContent`)
	for _, want := range []string{"S, concurrency 6", "1 GPU", "phases.concurrency6", "models.items.name: demo", "endpoint.streaming: true"} {
		if !strings.Contains(chosen, want) {
			t.Errorf("the configuration lacks %q: %.300s", want, chosen)
		}
	}
}

// awaited makes a script's promise be waited for.
func awaited(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// TestSystems: every control of the page that compares systems, in Chromium; the answers are those of the files. The address keeps the view.
func TestSystems(t *testing.T) {
	path, err := makeSystems()
	if err != nil {
		t.Fatal(err)
	}
	list := pointsOf(t)
	p := open(t, "file://"+path, 1280)
	d := &systemsDriver{t, func(script string) string {
		var out string
		p.do(chromedp.Evaluate(`Promise.resolve(`+script+`).then(String)`, &out, awaited))
		return out
	}}
	d.drive(list)
	view := d.of(`[document.querySelector("#best").textContent, document.querySelector("#trade-x").value, document.querySelector("#color-by").value, document.querySelector("#systems input").value].join("|")`)
	again := open(t, p.text(`location.href`), 1280)
	if got := again.text(`[document.querySelector("#best").textContent, document.querySelector("#trade-x").value, document.querySelector("#color-by").value, document.querySelector("#systems input").value].join("|")`); got != view {
		t.Errorf("the address gives %s, not %s", got, view)
	}

	// a pointer on a mark shows the point and its configuration
	fresh := open(t, "file://"+path+"#doubtful=1", 1280)
	fresh.text(`document.querySelector("#trade-chart").scrollIntoView({ behavior: "instant", block: "center" })`)
	fresh.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const u = document.querySelector("#trade-chart figure").uplot; u.setCursor({ left: u.valToPos(%.9f, "x"), top: u.valToPos(%.9f, "y") }); })()`, list[3].speed, list[3].tokensPerSecond), nil))
	fresh.comes(`document.querySelector("#trade-chart .tip").textContent.includes("S · ") && document.querySelector("#trade-chart .tip").textContent.includes("concurrency 6") && document.querySelector("#chosen").textContent.includes("S, concurrency 6")`)
	if note := fresh.text(`document.querySelector(".verdict").textContent`); !strings.Contains(note, "absent does not exist; it is skipped.") {
		t.Errorf("the note says %q", note)
	}
	for _, tab := range []*tab{p, again, fresh} {
		if len(tab.complain) > 0 {
			t.Error(tab.complain)
		}
	}
}

// TestSystemsInFirefox: the same there.
func TestSystemsInFirefox(t *testing.T) {
	path, err := makeSystems()
	if err != nil {
		t.Fatal(err)
	}
	f := openFirefox(t)
	f.open("file://" + path)
	f.text(until("ready"))
	(&systemsDriver{t, f.text}).drive(pointsOf(t))
	if len(f.complaints) > 0 {
		t.Error(f.complaints)
	}
}
