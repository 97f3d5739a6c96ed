// Package htmlreport writes reports for sharing: a finished run, or the runs of a sweep, as one self-contained HTML file that loads nothing and works
// as a mail attachment. Every figure of a run is that of its summary; the page only computes shapes and curves, never a figure that the run has
// reported.
package htmlreport

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/explanation"
	"aiperf/internal/report/runfiles"
)

// Run returns the report of one run. version is the version of the program.
func Run(run *runfiles.Run, version string) ([]byte, error) { return Explained(run, nil, version) }

// Explained is Run with an explanation of the slow requests that has been made already; nil = the page makes its own.
func Explained(run *runfiles.Run, e *explanation.Explanation, version string) ([]byte, error) {
	b, err := reportOf(run, e, version)
	if err != nil {
		return nil, err
	}
	return b.html()
}

// reportOf returns the content of the report of a run.
func reportOf(run *runfiles.Run, e *explanation.Explanation, version string) (*builder, error) {
	sum, err := run.Summary()
	if err != nil {
		return nil, err
	}
	b := &builder{}
	b.Title, b.Eyebrow, b.Command, b.Words = sum.Model(), "Benchmark run", withoutDirectories(sum.Command), true
	b.Unseeded = sum.RandomSeed == ""
	if b.Title == "" {
		b.Title = run.Name
	}
	b.Facts = facts(sum)
	b.cards(sum)
	b.Settings, b.Metrics = settings(sum), metricRows(sum)
	b.phases(run, sum)
	if err := b.adaptiveWindows(run); err != nil {
		return nil, err
	}
	b.Foot = "Made by aiperf " + version + " from the files of the run"
	q, err := run.Requests()
	if errors.Is(err, runfiles.ErrRange) {
		return nil, err
	}
	if err != nil {
		b.errors(sum, nil, nil)
		b.Sections = append(b.Sections, section{ID: "time", Title: "Over time", Empty: "The run has no records of single requests, so there are no curves and no distributions. The figures of the whole run are below."})
	} else if err := b.requests(run, sum, q, e); err != nil {
		return nil, err
	}
	b.verdict(sum)
	return b, nil
}

// requests adds the sections that need the records.
func (b *builder) requests(run *runfiles.Run, sum *runfiles.Summary, q *runfiles.Requests, e *explanation.Explanation) error {
	chosen := sample(q, maxRows)
	if len(chosen) == 0 {
		b.Sections = append(b.Sections, section{ID: "time", Title: "Over time", Empty: "No request of the measured phase has finished."})
		b.errors(sum, nil, nil)
		return nil
	}
	c := newClock(q)
	lanes := section{ID: "time", Title: "Over time", Tools: true, Lead: fmt.Sprintf("The charts below, called lanes, have one time axis. Lines are percentiles of slices of %s by the start of a request. In a slice, p90 needs ten requests and p99 a hundred; otherwise the line has a gap. A dot is one request; if more than 5,000 are in view, every k-th is drawn. Zooming does not change the vertical scales.", seconds(c.step))}
	list := []*chart.Chart{
		c.lane(q, chosen, "time_to_first_token", "Time to first token"), c.lane(q, chosen, "inter_token_latency", "Inter-token latency"),
		c.lane(q, chosen, "request_latency", "Request latency"), c.heat(q, "request_latency", "Request latency, heat map"),
	}
	list = append(list, c.flow(q, askedRate(sum))...)
	beside, missing := c.telemetry(run)
	list = append(list, beside...)
	lanes.Notes = missing
	for _, one := range list {
		if err := b.chart(&lanes, one, true, false); err != nil {
			return err
		}
	}
	shapes := section{ID: "shapes", Title: "Distributions", Lead: "Number of requests by latency, on a logarithmic axis. The marks are the percentiles of the summary; p99 needs a hundred requests."}
	for _, one := range []struct{ tag, name string }{{"time_to_first_token", "Time to first token"}, {"inter_token_latency", "Inter-token latency"}, {"request_latency", "Request latency"}} {
		if err := b.chart(&shapes, shape(q, sum, one.tag, one.name), false, false); err != nil {
			return err
		}
	}
	if shapes.Charts == nil {
		shapes.Empty = "A distribution needs two requests that succeeded."
	}
	places := section{ID: "positions", Title: "Token position", Lead: "Whether tokens come slower as an answer grows longer."}
	if err := b.chart(&places, positions(q), false, true); err != nil {
		return err
	}
	if places.Charts == nil {
		places.Empty = "The records have no times of single tokens: the answers were not streamed, or are too short or too few."
	}
	water := section{ID: "requests", Title: "Requests", Waterfall: true, Lead: "Every bar is a request, in as few rows as requests were in flight, so the picture shows the concurrency. Select one with a click or the arrow keys; the time axis is that of the lanes."}
	b.Rows, b.Failures, b.IDs = rows(q, chosen, &c)
	b.Arrivals = arrivals(q, chosen, maxArrivals)
	b.Seconds = c.seconds
	for _, w := range q.Warmup {
		if !w {
			b.Total++
		}
	}
	if b.Total > len(chosen) {
		water.Lead += fmt.Sprintf(" Shown are %s of %s requests: failures, the slowest, and every k-th of the others. The rows then do not show the concurrency. All figures, lines and distributions cover all requests.", count(len(chosen)), count(b.Total))
	}
	b.Sections = append(b.Sections, lanes, shapes, places, water)
	if err := b.slow(run, e); err != nil {
		return err
	}
	b.findings(sum, q, &c)
	b.errors(sum, q, &c)
	return b.schedule(sum, q, chosen, &c)
}

