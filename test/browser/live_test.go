package browser

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// liveRun starts a run with a live page and returns the address of the page, and a function that waits for the end of the run.
func liveRun(t *testing.T, flags ...string) (address string, end func()) {
	t.Helper()
	run := exec.Command(program, append([]string{"profile", "--url", "mock://?ttft=10ms&itl=2ms&tokens=16&jitter=0.5&error-rate=0.05&seed=3", "-m", "demo", "--tokenizer", "builtin", "--streaming",
		"--random-seed", "1", "--artifact-dir", filepath.Join(t.TempDir(), "run"), "--web=0"}, flags...)...)
	said, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	found := make(chan string, 1)
	go func() {
		for in := bufio.NewScanner(said); in.Scan(); {
			if _, at, ok := strings.Cut(in.Text(), "live page of this run: "); ok {
				found <- at
			}
		}
		close(found)
		done <- run.Wait()
	}()
	t.Cleanup(func() { _ = run.Process.Kill() })
	if address = <-found; address == "" {
		t.Fatal("no address of a live page was printed")
	}
	return address, func() {
		if err := <-done; err != nil {
			t.Errorf("the run: %v", err)
		}
	}
}

// comesLive waits until a script gives true.
func (p *tab) comesLive(script string) {
	p.t.Helper()
	for range 200 {
		if p.text(script) == "true" {
			return
		}
		p.do(chromedp.Sleep(50 * time.Millisecond))
	}
	p.t.Fatalf("%s stays %s; the page complains of %v", script, p.text(script), p.complain)
}

// shot stores a picture of the page in the directory of BROWSER_SHOTS, if it is set.
func (p *tab) shot(name string) {
	if dir := os.Getenv("BROWSER_SHOTS"); dir != "" {
		var picture []byte
		p.do(chromedp.FullScreenshot(&picture, 100))
		if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
			p.t.Error(err)
		}
	}
}

// number is the number that begins a text of the page.
func (p *tab) number(script string) float64 {
	p.t.Helper()
	v, err := strconv.ParseFloat(strings.Fields(p.text(script) + " x")[0], 64)
	if err != nil {
		p.t.Errorf("%s is %q", script, p.text(script))
	}
	return v
}

// TestLive: the page of a run in progress shows cards, lanes, validity and log, which change every second, on a phone and a laptop, light and dark;
// at the end it has the report.
func TestLive(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(filepath.Join(tools, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	address, end := liveRun(t, "--request-rate", "60", "--benchmark-duration", "16", "--goodput", "time_to_first_token:12")
	p := open(t, address, 1280)
	p.comesLive(`document.querySelectorAll(".lane .uplot").length >= 4 && document.querySelectorAll(".spark path").length >= 5`)
	p.want(`document.querySelector("h1").textContent`, "demo")
	p.comesLive(`document.querySelector("#verdict").textContent.length > 0 && document.querySelector(".verdict").textContent.includes("Provisional")`)
	p.want(`document.querySelector("#health").textContent`, "Schedule lag, p99")
	p.want(`document.querySelector("#part-cards").textContent`, "Goodput")
	p.comesLive(`document.querySelector("#errors").textContent.includes("Count")`)
	p.want(`document.querySelector("#slowest tbody").children.length > 0`, "true")
	p.want(`document.querySelector("#connection").hidden`, "true")
	if rate := p.number(`document.querySelector(".card .big").textContent`); rate < 30 || rate > 80 {
		t.Errorf("60 requests/s were asked for, the card says %v", rate)
	}
	first := p.number(`document.documentElement.dataset.live`)
	points := `document.querySelector(".lane canvas").toDataURL()`
	for _, c := range []struct {
		width int64
		theme string
	}{{1280, "light"}, {390, "dark"}} {
		p.do(emulation.SetDeviceMetricsOverride(c.width, 900, 1, false), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: c.theme}}))
		p.settled()
		p.want(`document.documentElement.dataset.theme`, c.theme)
		p.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
		p.accessible("live, "+c.theme, string(axe))
		p.shot("live-" + c.theme)
	}
	p.do(chromedp.Evaluate(`document.querySelector(".lane").scrollIntoView({ behavior: "instant" })`, nil))
	p.settled()
	before, canvas := p.text(points), p.text(`(window.kept = document.querySelector(".lane canvas")) && 1`)
	p.comesLive(`+document.documentElement.dataset.live >= ` + strconv.Itoa(int(first)+3))
	p.comesLive(points + ` !== ` + strconv.Quote(before))
	p.want(`window.kept === document.querySelector(".lane canvas")`, "true")
	if canvas != "1" {
		t.Error("there was no lane")
	}
	p.comesLive(`(() => { const u = document.querySelector(".lane").uplot, g = u.ctx.getImageData(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height).data; let n = 0; for (let i = 3; i < g.length; i += 4) n += g[i] > 0; return n > 500 && u.scales.x.max > 4; })()`)
	// a zoom and open details stay while figures change
	p.do(chromedp.Evaluate(`document.querySelector('[data-clock="in"]').click(); document.querySelector("#figures details").open = true`, nil))
	now := p.number(`document.documentElement.dataset.live`)
	p.comesLive(`+document.documentElement.dataset.live >= ` + strconv.Itoa(int(now)+2))
	p.want(`document.querySelector(".view").textContent`, " to ")
	p.want(`document.querySelector("#figures details").open`, "true")

	p.comesLive(`document.querySelector("#connection").textContent.startsWith("The run is over")`)
	end()
	p.want(`document.querySelector("#report").href`, "blob:")
	p.want(`document.querySelector("#save").href`, "blob:")
	p.shot("live-over")
	p.do(chromedp.Evaluate(`location.href = document.querySelector("#report").href`, nil))
	p.comesLive(`!!document.querySelector("#waterfall") && document.documentElement?.dataset.ready === "true"`)
	p.want(`document.querySelector(".eyebrow").textContent`, "Benchmark run")
	p.shot("live-report")
	if len(p.complain) > 0 {
		t.Errorf("the page complains of %v", p.complain)
	}
}

