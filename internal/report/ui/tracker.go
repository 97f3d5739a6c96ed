package ui

import (
	"math"
	"slices"
	"strconv"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
)

func itoa(n int) string { return strconv.Itoa(n) }

// trendSeconds is longer than any trend.
const trendSeconds = 60

// Tracker makes the state for a view from snapshots of the load and the results of finished requests. One goroutine calls it.
type Tracker struct {
	running *Running

	phase       int
	slowUpdated time.Time // when the slow part was updated
	view        liveview.View
	samples     []sampled // of the last 10 s
	flights     []float64 // requests in flight, by second
	silent      []bool    // seconds in which servers stalled
	slow        slowState
}

// sampled is the load at one update.
type sampled struct {
	at       time.Duration
	finished int64
	errors   int64
	ok, good int64
	tokens   float64
}

// slowState is the part of a state that is updated once a second.
type slowState struct {
	figures  liveview.Figures
	pictures []termdraw.Distribution
	metrics  []liveview.Group
	slowest  []liveview.Slow
	timeline termdraw.Timeline

	timelines []liveview.SizedTimeline
	lag       float64 // p99 of the schedule lag, ms
}

// NewTracker returns a tracker that reads running.
func NewTracker(running *Running) *Tracker { return &Tracker{running: running, phase: -1} }

// Fill writes the phase of a snapshot to the state. Counts are updated at every call; percentiles and charts once a second, and only those that the
// view shows.
func (t *Tracker) Fill(s *Snapshot, now time.Time, v liveview.View, state *liveview.State) {
	if s.Index != t.phase {
		*t = Tracker{running: t.running, phase: s.Index}
	}
	r := t.running
	r.mu.Lock()
	defer r.mu.Unlock()
	mine := r.phase == s.Index
	var ok, bad, good, records int64
	var tokens float64
	if mine {
		ok, bad, good, records, tokens = r.ok, r.bad, r.good, r.ok+r.bad+r.cut, r.tokens
	}
	t.counts(s, records, &state.Counts)
	state.Share, state.Known = s.Share()
	t.sample(sampled{s.Elapsed, s.Finished, s.Errors, ok, good, tokens})
	for len(t.flights) <= int(s.Elapsed/time.Second) {
		t.flights = append(t.flights, float64(s.InFlight))
	}
	newest := len(t.flights) - 1 // a second shows its highest value
	t.flights[newest] = max(t.flights[newest], float64(s.InFlight))
	t.silent = longer(t.silent, newest+1)
	if still := state.Stall.Now; still > 0 {
		for i := max(0, int((s.Elapsed-still)/time.Second)); i <= newest; i++ {
			t.silent[i] = true
		}
	}
	if now.Sub(t.slowUpdated) >= pace || t.slowUpdated.IsZero() || v.Panel != t.view.Panel || v.Width != t.view.Width || !s.Sending && s.InFlight == 0 {
		t.slowUpdated, t.view = now, v
		if mine {
			t.updateSlow(s, v)
		} else {
			t.slow = slowState{figures: noFigures(), lag: math.NaN()}
		}
	}
	state.Figures, state.Pictures, state.Metrics, state.Slowest, state.Timeline = t.slow.figures, t.slow.pictures, t.slow.metrics, t.slow.slowest, t.slow.timeline
	state.Timelines = t.slow.timelines
	state.Health.LagP99 = t.slow.lag
	t.rates(s, ok, bad, tokens, &state.Figures)
	state.Errors = nil
	if mine {
		for _, k := range r.kinds {
			e := k.ErrorKind
			e.Last = float64(k.last-r.begun) / 1e9
			state.Errors = append(state.Errors, e)
		}
	}
}

