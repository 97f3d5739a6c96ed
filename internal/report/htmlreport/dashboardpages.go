package htmlreport

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/measure/comparison"
	"aiperf/internal/report/htmlgen"
	"aiperf/internal/report/runfiles"
)

// first serves the page of the printed address: the list of the runs, or the report of the only one.
func (d *Dashboard) first(w http.ResponseWriter, _ *http.Request) {
	if len(d.Runs) > 1 {
		serveBuilt(w, d.listPage(), nil)
		return
	}
	b, err := d.reportPage(0)
	serveBuilt(w, b, err)
}

// report serves the report of the run whose number is given, with its plots.
func (d *Dashboard) report(w http.ResponseWriter, r *http.Request) {
	i, err := d.number(r.FormValue("run"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	b, err := d.reportPage(i)
	serveBuilt(w, b, err)
}

// number returns the index of a run from an address.
func (d *Dashboard) number(text string) (int, error) {
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= len(d.Runs) {
		return 0, fmt.Errorf("run=%s: there is no such run; numbers are 0 to %d", text, len(d.Runs)-1)
	}
	return i, nil
}

// reportPage builds the report of a run, with its plots at the end.
func (d *Dashboard) reportPage(i int) (*builder, error) {
	b, err := reportOf(d.Runs[i], nil, d.Version)
	if err != nil {
		return nil, err
	}
	if len(d.Runs) > 1 {
		b.Eyebrow, b.Above = b.Eyebrow+" "+d.place(d.Runs[i]).name, allRuns
	}
	b.Sections = append(b.Sections, d.plotSection(d.Runs[i].Dir))
	return b, nil
}

// allRuns is the link from a page to the list of the runs.
var allRuns = el("a", attrs{"href", "./"}, text("← All runs"))

// compare serves the comparison of the runs whose numbers are given: two against each other, more as a series.
func (d *Dashboard) compare(w http.ResponseWriter, r *http.Request) {
	numbers := r.URL.Query()["run"]
	var runs []*runfiles.Run
	for _, text := range numbers {
		i, err := d.number(text)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		runs = append(runs, d.Runs[i])
	}
	if len(runs) < 2 {
		http.Error(w, "a comparison takes at least two runs: run=0&run=1", http.StatusUnprocessableEntity)
		return
	}
	if len(runs) > 2 {
		b, err := d.seriesPage(runs)
		serveBuilt(w, b, err)
		return
	}
	b, err := d.pairPage(runs[0], runs[1])
	if err == nil {
		b.Above += " · " + el("a", attrs{"href", "compare?" + url.Values{"run": {numbers[1], numbers[0]}}.Encode()}, text("Swap A and B"))
	}
	serveBuilt(w, b, err)
}

// pairPage builds the comparison of two runs. Whoever chose them wants to see the figures, so their loads may differ; the page lists what differs.
func (d *Dashboard) pairPage(a, b *runfiles.Run) (*builder, error) {
	var sides [2][]comparison.Run
	for k, one := range []*runfiles.Run{a, b} {
		loaded, err := comparison.Load(one.Dir, 0)
		if err != nil {
			return nil, err
		}
		sides[k] = loaded
	}
	o := comparison.Options{Confidence: 0.95, Noise: 0.01, Different: true, Invalid: true}
	if err := o.SetMargins(nil); err != nil {
		return nil, err
	}
	result, err := comparison.Compare(sides[0], sides[1], o)
	if err != nil {
		return nil, err
	}
	page, err := compareOf(result, d.Version)
	if err != nil {
		return nil, err
	}
	page.Above = allRuns
	return page, nil
}

// seriesPage builds the page that shows several runs as a series.
func (d *Dashboard) seriesPage(runs []*runfiles.Run) (*builder, error) {
	alike := sameTarget(runs)
	cells := cellsOf(runs)
	if !alike { // equal loads of different targets are not repetitions
		cells = nil
		for _, r := range runs {
			cells = append(cells, cell{d.name(r), []*runfiles.Run{r}})
		}
	}
	b, err := sweepOf(runs, cells, d.place, d.Version)
	if err != nil {
		return nil, err
	}
	if !alike {
		b.several(len(runs))
	}
	b.Above = allRuns
	return b, nil
}

// systems serves the page that compares the runs as systems.
func (d *Dashboard) systems(w http.ResponseWriter, r *http.Request) {
	if d.Systems == nil {
		http.NotFound(w, r)
		return
	}
	c, err := d.Systems()
	if err != nil {
		servePage(w, nil, err)
		return
	}
	b := systemsOf(c, d.Version)
	b.Above = allRuns
	serveBuilt(w, b, nil)
}

// serveBuilt serves a page that may ask this server for plots.
func serveBuilt(w http.ResponseWriter, b *builder, err error) {
	var text []byte
	if err == nil {
		text, err = b.served()
	}
	servePage(w, text, err)
}

func servePage(w http.ResponseWriter, text []byte, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text) // an error means that the client has gone
}

// plotSection returns the section with the plots to edit. dir is the run whose plots it has; "" = those of the runs that are chosen on the page.
func (d *Dashboard) plotSection(dir string) section {
	return section{ID: "plots", Title: "Plots", Lead: "The plots of “aiperf plot”: change their settings, hide them, add others, or export them as images.",
		Own: el("div", attrs{"id", "plot-editor", "data-run", dir, "data-given", d.Theme}, node(strings.TrimSpace(asset("plots.html"))))}
}

// plotDialogs are the windows of the plots: messages, the menu of a plot, its settings, and the figures of a run.
var plotDialogs = htmlgen.Node(strings.TrimSpace(asset("dialogs.html")))