// count formats an integer with thousands separators.
func count(n int) string { return terminal.Count(n) }

// verdict adds whether the figures describe the server.
func (b *builder) verdict(sum *runfiles.Summary) {
	v := sum.Verdict()
	b.Why = v.Reason
	for _, note := range v.Notes {
		if !strings.Contains(note, "requests failed") { // the page shows this itself, with the share
			b.Findings = append(b.Findings, note+b.otherClock(note))
		}
	}
	b.Findings = append(b.Findings, b.Last...)
	switch v.Word {
	case "":
		b.Level, b.Verdict, b.Why = "suspect", "This measurement has no verdict", "The files of the run contain no verdict."
	case string(metric.VerdictValid):
		b.Level, b.Verdict = "valid", "The measurement is valid"
	case "no result":
		b.Level, b.Verdict = "failed", "The run has no result"
	default:
		b.Level, b.Verdict = "suspect", "Verdict: "+v.Word
	}
	b.failures(sum)
	if sum.Cancelled || !sum.Complete {
		why := sum.IncompleteReason
		if why == "" {
			why = "The run was stopped before its end."
		}
		b.Findings = append([]string{"This report covers only a part of the run. " + why}, b.Findings...)
		if b.Level == "valid" {
			b.Level, b.Verdict = "suspect", "The measurement is valid, but not complete"
		}
	}
}

// otherClock returns a sentence about the times of a note that count from the measured phase, if the clock of the lanes begins earlier.
func (b *builder) otherClock(note string) string {
	if b.Measured <= 0 || !strings.HasPrefix(note, "The server sent nothing for") {
		return ""
	}
	return fmt.Sprintf(" These times count from the end of the warm-up, at %s on the clock of the lanes.", seconds(b.Measured))
}

// failures takes the green from the verdict if requests failed, and puts their share before it if it is 1 % or more.
func (b *builder) failures(sum *runfiles.Summary) {
	failed, _ := sum.Stat("error_request_count", "avg")
	valid, _ := sum.Stat("request_count", "avg")
	for _, e := range sum.Errors {
		if e.Type == record.PlannedCancellation {
			failed -= float64(e.Count)
		}
	}
	if failed > 0 && b.Level == "valid" {
		b.Level = "suspect"
	}
	share := metric.FailureSentence(int64(failed), int64(failed+valid))
	if share == "" {
		return
	}
	b.Why = strings.TrimSpace(b.Verdict + ". " + b.Why)
	b.Verdict = share
}