// counts fills in the counts of the phase from the load's own counters, which contain nothing of earlier phases.
func (t *Tracker) counts(s *Snapshot, records int64, c *liveview.Counts) {
	cpu := c.CPU
	*c = liveview.Counts{
		Elapsed: s.Elapsed, Duration: s.Duration, Grace: s.Grace, Requests: s.Requests, Sessions: s.Sessions, SessionsDone: s.SessionsDone, Sent: s.Sent, InFlight: s.InFlight,
		OK: s.Finished - s.Errors - s.Cancelled, Errors: s.Errors, Cancelled: s.Cancelled, Records: records, ETA: -1, RecordsETA: -1, RecordsShare: math.NaN(), CPU: cpu, Began: s.Began,
	}
	share, known := s.Share()
	if !known {
		return
	}
	if share > 0 {
		c.ETA = remainingTime(s.Elapsed, share)
	}
	if c.RecordsShare = 0; s.Finished > 0 { // the share of the phase, minus requests that are not yet processed
		c.RecordsShare = share * min(float64(records)/float64(s.Finished), 1)
	}
	if c.RecordsShare > 0 {
		c.RecordsETA = remainingTime(s.Elapsed, c.RecordsShare)
	}
}

// remainingTime estimates the remaining time from the pace so far.
func remainingTime(elapsed time.Duration, share float64) time.Duration {
	return time.Duration(float64(elapsed) * (1 - share) / share)
}

// sample stores an update for the rates of the last 10 s.
func (t *Tracker) sample(one sampled) {
	t.samples = append(t.samples, one)
	for len(t.samples) > 2 && one.at-t.samples[1].at >= recentSeconds*time.Second {
		t.samples = t.samples[1:]
	}
}

func noFigure() liveview.Figure {
	n := math.NaN()
	return liveview.Figure{Recent: n, Run: n, P90: n, P99: n, Avg: n, Max: n, Min: n, Std: n}
}

func noFigures() liveview.Figures {
	n := noFigure()
	return liveview.Figures{Requests: n, Tokens: n, TTFT: n, ITL: n, Latency: n, Errors: n, Goodput: n}
}

// rates computes the figures that change at every update.
func (t *Tracker) rates(s *Snapshot, ok, bad int64, tokens float64, f *liveview.Figures) {
	begin, now := t.samples[0], t.samples[len(t.samples)-1]
	if len(t.samples) == 1 || begin.at < 0 {
		begin = sampled{}
	}
	if now.at < recentSeconds*time.Second {
		begin = sampled{}
	}
	if dt := (now.at - begin.at).Seconds(); dt > 0 {
		f.Requests.Recent = float64(now.finished-begin.finished-(now.errors-begin.errors)) / dt
		if tokens > 0 {
			f.Tokens.Recent = (now.tokens - begin.tokens) / dt
		}
	}
	if dt := (now.at - begin.at).Seconds(); dt > 0 && t.running.judged {
		f.Goodput.Recent = float64(now.good-begin.good) / dt
	}
	if n := now.finished - begin.finished; n > 0 {
		f.Errors.Recent = 100 * float64(now.errors-begin.errors) / float64(n)
	}
	if n := ok + bad; n > 0 {
		f.Errors.Run = 100 * float64(bad) / float64(n)
	} else if s.Finished > 0 {
		f.Errors.Run = 100 * float64(s.Errors) / float64(s.Finished)
	}
	seconds := s.Elapsed.Seconds()
	if r := t.running; !s.Sending && s.InFlight == 0 && r.lastEnd > r.begun && r.phase == s.Index { // the same division as in the final result
		seconds = float64(r.lastEnd-r.begun) / 1e9
	}
	if seconds > 0 {
		f.Requests.Run = float64(ok) / seconds
		if tokens > 0 {
			f.Tokens.Run = tokens / seconds
		}
		if t.running.judged {
			f.Goodput.Run = float64(now.good) / seconds
		}
	}
}

// longer extends a list to at least n seconds.
func longer(list []bool, n int) []bool { return append(list, make([]bool, max(0, n-len(list)))...) }

