package htmlreport

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/runfiles"
)

// band is a named stretch of the clock. Hue is a colour of the page.
type band struct {
	From, To  float64 // s
	Name, Hue string
}

// phases returns the warm-ups of a run. If it has several measured phases, it returns all phases.
func (c *clock) phases(q *runfiles.Requests) []band {
	var list []band
	at := map[string]int{}
	for i := range q.Len() {
		name := q.Phase[i]
		k, known := at[name]
		if !known {
			k = len(list)
			at[name] = k
			hue := huePhase
			if q.Warmup[i] {
				hue = hueWarmup
			}
			list = append(list, band{math.Inf(1), 0, name, hue})
		}
		list[k].From, list[k].To = min(list[k].From, c.at(q.Start[i])), max(list[k].To, c.at(q.End[i]))
	}
	if len(list) == 1 && list[0].Hue != hueWarmup {
		return nil
	}
	sorting.Stable(list, func(a, b band) int { return cmp.Compare(a.From, b.From) })
	for k := range list { // a phase ends where the next one begins, though its last answers may arrive later
		if k+1 < len(list) {
			list[k].To = min(list[k].To, list[k+1].From)
		}
	}
	if measured := slices.DeleteFunc(slices.Clone(list), func(b band) bool { return b.Hue == hueWarmup }); len(measured) == 1 {
		return slices.DeleteFunc(list, func(b band) bool { return b.Hue != hueWarmup })
	}
	return list
}

// A slow phase is three or more consecutive slices whose medians are above 1.75 times the 40th percentile of all slices' medians: a rule of thumb.
const (
	slowSlices = 3
	slowTimes  = 1.75
	slowOf     = 40
	slowFewest = 8 // smallest number of slices of a run
)

// slowStretch is a stretch in which requests took longer.
type slowStretch struct {
	band
	inside, outside float64 // medians, ms
	metric          string
}

// slowPhase returns the longest stretch of slow slices by time to first token, or by latency if answers were not streamed; nil if there is none.
func (c *clock) slowPhase(q *runfiles.Requests) *slowStretch {
	name := "TTFT"
	v, ok := q.Column("time_to_first_token")
	if !ok {
		name = "latency"
		v, ok = q.Column("request_latency")
	}
	if !ok || c.n < slowFewest {
		return nil
	}
	in := make([][]float64, c.n)
	for i := range v {
		if !math.IsNaN(v[i]) && !q.Warmup[i] && q.Failure[i] == "" {
			k := c.slice(c.at(q.Start[i]))
			in[k] = append(in[k], v[i])
		}
	}
	var medians, known []float64
	for _, one := range in {
		m := math.NaN()
		if len(one) > 0 {
			m = median(one)
			known = append(known, m)
		}
		medians = append(medians, m)
	}
	if len(known) < slowFewest {
		return nil
	}
	slices.Sort(known)
	limit := slowTimes * stats.Percentile(known, slowOf)
	from, length := 0, 0
	for k, run := 0, 0; k < c.n; k++ {
		if run++; !(medians[k] > limit) { // a slice without requests counts too
			run = 0
		}
		if run > length {
			from, length = k+1-run, run
		}
	}
	if length < slowSlices {
		return nil
	}
	inside, outside := slices.Concat(in[from:from+length]...), slices.Concat(slices.Concat(in[:from], in[from+length:])...)
	if len(outside) == 0 {
		return nil
	}
	last := from + length - 1
	return &slowStretch{band{float64(from) * c.step, float64(last)*c.step + c.width(last), "slow phase", hueSlow}, median(inside), median(outside), name}
}

func median(v []float64) float64 {
	sorted := slices.Clone(v)
	slices.Sort(sorted)
	return stats.Percentile(sorted, 50)
}

// findings adds sentences about the run, for people who read only the top of the page; those that matter most come first.
func (b *builder) findings(sum *runfiles.Summary, q *runfiles.Requests, c *clock) {
	failed, all, warm := 0, 0, 0
	for i := range q.Len() {
		switch {
		case q.Warmup[i]:
			warm++
		case q.Cancelled[i]:
		default:
			all++
			if q.Failure[i] != "" {
				failed++
			}
		}
	}
	if failed > 0 {
		b.Findings = append(b.Findings, fmt.Sprintf("%s of %s failed (%s). They are not part of any latency figure.%s", count(failed), terminal.Plural(all, "request"),
			cmp.Or(metric.FailedPercent(int64(failed), int64(all)), figure(100*float64(failed)/float64(all))+" %"), failingServers(sum, q)))
	}
	b.Measured = c.measured(q)
	b.Bands = slices.Concat(c.phases(q), c.draining(q), c.pauses(q), c.podEvents(sum))
	if s := c.slowPhase(q); s != nil {
		b.Bands = append(b.Bands, s.band)
		b.Findings = append(b.Findings, fmt.Sprintf("Slow phase from %s to %s s: %s p50 %s ms of the requests that began there, %s ms of all others (%s times). A finding of this page, by a rule of thumb.",
			figure(s.From), figure(s.To), s.metric, figure(s.inside), figure(s.outside), figure(s.inside/s.outside)))
	}
	if v, ok := sum.Stat("good_request_fraction", "avg"); ok {
		b.Findings = append(b.Findings, fmt.Sprintf("%s %% of the requests met the goal%s.", figure(100*v), goalOf(sum)))
	}
	if warm > 0 {
		b.Last = append(b.Last, "Not part of any figure: "+terminal.Plural(warm, "request")+" of the warm-up.")
	}
}