// TestLiveSeries: the page of a series shows its finished runs as a table and curves that grow; at the end it has the report of the series.
func TestLiveSeries(t *testing.T) {
	address, end := liveRun(t, "--concurrency", "1,2,4", "--benchmark-duration", "4")
	p := open(t, address, 1280)
	p.comesLive(`document.querySelector("#part-head .eyebrow")?.textContent.startsWith("Series of runs")`)
	p.comesLive(`document.querySelectorAll("#series tbody tr").length === 1 && document.querySelector(".stage").textContent.startsWith("Run 2 of 3")`)
	p.want(`document.querySelector("#series .lead").textContent`, "left for the series")
	p.comesLive(`document.querySelectorAll("#series tbody tr").length === 2 && document.querySelectorAll("#series .uplot").length >= 3`)
	p.shot("live-series")
	p.comesLive(`document.querySelector("#connection").textContent.startsWith("The run is over")`)
	end()
	p.do(chromedp.Evaluate(`location.href = document.querySelector("#report").href`, nil))
	p.comesLive(`document.documentElement?.dataset.ready === "true" && document.querySelectorAll("#cells tbody tr").length === 3`)
	if len(p.complain) > 0 {
		t.Errorf("the page complains of %v", p.complain)
	}
}

// TestLiveInFirefox: the live page works in Firefox, too, and asks only its own server.
func TestLiveInFirefox(t *testing.T) {
	t.Parallel()
	f := openFirefox(t) // before the run: a start takes seconds
	address, end := liveRun(t, "--request-rate", "40", "--benchmark-duration", "15")
	f.open(address)
	f.text(until("live"))
	f.text(`new Promise((done) => { const look = () => document.querySelectorAll(".lane .uplot").length >= 3 && +document.documentElement.dataset.live > 3 ? done("") : setTimeout(look, 20); look(); })`)
	if got := f.text(`document.querySelector(".card .big").textContent`); strings.HasPrefix(got, "0 ") || !strings.Contains(got, "requests/s") {
		t.Errorf("the first card says %q", got)
	}
	f.text(`new Promise((done) => { const look = () => document.querySelector("#report") ? done("") : setTimeout(look, 50); look(); })`)
	if got := f.text(`document.querySelector("#save").href`); !strings.HasPrefix(got, "blob:") {
		t.Errorf("the report is at %q", got)
	}
	end()
	if f.complaints != nil {
		t.Errorf("%v", f.complaints)
	}
}

// TestLiveBehindAProxy: the page works below a path, and costs a browser less than 30 % of a core.
func TestLiveBehindAProxy(t *testing.T) {
	address, end := liveRun(t, "--request-rate", "200", "--benchmark-duration", "14")
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(http.StripPrefix("/runs/7", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: to.Host})
	}}))
	defer proxy.Close()
	p := open(t, proxy.URL+"/runs/7/?"+to.RawQuery, 1280)
	p.comesLive(`document.querySelectorAll(".lane .uplot").length >= 3`)
	busy := func() (seconds float64) {
		p.do(chromedp.ActionFunc(func(ctx context.Context) error {
			list, err := performance.GetMetrics().Do(ctx)
			for _, m := range list {
				if m.Name == "TaskDuration" {
					seconds = m.Value
				}
			}
			return err
		}))
		return seconds
	}
	p.do(performance.Enable())
	before, from := busy(), time.Now()
	p.do(chromedp.Sleep(8 * time.Second))
	share := 100 * (busy() - before) / time.Since(from).Seconds()
	t.Logf("the page uses %.1f %% of a core", share)
	if share > 30 {
		t.Errorf("the page uses %.0f %% of a core", share)
	}
	p.comesLive(`document.querySelector("#report") !== null`)
	end()
	for _, one := range p.loaded {
		if !strings.HasPrefix(one, proxy.URL+"/runs/7/") && !strings.HasPrefix(one, "data:") {
			t.Errorf("the page asked for %s", one)
		}
	}
}