// updateSlow updates the slow part once a second. The caller holds the mutex of the running figures.
func (t *Tracker) updateSlow(s *Snapshot, v liveview.View) {
	r := t.running
	now := s.Elapsed.Seconds()
	late := 250 * time.Millisecond // time that a result needs from the end of a request to these figures
	whole := int((s.Elapsed - late) / time.Second)
	if !s.Sending && s.InFlight == 0 {
		whole = len(r.seconds)
	}
	r.close(whole)
	f := noFigures()
	for i, to := range []*liveview.Figure{&f.TTFT, &f.ITL, &f.Latency} {
		d := &r.by[i].Sketch
		if d.Count == 0 {
			continue
		}
		p := d.Percentiles(50, 90, 99)
		to.Run, to.P90, to.P99, to.Avg, to.Max, to.Min, to.Std = p[0], p[1], p[2], d.Mean(), d.Max, d.Min, d.Std()
		to.Recent = r.recent(i)
	}
	for i := range whole {
		one := second{closed: true, medians: [latencies]float64{math.NaN(), math.NaN(), math.NaN()}}
		if i < len(r.seconds) {
			one = r.seconds[i]
		}
		if i < whole-trendSeconds {
			continue
		}
		f.Requests.Trend = append(f.Requests.Trend, float64(one.ok))
		f.Tokens.Trend = append(f.Tokens.Trend, one.tokens)
		share := math.NaN()
		if n := one.ok + one.bad; n > 0 {
			share = 100 * float64(one.bad) / float64(n)
		}
		f.Errors.Trend = append(f.Errors.Trend, share)
		for k, to := range []*liveview.Figure{&f.TTFT, &f.ITL, &f.Latency} {
			to.Trend = append(to.Trend, one.medians[k])
		}
	}
	f.Goodput.Trend = r.goodTrend(whole)
	t.silent = longer(t.silent, whole)
	f.Requests.Silent = slices.Clone(t.silent[max(0, whole-trendSeconds):whole])
	f.Tokens.Silent = f.Requests.Silent
	if r.tokens == 0 {
		f.Tokens.Trend, f.Tokens.Silent = nil, nil
	}
	t.slow = slowState{figures: f, timeline: t.timeline(s, whole, v.Width), lag: r.lagP99()}
	if v.All {
		for _, width := range liveview.TimelineWidths {
			t.slow.timelines = append(t.slow.timelines, liveview.SizedTimeline{Width: width, Timeline: t.timeline(s, whole, width)})
		}
	}
	for _, k := range []int{first, last} {
		if d := r.by[k]; (v.Width >= liveview.PictureWidth || v.All) && d.Count > 20 {
			t.slow.pictures = append(t.slow.pictures, termdraw.Of(d.Header, d.Display, &d.Sketch))
		}
	}
	for _, q := range r.slowest.List {
		t.slow.slowest = append(t.slow.slowest, liveview.Slow{
			Latency: q.Latency / 1e6, TTFT: q.TTFT / 1e6, ITL: q.ITL / 1e6, Tokens: q.Tokens, At: float64(q.Start-r.begun) / 1e9,
			Conversation: terminal.Line(q.Conversation),
		})
	}
	if v.Panel == liveview.Metrics || v.All {
		t.slow.metrics = r.table(now, float64(r.ok), r.tokens)
	}
}