// failingServers says which of several servers the failures came from, if some had none; otherwise "".
func failingServers(sum *runfiles.Summary, q *runfiles.Requests) string {
	urls := sum.URLs()
	if len(urls) < 2 {
		return ""
	}
	failed, all := make([]int, len(urls)), make([]int, len(urls))
	for i := range q.Len() {
		if k := q.URL[i]; !q.Warmup[i] && !q.Cancelled[i] && k < len(urls) {
			if all[k]++; q.Failure[i] != "" {
				failed[k]++
			}
		}
	}
	var bad []string
	spared := false
	for k, url := range urls {
		if failed[k] > 0 {
			bad = append(bad, fmt.Sprintf("%s (%s of %s)", url, count(failed[k]), count(all[k])))
		}
		spared = spared || all[k] > 0 && failed[k] == 0
	}
	if !spared {
		return ""
	}
	return " All of them went to " + strings.Join(bad, ", ") + "."
}

// goalOf lists the limits of the goodput: " (TTFT at most 20 ms)".
func goalOf(sum *runfiles.Summary) string {
	var parts []string
	for _, one := range settings(sum) {
		tag, ok := strings.CutPrefix(one[0], "slos.")
		m, known := metric.Lookup(tag)
		if !ok || !known {
			continue
		}
		bound := "at most"
		if m.Better == metric.Larger {
			bound = "at least"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s %s", cmp.Or(m.Short, m.Header), bound, one[1], m.Display))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// schedule adds how well the load kept its schedule, and how that affected the latencies.
func (b *builder) schedule(sum *runfiles.Summary, q *runfiles.Requests, chosen []int, c *clock) error {
	one := section{ID: "schedule", Title: "Schedule"}
	late := c.lane(q, chosen, "schedule_lag", "How late requests were sent")
	if late == nil {
		one.Empty = "Requests were sent as soon as earlier ones ended: there was no schedule."
		b.Sections = append(b.Sections, one)
		return nil
	}
	one.Lead = "Whether requests left on time. Latencies of this page start at the moment of sending; latencies from the schedule also include the wait in the client, as a user would see it. If both agree, the client did not hide a wait."
	if err := b.chart(&one, late, true, false); err != nil {
		return err
	}
	if t := againstSchedule(sum); t != nil {
		one.Tables = append(one.Tables, t)
	}
	if t := scheduleTable(sum); t != nil {
		one.Tables = append(one.Tables, t)
	}
	b.Sections = append(b.Sections, one)
	return nil
}

// againstSchedule compares latencies measured from the sending with those measured from the schedule, as in the summary.
func againstSchedule(sum *runfiles.Summary) *table {
	t := &table{Caption: "Latency against the schedule", Class: "numbers", Head: []string{"Metric", "p50", "p90", "p99", "max"}}
	for _, tag := range []string{"time_to_first_token", "time_to_first_token_from_schedule", "request_latency", "request_latency_from_schedule"} {
		f, m := sum.Figures[tag], tag
		if f == nil {
			continue
		}
		if known, ok := metric.Lookup(tag); ok {
			m = known.Header
		}
		row := []cellText{{Text: m + " (" + f.Unit + ")"}}
		for _, stat := range t.Head[1:] {
			row = append(row, cellText{Text: statText(f, stat)})
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) < 2 {
		return nil
	}
	return t
}

// statText formats a statistic as the console does. It says so if p99 is based on fewer than a hundred values, or p90 on fewer than ten.
func statText(f *runfiles.Figures, stat string) string {
	v, ok := f.Stats[stat]
	n := f.Stats["count"]
	switch {
	case !ok:
		return "–"
	case stat == "p99" && n > 0 && n < stats.FewestForP99:
		return fmt.Sprintf("needs %d requests", stats.FewestForP99)
	case stat == "p90" && n > 0 && n < stats.FewestForP90:
		return fmt.Sprintf("needs %d requests", stats.FewestForP90)
	}
	return figure(v)
}

// scheduleTable returns the table of the verdict's facts about the schedule.
func scheduleTable(sum *runfiles.Summary) *table {
	facts := sum.Verdict().Facts
	t := &table{Caption: "Basis of the verdict", Head: []string{"Fact", "Value"}}
	for _, row := range []struct{ key, name, unit string }{
		{"target_rate", "Requested rate", "requests/s"}, {"target_rate_of_remaining_machines", "Part of it without the machines that were lost", "requests/s"}, {"achieved_send_rate", "Rate at which requests were sent", "requests/s"},
		{"arrivals_drawn", "Requests on the schedule", ""}, {"arrivals_sent", "Requests sent", ""}, {"time_at_concurrency_cap", "Share of the time at the limit of concurrency", ""},
		{"schedule_lag_p50_ms", "Lateness, p50", "ms"}, {"schedule_lag_p99_ms", "Lateness, p99", "ms"}, {"schedule_lag_max_ms", "Lateness, max", "ms"},
		{"read_delay_p99_ms", "Wait of received bytes in the client, p99", "ms"}, {"client_cpu_share", "Share of its CPUs that the client used", ""}, {"stall_longest_ms", "Longest pause of the client", "ms"},
		{"machine_cpu_percent", "CPU use of the machine, mean", "%"},
	} {
		v, ok := facts[row.key].(float64)
		if !ok {
			continue
		}
		value := figure(v)
		if row.unit != "" {
			value += " " + row.unit
		}
		t.Rows = append(t.Rows, []cellText{{Text: row.name}, {Text: value}})
	}
	if t.Rows == nil {
		return nil
	}
	return t
}
