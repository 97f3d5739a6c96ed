package htmlreport

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/plots"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/systems"
)

// Dashboard serves reports and plots of runs: the list of the runs, the report of each, comparisons, and plots to edit. It has no state between
// requests: a user's changes exist only in the browser tab.
type Dashboard struct {
	Runs    []*runfiles.Run
	Config  *plots.Config
	Theme   string // of a browser that has not chosen one
	Version string
	Systems func() (*systems.Comparison, error) // compares the runs as systems; nil = there is no such page
}

// Handler serves the page and the requests of its script.
func (d *Dashboard) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", d.first)
	mux.HandleFunc("GET /report", d.report)
	mux.HandleFunc("GET /compare", d.compare)
	mux.HandleFunc("GET /systems", d.systems)
	mux.HandleFunc("POST /api/plots", answer(d.plots))
	mux.HandleFunc("POST /api/run", answer(d.run))
	mux.HandleFunc("POST /api/export", d.export)
	return d.protected(mux)
}

// most is the size of the largest request body, in bytes.
const most = 1 << 20

// protected sets headers that make browsers run only the page's own scripts.
func (d *Dashboard) protected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, most)
		next.ServeHTTP(w, r)
	})
}

// answer returns a handler that decodes a question and encodes the answer as JSON.
func answer[Q, A any](f func(Q) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a, err := f(q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(a); err != nil {
			return // the client has gone
		}
	}
}

// question selects runs and plots.
type question struct {
	Runs  []string // directories; nil = all
	Theme string
	Plots []plotRequest // nil = the defaults of the settings

	Format string // of an export: png, svg, html
	Size   string
}

// plotRequest selects a plot: one of the settings file by name, or one with its own settings.
type plotRequest struct {
	Name     string
	Settings map[string]any
}

// pagePlot is a plot in the form that the page receives.
type pagePlot struct {
	Name     string
	Settings map[string]any
	Chart    json.RawMessage `json:",omitempty"`
	Missing  string          // why there is no chart
}

// state is the answer for the page.
type state struct {
	Multi   bool
	Chosen  []string
	Runs    []runRow
	Plots   []pagePlot
	Metrics []metricGroup
	Columns []string
	Stats   map[string][]string // statistics of each metric that a selected run has; for one run, those of its time slices
	Types   []plots.Category
}

type runRow struct{ Dir, Name, Group, Label string }

type metricGroup struct {
	Name  string
	Items [][2]string // pairs of tag or column, and name
}

// chosen returns the runs of a question, in the order of the dashboard.
func (d *Dashboard) chosen(q question) ([]*runfiles.Run, error) {
	if q.Runs == nil {
		return d.Runs, nil
	}
	var list []*runfiles.Run
	for _, r := range d.Runs {
		if slices.Contains(q.Runs, r.Dir) {
			list = append(list, r)
		}
	}
	if list == nil {
		return nil, errors.New("no run is selected")
	}
	return list, nil
}

// draw makes the charts of a question.
func (d *Dashboard) draw(q question) (runs []*runfiles.Run, list []*chart.Chart, out []pagePlot, err error) {
	if runs, err = d.chosen(q); err != nil {
		return nil, nil, nil, err
	}
	if chart.Themes[q.Theme] == nil {
		q.Theme = "light"
	}
	multi := len(runs) > 1
	section := &d.Config.Single
	if multi {
		section = &d.Config.Multi
	}
	if q.Plots == nil {
		for _, name := range section.Defaults {
			q.Plots = append(q.Plots, plotRequest{Name: name})
		}
	}
	for _, a := range q.Plots {
		if a.Settings == nil {
			a.Settings = section.Settings(a.Name)
		}
		one := pagePlot{Name: a.Name, Settings: a.Settings}
		c, err := d.one(runs, a, q.Theme, multi)
		if err == nil {
			list = append(list, c)
			one.Chart, err = c.Web()
		}
		if err != nil {
			one.Missing = err.Error()
		}
		out = append(out, one)
	}
	return runs, list, out, nil
}