// table returns the table of metrics so far.
func (r *Running) table(seconds, ok, tokens float64) (groups []liveview.Group) {
	for _, g := range liveTags {
		group := liveview.Group{Name: g.group}
		for _, tag := range g.tags {
			m, _ := metric.Lookup(tag)
			row := liveview.Metric{Name: m.Header, Short: m.Short, Unit: m.Display}
			switch {
			case tag == "output_token_throughput" && tokens > 0 && seconds > 0:
				row.One, row.Avg = true, tokens/seconds
			case tag == "request_throughput" && seconds > 0:
				row.One, row.Avg = true, ok/seconds
			case tag == "goodput" && r.judged && seconds > 0:
				row.One, row.Avg = true, float64(r.good)/seconds
			default:
				i := -1
				for k := range r.tracked {
					if r.tracked[k].Tag == tag && r.tracked[k].Count > 0 {
						i = k
					}
				}
				if i < 0 {
					continue
				}
				d := &r.tracked[i].Sketch
				p := d.Percentiles(50, 90, 99)
				row.Avg, row.Min, row.Max, row.P99, row.P90, row.P50, row.Std = d.Mean(), d.Min, d.Max, p[2], p[1], p[0], d.Std()
			}
			group.Rows = append(group.Rows, row)
		}
		if len(group.Rows) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// timeline returns the phase so far on the axis of its whole plan. Columns depend only on the phase's clock: once drawn they never change.
func (t *Tracker) timeline(s *Snapshot, seconds, width int) termdraw.Timeline {
	span := s.Elapsed.Seconds()
	if share, known := s.Share(); known && share > 0 {
		span = max(span, s.Elapsed.Seconds()/share)
	}
	if s.Duration > 0 {
		span = max(s.Duration.Seconds()+1, s.Elapsed.Seconds())
	} else {
		span = max(10, math.Pow(2, math.Ceil(math.Log2(span/10)))*10) // in steps, so that the axis does not change with every estimate
	}
	length, bins, _ := termdraw.Bin(span, width-2-termdraw.TimelineLabel)
	each := max(1, int(math.Round(length)))
	if length < 1 { // the figures are those of whole seconds
		length, bins = 1, max(1, int(math.Ceil(span)))
	}
	blank := func() []float64 {
		v := make([]float64, bins)
		for i := range v {
			v[i] = math.NaN()
		}
		return v
	}
	rate, tput, ttft, itl, tails, fly, errs, silent := blank(), blank(), blank(), blank(), blank(), blank(), make([]float64, bins), make([]bool, bins)
	r := t.running
	for bin := 0; bin < bins && (bin+1)*each <= seconds; bin++ {
		rate[bin], tput[bin] = 0, 0
		var tail tail
		var weights, sums [latencies]float64
		flights := 0.0
		for i := bin * each; i < (bin+1)*each; i++ {
			if i < len(t.flights) {
				flights += t.flights[i] / float64(each)
				silent[bin] = silent[bin] || t.silent[i]
			}
			if i >= len(r.seconds) {
				continue
			}
			one := &r.seconds[i]
			rate[bin] += float64(one.ok) / length
			tput[bin] += one.tokens / length
			errs[bin] += float64(one.bad)
			tail.merge(&one.tail)
			for k, m := range one.medians {
				if one.ok > 0 && m > 0 {
					sums[k], weights[k] = sums[k]+m*float64(one.ok), weights[k]+float64(one.ok)
				}
			}
		}
		fly[bin], tails[bin] = flights, tail.p99()
		ttft[bin], itl[bin] = sums[first]/weights[first], sums[between]/weights[between] // NaN without weights
	}
	line := termdraw.Timeline{Seconds: length, Bins: bins, Series: []termdraw.Series{{Name: "Requests/s", Values: rate, Zeros: true, Marks: silent}}}
	if r.tokens > 0 {
		line.Series = append(line.Series, termdraw.Series{Name: "Tokens/s", Unit: "out", Values: tput, Zeros: true, Marks: silent})
	}
	if r.by[first].Count > 0 {
		line.Series = append(line.Series, termdraw.Series{Name: "TTFT p50", Unit: "ms", Values: ttft}, termdraw.Series{Name: "TTFT p99", Unit: "ms", Values: tails, Extra: true})
	}
	if r.by[between].Count > 0 {
		line.Series = append(line.Series, termdraw.Series{Name: "ITL p50", Unit: "ms", Values: itl, Extra: true})
	}
	line.Series = append(line.Series, termdraw.Series{Name: "In flight", Values: fly, Low: true}, termdraw.Series{Name: "Errors", Values: errs, Digits: true})
	return line
}
