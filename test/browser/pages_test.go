package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// tools is where the Makefile puts axe-core and html-validate (package.json).
const tools = "../../.node/pages/node_modules"

// makePages writes all kinds of pages that the program has, once.
var makePages = sync.OnceValues(func() (map[string]string, error) {
	compared, lanes := filepath.Join(work, "compare.html"), filepath.Join(work, "lanes.png")
	for _, words := range [][]string{
		{"compare", filepath.Join(work, "c2"), filepath.Join(work, "c6"), "--allow-different-work", "--allow-invalid", "--html", compared},
		{"analyze", "swim-lane", filepath.Join(work, "c6"), "--html", "-o", lanes},
		{"analyze", "turn-messages", filepath.Join(work, "c6")},
	} {
		if out, err := exec.Command(program, words...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
	}
	agents, err := makeAgents()
	if err != nil {
		return nil, err
	}
	systems, err := makeSystems()
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"systems": systems,
		"agents":  filepath.Join(agents, "report.html"), "agents' cache": filepath.Join(agents, "cache_explorer.html"), "agents' simulation": filepath.Join(agents, "simulation.html"),
		"run": filepath.Join(work, "c6", "report.html"), "sweep": filepath.Join(work, "report.html"), "comparison": compared,
		"swim lane": filepath.Join(work, "lanes.html"), "turns": filepath.Join(work, "c6", "turn_messages.html"),
	}, nil
})

// pages are all kinds of pages, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	list, err := makePages()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestValid: html-validate finds no error in any page, with its recommended rules (styles of the page stand in it: a report is one file).
func TestValid(t *testing.T) {
	words := []string{"--config", "htmlvalidate.json", "../../internal/report/htmlreport/assets/dashboard.html"}
	for _, path := range pages(t) {
		words = append(words, path)
	}
	for _, path := range states(t) {
		words = append(words, path)
	}
	if out, err := exec.Command(filepath.Join(tools, ".bin", "html-validate"), words...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// violation is what axe says of a page.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML string }
}

// accessible fails where axe finds anything in the page as it is now.
func (p *tab) accessible(name, axe string) {
	p.t.Helper()
	var text string
	p.do(chromedp.Evaluate(axe+`; ""`, &text), chromedp.Evaluate(`axe.run(document, { resultTypes: ["violations"] }).then((r) => JSON.stringify(r.violations))`, &text,
		awaited))
	var list []violation
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range list {
		p.t.Errorf("%s: %s (%s): %s: %.200s", name, v.ID, v.Impact, v.Help, v.Nodes[0].HTML)
	}
}

// TestAccessible: axe finds nothing in any page, on a phone and a laptop, light and dark; nor in those of a run and a sweep on a large screen.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(tools, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(states(t))
	maps.Copy(all, pages(t))
	for name, path := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openAny(t, "file://"+path, 1280)
			for _, c := range []struct {
				width int64
				theme string
			}{{1280, "light"}, {1920, "light"}, {390, "dark"}} {
				if c.width == 1920 && name != "run" && name != "sweep" {
					continue // the others are these pages with less on them
				}
				p.do(emulation.SetDeviceMetricsOverride(c.width, 900, 1, false), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: c.theme}}))
				p.settled()
				p.accessible(name+", "+c.theme, string(axe))
			}
		})
	}
	t.Run("dashboard", func(t *testing.T) {
		t.Parallel()
		p := open(t, dashboard(t, work), 1280)
		p.do(chromedp.WaitReady(`html[data-loaded="true"]`, chromedp.ByQuery))
		p.settled()
		p.accessible("dashboard", string(axe))
		p.click("#menu")
		p.click("#add")
		p.do(chromedp.WaitVisible("#edit", chromedp.ByQuery))
		p.accessible("dashboard with its dialog", string(axe))
	})
}