// one makes one chart.
func (d *Dashboard) one(runs []*runfiles.Run, a plotRequest, theme string, multi bool) (*chart.Chart, error) {
	text, err := json.Marshal(a.Settings)
	if err != nil {
		return nil, err
	}
	p, err := plots.Custom(a.Name, text, multi)
	if err != nil {
		return nil, err
	}
	c, err := plots.Draw(plots.Options{Config: d.Config, Theme: theme, Warn: func(string, ...any) {}}, runs, p)
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		key  string
		axis *chart.Axis
	}{{"x", &c.X}, {"y", &c.Y}} {
		if one.axis.Title == "" {
			one.axis.Title = one.key
		}
	}
	return c, nil
}

func (d *Dashboard) plots(q question) (*state, error) {
	runs, _, list, err := d.draw(q)
	if err != nil {
		return nil, err
	}
	s := &state{Multi: len(runs) > 1, Plots: list, Stats: statistics(runs), Types: plots.Types(len(runs) > 1)}
	for _, r := range runs {
		s.Chosen = append(s.Chosen, r.Dir)
	}
	for _, r := range d.Runs {
		s.Runs = append(s.Runs, runRow{r.Dir, d.name(r), d.group(r), plots.Column(r, "concurrency")})
	}
	s.Metrics = d.metrics(runs)
	if s.Columns = columns(runs); d.Config.Classes != nil {
		s.Columns = append([]string{"experiment_group"}, s.Columns...)
	}
	return s, nil
}

// statistics returns the statistics of each metric in the summaries of the runs, in display order. For one run it returns those of its time slices,
// because only they are drawn by statistic.
func statistics(runs []*runfiles.Run) map[string][]string {
	list := map[string][]string{}
	if len(runs) == 1 {
		return sliceStatistics(runs[0])
	}
	for _, r := range runs {
		s, err := r.Summary()
		if err != nil {
			continue
		}
		for tag := range s.Figures {
			for _, stat := range plots.Statistics() {
				if _, ok := s.Stat(tag, stat); ok && !slices.Contains(list[tag], stat) {
					list[tag] = append(list[tag], stat)
				}
			}
		}
	}
	return list
}

// sliceStatistics returns the statistics that the time slices of a run have of each metric of its summary.
func sliceStatistics(r *runfiles.Run) map[string][]string {
	list := map[string][]string{}
	summary, err := r.Summary()
	if err != nil {
		return list
	}
	slices, err := r.Slices()
	for _, tag := range summary.Tags {
		list[tag] = []string{}
		m, known := metric.Lookup(tag)
		if err != nil || !known {
			continue
		}
		for _, stat := range plots.Statistics() {
			if at, _ := slices.Stat(m.Header, stat); len(at) > 0 {
				list[tag] = append(list[tag], stat)
			}
		}
	}
	return list
}

// categories group metrics for the lists of the dialog; the first match counts.
var categories = []struct {
	name string
	fits *lazyregexp.Regexp
}{
	{"Latency", lazyregexp.New("latency|time_to|duration")}, {"Throughput", lazyregexp.New("throughput|goodput")},
	{"Counts & lengths", lazyregexp.New("count|length|total_|isl|osl|tokens")}, {"Other", lazyregexp.New("")},
}