// facts returns the line below the title.
func facts(s *runfiles.Summary) []string {
	list := []string{s.Setting("endpoint.type")}
	if s.Setting("endpoint.streaming") == "true" {
		list[0] += ", streaming"
	}
	switch phases := s.Measured(); {
	case len(phases) > 1:
		list = append(list, fmt.Sprintf("%d phases: %s", len(phases), strings.Join(phases, ", ")))
	case s.Phase("adaptive_scale") == "true":
		list = append(list, "adaptive load")
	case s.Phase("rate") != "":
		list = append(list, s.Phase("rate")+" requests/s asked")
	case s.Phase("concurrency") != "":
		noun := " requests"
		if s.Phase("concurrency") == "1" {
			noun = " request"
		}
		list = append(list, s.Phase("concurrency")+noun+" at once")
	}
	list = append(list, s.Setting("endpoint.urls"), wallTime(s.Start))
	if v := s.Seconds(); v > 0 {
		list = append(list, seconds(v))
	}
	if s.Variation != "" && s.Variation != "base" {
		list = append(list, s.Variation)
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}

// wallTime formats an instant of a summary without fractions of a second.
func wallTime(at string) string {
	return strings.TrimSpace(strings.Replace(strings.Split(at, ".")[0], "T", " ", 1))
}

// cards adds the six main figures, which are those of the summary.
func (b *builder) cards(s *runfiles.Summary) {
	together := "" // as in the summary: its figures cover all measured phases
	if n := len(s.Measured()); n > 1 {
		together = fmt.Sprintf(", all %d phases", n)
	}
	latency := func(tag, name string, rate bool) {
		f := s.Figures[tag]
		if f == nil {
			b.Cards = append(b.Cards, card{Name: name, None: missing(s, tag)})
			return
		}
		n := f.Stats["count"]
		c := card{Name: name, Value: statisticText(s, tag, "p50"), Unit: f.Unit, Of: "p50 of " + terminal.Plural(int(n), "request") + together}
		more := []struct {
			name, stat string
			fewest     float64
		}{{"p90", "p90", stats.FewestForP90}, {"p99", "p99", stats.FewestForP99}, {"max", "max", 0}}
		if rate { // for a rate, the low percentile is the bad one
			more[0].name, more[0].stat = "slowest 10 %", "p10"
			more[1].name, more[1].stat = "slowest 1 %", "p1"
			more[2].name, more[2].stat = "min", "min"
		}
		for _, one := range more {
			text := "–"
			if _, ok := f.Stats[one.stat]; ok && n > 0 && n < one.fewest {
				text = fmt.Sprintf("needs %.0f", one.fewest) // requests, as the line above says; a longer text does not fit
			} else if ok {
				text = statisticText(s, tag, one.stat)
			}
			c.More = append(c.More, [2]string{one.name, text})
		}
		b.Cards = append(b.Cards, c)
	}
	latency("time_to_first_token", "Time to first token", false)
	latency("inter_token_latency", "Inter-token latency", false)
	latency("request_latency", "Request latency", false)
	latency("output_token_throughput_per_user", "Speed per user", true)
	total := func(tag, name, of string, more ...[2]string) {
		f := s.Figures[tag]
		if f == nil {
			b.Cards = append(b.Cards, card{Name: name, None: missing(s, tag)})
			return
		}
		c := card{Name: name, Value: statisticText(s, tag, "avg"), Unit: f.Unit, Of: of}
		for _, one := range more {
			if v, ok := s.Stat(one[1], "avg"); ok {
				text := figure(v)
				if m, known := metric.Lookup(one[1]); known && m.Integer {
					text = count(int(v))
				}
				c.More = append(c.More, [2]string{one[0], text})
			}
		}
		b.Cards = append(b.Cards, c)
	}
	total("output_token_throughput", "Output throughput", "whole run"+together, [2]string{"tokens out", "total_osl"}, [2]string{"tokens in", "total_isl"}, [2]string{"all tokens/s", "total_token_throughput"})
	total("request_throughput", "Requests", "succeeded"+together, [2]string{"succeeded", "request_count"}, [2]string{"failed", "error_request_count"}, [2]string{"met the goal", "good_request_count"})
}

// missing says why a run does not have a main figure.
func missing(s *runfiles.Summary, tag string) string {
	if _, some := s.Stat("request_count", "avg"); !some {
		if failed, _ := s.Stat("error_request_count", "avg"); failed > 0 {
			return "no request succeeded, " + count(int(failed)) + " failed"
		}
		return "no request has finished"
	}
	if s.Setting("endpoint.streaming") != "true" && slices.Contains([]string{"time_to_first_token", "inter_token_latency", "output_token_throughput_per_user"}, tag) {
		return "needs streamed answers"
	}
	return "not measured in this run"
}

// tableStats lists the columns of the table of all metrics, as on the console.
var tableStats = []string{"avg", "min", "max", "p99", "p90", "p50", "std"}

// metricRows returns all figures of the summary that the console may show, with the same names and numbers.
func metricRows(s *runfiles.Summary) []metricRow {
	var list []metricRow
	for _, tag := range s.Tags {
		f, name := s.Figures[tag], tag
		if m, ok := metric.Lookup(tag); ok {
			name = m.Header
		}
		row := metricRow{Name: name + " (" + f.Unit + ")"}
		for _, stat := range tableStats {
			text, limits := "", ""
			if v, ok := f.Stats[stat]; ok {
				text = terminal.Exact(v)
			}
			if r, ok := s.Approximate(tag, stat); ok {
				text, limits = metric.ApproximateMark+text, limitsText(r)
			}
			row.Cell, row.Limits = append(row.Cell, text), append(row.Limits, limits)
		}
		list = append(list, row)
	}
	return list
}

// limitsText describes the range of a figure.
func limitsText(r metric.Range) string {
	if math.IsInf(r.High, 1) {
		return "at least " + terminal.Exact(r.Low)
	}
	return "between " + terminal.Exact(r.Low) + " and " + terminal.Exact(r.High)
}

// statisticText formats a statistic of the summary for a card, with a mark if it is approximate.
func statisticText(s *runfiles.Summary, tag, stat string) string {
	v, _ := s.Stat(tag, stat)
	if _, ok := s.Approximate(tag, stat); ok {
		return metric.ApproximateMark + figure(v)
	}
	return figure(v)
}

// settings returns the settings of the run, by key.
func settings(s *runfiles.Summary) [][2]string {
	return sortedSettings(s.Flat())
}

// sortedSettings returns settings sorted by key.
func sortedSettings(flat map[string]string) [][2]string {
	var keys []string
	for key := range flat {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var list [][2]string
	for _, key := range keys {
		if key != "artifacts.dir" { // a path on the user's machine
			list = append(list, [2]string{key, place(key, flat[key])})
		}
	}
	return list
}

// errors groups the errors, with the share and the time of each kind; q may be nil.
func (b *builder) errors(s *runfiles.Summary, q *runfiles.Requests, c *clock) {
	one := section{ID: "errors", Title: "Errors"}
	defer func() { b.Sections = append(b.Sections, one) }()
	if len(s.Errors) == 0 {
		one.Empty = "No request failed."
		return
	}
	all, ok := s.Stat("completed_request_count", "avg")
	if !ok {
		good, _ := s.Stat("request_count", "avg")
		bad, _ := s.Stat("error_request_count", "avg")
		all = good + bad
	}
	failures := &table{Caption: "Failures, similar ones grouped", Head: []string{"Code", "Type", "Message", "Count", "Share of the requests", "When"}}
	for _, e := range s.Errors {
		code, share := "", "–"
		if e.Code != 0 {
			code = fmt.Sprint(e.Code)
		}
		if all > 0 {
			share = figure(100*float64(e.Count)/all) + " %"
		}
		failures.Rows = append(failures.Rows, []cellText{{Text: e.Type}, {Text: code}, {Text: (&record.Error{Message: e.Message}).Reason()}, {Text: count(int(e.Count))}, {Text: share}, {Text: c.spanOf(q, e)}})
	}
	failures.Head[0], failures.Head[1] = failures.Head[1], failures.Head[0]
	one.Lead = "Failed requests are red in the lanes and in the picture of the requests; they are not part of any latency."
	one.Tables = append(one.Tables, failures)
}

// spanOf returns when failures of a kind ended: the first and the last.
func (c *clock) spanOf(q *runfiles.Requests, e runfiles.ErrorGroup) string {
	if q == nil {
		return "–"
	}
	first, last := math.Inf(1), math.Inf(-1)
	for i := range q.Len() {
		if !q.Warmup[i] && q.Failure[i] == e.Type && q.Code[i] == e.Code {
			first, last = min(first, c.at(q.End[i])), max(last, c.at(q.End[i]))
		}
	}
	switch {
	case last < 0:
		return "–"
	case last == first:
		return figure(first) + " s"
	}
	return figure(first) + " to " + figure(last) + " s"
}
