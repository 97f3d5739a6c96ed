package browser

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// makeAgents generates a trace of coding agents with its pages, once, and returns its directory.
var makeAgents = sync.OnceValues(func() (string, error) {
	if err := exec.Command(program, "synthesize", "agentic-code", "--num-sessions", "12", "--seed", "7", "--max-isl", "90000", "--output", filepath.Join(work, "agents")).Run(); err != nil {
		return "", err
	}
	list, err := filepath.Glob(filepath.Join(work, "agents", "default_*"))
	if err != nil {
		return "", err
	}
	return list[0], nil
})

// TestAgents: the simulation says what the simulation engine of the Python tool 0.13.0 says of the same dataset.jsonl (recorded), for the values of
// the form and for others; values that no server has are refused; nothing is loaded.
func TestAgents(t *testing.T) {
	dir, err := makeAgents()
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, "file://"+filepath.Join(dir, "simulation.html"), 1280)
	most := func(field string) string { return `Math.max(...s.series.map((p) => p.` + field + `))` }
	figures := `(() => { const s = window.simulation; return [s.turns, s.evictions, s.missGroup, s.missSession, s.evictedBlocks, ` + most("active") + `, ` + most("prompts") + `, ` + most("blocks") +
		`, Math.round(s.end), Math.round(s.wait), Math.round(s.hitRate * 1e6), Math.round(s.bestHitRate * 1e6)].join(); })()`
	p.want(figures, "79,0,0,0,0,11,684737,974,399005,68472,828432,910494")
	p.want(`document.querySelectorAll("#lanes .uplot").length`, "7")
	p.want(`document.querySelector("#shown").textContent`, " turns")
	for field, value := range map[string]string{"concurrency": "4", "prefill": "20000", "decode": "60", "gigabytes": "4"} {
		p.do(chromedp.SetValue("#"+field, value, chromedp.ByID))
	}
	p.click(`#server-form button`)
	p.want(figures, "79,29,600,516,1933,4,304069,393,467350,35459,783220,910494")
	p.want(`document.querySelectorAll("#lanes .uplot").length`, "7")
	p.do(chromedp.SetValue("#gigabytes", "0", chromedp.ByID))
	p.click(`#server-form button`)
	p.want(`document.querySelector("#said").textContent`, "Cache, GB: a number above 0")
	p.want(figures, "79,29,600,516,1933,4,304069,393,467350,35459,783220,910494")
	p.do(chromedp.Focus("#waterfall", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	p.want(`document.querySelector("#detail").textContent`, "turn 0")
	p.alone()

	p = open(t, "file://"+filepath.Join(dir, "report.html"), 1280)
	p.want(`document.querySelectorAll(".uplot").length`, "17")
	p.click(`a[href="cache_explorer.html"]`)
	p.do(chromedp.WaitReady(`html[data-ready="true"] #sessions svg.layers`, chromedp.ByQuery))
	p.click(`a[href="#session-1"]`)
	p.click(`#session-1 summary`)
	p.want(`document.querySelector("#session-1 table").textContent`, "L3")
}