// metrics lists the metrics that can be drawn for the runs, in groups.
func (d *Dashboard) metrics(runs []*runfiles.Run) []metricGroup {
	by := map[string][][2]string{}
	add := func(tag, name string) {
		for _, c := range categories {
			if c.fits.MatchString(tag) {
				by[c.name] = append(by[c.name], [2]string{tag, name})
				return
			}
		}
	}
	if sum, err := runs[0].Summary(); err == nil {
		q, _ := runs[0].Requests() // a run without records lacks their metrics
		for _, tag := range sum.Tags {
			m, ok := metric.Lookup(tag)
			if !ok {
				continue
			}
			if len(runs) == 1 { // a chart of one run shows its requests
				if q == nil {
					continue
				}
				if !q.Has(tag) {
					continue
				}
			}
			add(tag, m.Header+" ("+m.Display+")")
		}
	}
	var list []metricGroup
	for _, c := range categories {
		if by[c.name] != nil {
			list = append(list, metricGroup{c.name, by[c.name]})
		}
	}
	if len(runs) > 1 {
		if loads := loadsOf(runs); loads != nil {
			list = append(list, metricGroup{"Configuration", loads})
		}
		return list
	}
	if g, err := runs[0].GPUs(); err == nil {
		var items [][2]string
		for _, tag := range g.Tags() {
			items = append(items, [2]string{tag, tag})
		}
		list = append(list, metricGroup{"GPU telemetry", items})
	}
	if series, err := runs[0].Servers(); err == nil {
		var items [][2]string
		for i := range series {
			if item := [2]string{series[i].Metric, series[i].Metric}; len(series[i].At) > 0 && !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
		if items != nil {
			list = append(list, metricGroup{"Server metrics", items})
		}
	}
	return list
}

// loadsOf returns the settings of the load that at least one run has.
func loadsOf(runs []*runfiles.Run) (list [][2]string) {
	for _, one := range [][2]string{{"concurrency", "Concurrency"}, {"request_rate", "Request rate (requests/sec)"}} {
		if slices.ContainsFunc(runs, func(r *runfiles.Run) bool { return plots.Column(r, one[0]) != "" }) {
			list = append(list, one)
		}
	}
	return list
}

// columns lists the columns that can label or group runs: the usual ones, and every setting in which they differ.
func columns(runs []*runfiles.Run) []string {
	list := []string{"concurrency", "model", "run_name", "endpoint_type", "request_count", "request_rate", "duration_seconds"}
	values := map[string]map[string]bool{}
	for _, r := range runs {
		s, err := r.Summary()
		if err != nil {
			continue
		}
		for key, v := range s.Flat() {
			if values[key] == nil {
				values[key] = map[string]bool{}
			}
			values[key][v] = true
		}
	}
	var swept []string
	for key, v := range values {
		if len(v) > 1 && key != "artifacts.dir" && !strings.Contains(key, "random_seed") && !strings.Contains(key, "url") {
			swept = append(swept, key)
		}
	}
	slices.Sort(swept)
	return append(list, swept...)
}

// runDetail is the content of the window of a run.
type runDetail struct {
	Name     string
	Figures  []metricRow
	Settings [][2]string
}

func (d *Dashboard) run(q question) (*runDetail, error) {
	runs, err := d.chosen(q)
	if err != nil {
		return nil, err
	}
	s, err := runs[0].Summary()
	if err != nil {
		return nil, err
	}
	out := &runDetail{Name: d.name(runs[0]), Settings: settings(s)}
	for i, row := range metricRows(s) {
		if m, ok := metric.Lookup(s.Tags[i]); ok && m.Group == "default" {
			out.Figures = append(out.Figures, row)
		}
	}
	return out, nil
}

// export sends the charts of a question as files in one archive.
func (d *Dashboard) export(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, err := d.archive(q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="aiperf_plots.zip"`)
	_, _ = w.Write(text) // an error means that the client has gone
}

// unsafe matches the characters that file names must not contain.
var unsafe = lazyregexp.New(`[^A-Za-z0-9._-]+`)

func (d *Dashboard) archive(q question) ([]byte, error) {
	_, ok := plots.Sizes[q.Size]
	if !slices.Contains([]string{plots.PNG, plots.SVG, "html"}, q.Format) || !ok {
		return nil, fmt.Errorf("format %q, size %q: allowed are png, svg or html, and small, medium or large", q.Format, q.Size)
	}
	if chart.Themes[q.Theme] == nil {
		q.Theme = "light"
	}
	_, list, _, err := d.draw(q)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	put := func(name string, text []byte, err error) error {
		if err != nil {
			return err
		}
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	}
	readme := "Plots of aiperf " + d.Version + "\n\n"
	for _, c := range list {
		readme += c.Name + ": " + c.Title + "\n"
		if q.Format == "html" {
			continue
		}
		image, err := plots.Image(c, q.Theme, q.Format, q.Size)
		if err := put(unsafe.ReplaceAllString(c.Name, "_")+"."+q.Format, image, err); err != nil {
			return nil, err
		}
	}
	if q.Format == "html" {
		b := &builder{}
		b.Title, b.Eyebrow, b.Foot = "Plots", "Charts of "+terminal.Plural(len(d.Runs), "run"), "Made by aiperf "+d.Version
		s := section{ID: "plots", Title: "Plots"}
		for _, c := range list {
			if err := b.chart(&s, c, false, true); err != nil {
				return nil, err
			}
		}
		b.Sections = []section{s}
		page, err := b.html()
		if err := put("plots.html", page, err); err != nil {
			return nil, err
		}
	}
	if err := put("README.txt", []byte(readme), nil); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}
