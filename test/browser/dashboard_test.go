package browser

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// comes waits, for five seconds at most, until a script gives true.
func (p *tab) comes(script string) {
	p.t.Helper()
	var ok bool
	p.do(chromedp.Evaluate(`new Promise((done) => {
		const until = performance.now() + 5000, look = () => { const is = !!(`+script+`); is || performance.now() > until ? done(is) : setTimeout(look, 20); };
		look();
	})`, &ok, awaited))
	if !ok {
		p.t.Errorf("it never comes that %s", script)
	}
}

// TestDashboardOfOneRun: the dialog of a single run offers what its type of plot can stand along, draws what servers tell, and errors stay in it;
// the keyboard focus stays in place; a run whose files are gone and a program that was stopped are said in words.
func TestDashboardOfOneRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	for name, from := range map[string]string{"a": filepath.Join(work, "c6"), "b": filepath.Dir(states(t)["rate"]), "c": filepath.Join(work, "c2")} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	address := dashboard(t, dir)
	p := open(t, address, 1280)
	p.comes(`document.documentElement.dataset.loaded && document.querySelector("#add")`)
	p.click("#menu")
	tick := func(run, then string) {
		t.Helper()
		p.do(chromedp.Evaluate(`[...document.querySelectorAll(".tick")].find((e) => e.ariaLabel === "Compare `+run+`").click()`, nil))
		p.comes(`document.querySelector("#mode").textContent.startsWith("` + then + `") && document.querySelector("#add")`)
	}
	tick("a", "Comparing 2 of 3")
	tick("c", "Plots of one run: b")

	xs := `[...document.querySelector("#edit form").x.options].filter((o) => !o.disabled).map((o) => o.value)`
	choose := func(type_ string) string {
		p.do(chromedp.Evaluate(`(() => { const f = document.querySelector("#edit form"); f.type.value = "`+type_+`"; f.type.onchange(); })()`, nil))
		return p.text(xs)
	}
	p.click("#add")
	for type_, want := range map[string]string{"timeslice": "Timeslice", "area": "timestamp_s", "dual_axis": "timestamp_s", "request_timeline": "request_start_ns"} {
		if got := choose(type_); got != want {
			t.Errorf("%s along %s", type_, got)
		}
	}
	if got := choose("scatter"); !strings.HasPrefix(got, "request_number,timestamp,") || strings.Contains(got, "Timeslice") {
		t.Errorf("scatter along %s", got)
	}
	stats := `(() => { const f = document.querySelector("#edit form"); f.y.value = "%s"; f.y.onchange(); return [...f.ystat.options].map((o) => o.value); })()`
	if got := p.text(fmt.Sprintf(stats, "request_latency")); got != "" {
		t.Errorf("a scatter of single requests offers the statistics %q", got)
	}
	choose("timeslice")
	latency, none := p.text(fmt.Sprintf(stats, "request_latency")), p.text(fmt.Sprintf(stats, "active_requests"))
	if !strings.Contains(latency, "p99") || none != "" {
		t.Errorf("time slices offer %q of the latency and %q of what they do not have", latency, none)
	}
	choose("scatter")
	// a gauge of the server, whose name does not say that it is one
	gauge := p.text(`(() => { const y = document.querySelector("#edit form").y; return y.value = y.querySelector('[label="Server metrics"] option').value; })()`)
	p.click("#save-new")
	p.comes(`[...document.querySelectorAll(".plot h3")].at(-1).textContent.includes("` + gauge + `")`)
	// the dialog says what cannot be drawn
	p.click("#add")
	choose("percentile_bands")
	p.do(chromedp.Evaluate(`document.querySelector("#edit form").y.value = "request_latency"`, nil))
	p.click("#save-new")
	p.comes(`document.querySelector("#fault").textContent.includes("missing")`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.comes(`!document.querySelector("#edit").open`)

	p.do(chromedp.Focus(`.plot [aria-label="Large"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	p.comes(`document.activeElement.ariaLabel === "Small" && document.activeElement.closest(".plot").classList.contains("large")`)
	p.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	p.comes(`document.querySelector("#edit").open`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.comes(`document.activeElement.ariaLabel.startsWith("Settings of")`)
	names := p.text(`[...document.querySelectorAll("button, select, input")].filter((e) => !(e.ariaLabel || e.textContent.trim() || e.labels?.length)).length`)
	if names != "0" {
		t.Errorf("%s controls without a name", names)
	}

	// a run is deleted before anybody looked at it
	if err := os.RemoveAll(filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	tick("c", "Comparing 2")
	tick("b", "Plots of one run: c")
	p.comes(`document.querySelector("#missing").textContent.includes("profile_export.jsonl does not exist")`)
	if len(p.complain) > 0 {
		t.Error(p.complain)
	}
}

// TestDashboardPages: the list leads to the report of each run with its plots, to a comparison of the chosen runs and to the page of systems, with the token
// of its address; each of these leads back.
func TestDashboardPages(t *testing.T) {
	address := dashboard(t, work, "--host", "0.0.0.0")
	list := open(t, strings.Replace(address, "0.0.0.0", "127.0.0.1", 1), 1280)
	list.comes(`document.querySelector("#add")`)
	list.want(`document.querySelector("#compare").textContent`, "Compare the two runs")
	list.click("button.figures")
	list.comes(`document.querySelector("dialog#run").open`)
	href := func(selector string) string { return list.text(`document.querySelector("` + selector + `").href`) }
	report := href("#run-body a")
	for page, want := range map[string]string{href("#systems"): "#points tbody tr", report: "#waterfall", href("#compare"): "table.forest", href("#runs th a"): "#plot-editor"} {
		one := open(t, page, 1280)
		one.comes(`document.querySelector(".above a") && document.querySelector("` + want + `")`)
		if back := one.text(`document.querySelector(".above a").href`); !strings.HasPrefix(back, list.text(`location.origin + "/?token="`)) {
			t.Errorf("%s leads back to %s", page, back)
		}
		if one.text(`document.querySelector("#plot-editor") !== null`) == "true" {
			one.comes(`document.querySelectorAll(".plot .uplot").length > 3`)
		}
		if len(one.complain) > 0 {
			t.Errorf("%s: %v", page, one.complain)
		}
	}
	got, err := http.Get(strings.Replace(report, "run=", "run=9", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusNotFound {
		t.Errorf("a run that does not exist: %s", got.Status)
	}
	// one of two runs cannot be compared; the tick of all runs brings the others back
	list.click("#run-close")
	list.click(".tick")
	list.comes(`document.querySelector("#compare").hidden && document.querySelector("#mode").textContent.startsWith("Plots of one run")`)
	list.want(`document.querySelector("#groups input").indeterminate`, "true")
	list.click("#groups input")
	list.comes(`!document.querySelector("#compare").hidden && document.querySelector("#mode").textContent.startsWith("Comparing 2")`)
}

// TestDashboardIsStopped: controls of a page whose program does not answer say so.
func TestDashboardIsStopped(t *testing.T) {
	p := open(t, dashboard(t, work), 1280)
	p.comes(`document.querySelector("#add")`)
	p.do(chromedp.Evaluate(`window.fetch = () => Promise.reject(new TypeError("Failed to fetch"))`, nil))
	p.click("button.figures")
	p.comes(`document.querySelector("#toast").textContent.includes("it was stopped")`)
}

// TestDashboardElsewhere: bound to another address than the loopback, the printed address carries a token, the page works with it and is refused
// without; nobody else's page may hold it in a frame.
func TestDashboardElsewhere(t *testing.T) {
	address := dashboard(t, work, "--host", "0.0.0.0")
	if !strings.Contains(address, "?token=") {
		t.Fatalf("%s has no token", address)
	}
	address = strings.Replace(address, "0.0.0.0", "127.0.0.1", 1)
	p := open(t, address, 1280)
	p.comes(`document.querySelectorAll(".plot .uplot").length === 4`)
	bare, _, _ := strings.Cut(address, "?")
	resp, err := http.Get(bare) // the browser has the cookie by now
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), "the token is missing") {
		t.Errorf("without the token: %s, %s, %v", resp.Status, text, err)
	}
}
