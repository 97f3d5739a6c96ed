package liveview

import (
	"time"

	"aiperf/internal/base/binenc"
	"aiperf/internal/report/termdraw"
)

// Visit encodes or decodes a state in binary form, for another process that shows it. NaN is preserved.
func (s *State) Visit(c *binenc.Coder) {
	s.Plan.visit(c)
	binenc.Slice(c, &s.Steps, func(c *binenc.Coder, one *Step) {
		c.String(&one.Name)
		c.String(&one.Text)
		c.Int((*int)(&one.State))
		span(c, &one.Took)
	})
	stage := int(s.Stage)
	if c.Int(&stage); stage < int(Starting) || stage > int(Processing) {
		c.Fail("unknown stage %d", stage)
		return
	}
	s.Stage = Stage(stage)
	c.String(&s.Phase)
	s.Counts.visit(c)
	c.Float64(&s.Share)
	c.Bool(&s.Known)
	f := &s.Figures
	for _, one := range []*Figure{&f.Requests, &f.Tokens, &f.TTFT, &f.ITL, &f.Latency, &f.Errors, &f.Goodput} {
		floats(c, &one.Recent, &one.Run, &one.P90, &one.P99, &one.Avg, &one.Max, &one.Min, &one.Std)
		binenc.Slice(c, &one.Trend, (*binenc.Coder).Float64)
		binenc.Slice(c, &one.Silent, (*binenc.Coder).Bool)
	}
	h := &s.Health
	floats(c, &h.LagP99, &h.ReadDelay, &h.CPUWait)
	c.Int64(&h.Stalls)
	span(c, &h.Longest)
	c.String(&h.Verdict)
	c.String(&h.Reason)
	binenc.Slice(c, &s.Errors, func(c *binenc.Coder, e *ErrorKind) {
		c.Int64(&e.Count)
		c.String(&e.Code)
		c.String(&e.Type)
		c.String(&e.Message)
		c.Float64(&e.Last)
	})
	binenc.Slice(c, &s.Slowest, func(c *binenc.Coder, q *Slow) {
		floats(c, &q.Latency, &q.TTFT, &q.ITL, &q.Tokens, &q.At)
		c.String(&q.Conversation)
	})
	span(c, &s.Stall.Now)
	c.Float64(&s.Stall.NowAt)
	c.Int64(&s.Stall.Waits)
	span(c, &s.Stall.Past)
	c.Float64(&s.Stall.PastAt)
	c.Int(&s.Stall.Count)
	binenc.Slice(c, &s.Pods, func(c *binenc.Coder, e *PodEvent) {
		c.Float64(&e.At)
		c.String(&e.Text)
	})
	c.Bool(&s.Stopping)
	c.Int64(&s.Writing.Done)
	c.Int64(&s.Writing.Of)
	binenc.Slice(c, &s.Timelines, func(c *binenc.Coder, one *SizedTimeline) {
		c.Int(&one.Width)
		visitTimeline(c, &one.Timeline)
	})
	binenc.Slice(c, &s.Pictures, visitDistribution)
	binenc.Slice(c, &s.Metrics, func(c *binenc.Coder, g *Group) {
		c.String(&g.Name)
		binenc.Slice(c, &g.Rows, func(c *binenc.Coder, m *Metric) { m.visit(c) })
	})
	s.visitMachines(c)
}

// visitMachines visits workers, GPUs, servers and the log.
func (s *State) visitMachines(c *binenc.Coder) {
	binenc.Slice(c, &s.Workers, func(c *binenc.Coder, w *Worker) {
		c.String(&w.Name)
		c.String(&w.State)
		for _, n := range []*int64{&w.InFlight, &w.Done, &w.Failed, &w.Memory, &w.Read, &w.Written} {
			c.Int64(n)
		}
		c.Float64(&w.CPU)
	})
	binenc.Slice(c, &s.GPUs, func(c *binenc.Coder, g *GPU) {
		c.String(&g.Title)
		binenc.Slice(c, &g.Rows, func(c *binenc.Coder, m *GPUMetric) {
			c.String(&m.Name)
			c.String(&m.Unit)
			floats(c, &m.Current, &m.Avg, &m.Min, &m.Max, &m.P99, &m.P90, &m.P50, &m.Std)
		})
	})
	binenc.Slice(c, &s.GPUNote, (*binenc.Coder).String)
	binenc.Slice(c, &s.Gauges, func(c *binenc.Coder, g *Gauge) {
		c.String(&g.Name)
		c.String(&g.Unit)
		c.Float64(&g.Value)
	})
	binenc.Slice(c, &s.Log, func(c *binenc.Coder, l *Line) {
		instant(c, &l.At)
		level := int(l.Level)
		if c.Int(&level); level < int(Debug) || level > int(Error) {
			c.Fail("unknown level %d", level)
			return
		}
		l.Level = Level(level)
		c.String(&l.Text)
	})
}

func (p *Plan) visit(c *binenc.Coder) {
	c.String(&p.Model)
	c.String(&p.Target)
	binenc.Slice(c, &p.What, (*binenc.Coder).String)
	binenc.Slice(c, &p.Phases, func(c *binenc.Coder, pair *[2]string) {
		c.String(&pair[0])
		c.String(&pair[1])
	})
	c.String(&p.Results)
	c.String(&p.Place)
}

func (n *Counts) visit(c *binenc.Coder) {
	instant(c, &n.Began)
	for _, d := range []*time.Duration{&n.Elapsed, &n.Duration, &n.Grace, &n.ETA, &n.RecordsETA} {
		span(c, d)
	}
	for _, v := range []*int64{&n.Requests, &n.Sessions, &n.SessionsDone, &n.Sent, &n.InFlight, &n.OK, &n.Errors, &n.Cancelled, &n.Records} {
		c.Int64(v)
	}
	floats(c, &n.RecordsShare, &n.CPU)
}

func (m *Metric) visit(c *binenc.Coder) {
	c.String(&m.Name)
	c.String(&m.Short)
	c.String(&m.Unit)
	floats(c, &m.Avg, &m.Min, &m.Max, &m.P99, &m.P90, &m.P50, &m.Std)
	c.Bool(&m.One)
}

func visitTimeline(c *binenc.Coder, t *termdraw.Timeline) {
	c.Float64(&t.Seconds)
	c.Int(&t.Bins)
	binenc.Slice(c, &t.Series, func(c *binenc.Coder, s *termdraw.Series) {
		c.String(&s.Name)
		c.String(&s.Unit)
		binenc.Slice(c, &s.Values, (*binenc.Coder).Float64)
		c.Bool(&s.Zeros)
		c.Bool(&s.Digits)
		c.Bool(&s.Low)
		c.Bool(&s.Extra)
		binenc.Slice(c, &s.Marks, (*binenc.Coder).Bool)
	})
}

func visitDistribution(c *binenc.Coder, d *termdraw.Distribution) {
	c.String(&d.Name)
	c.String(&d.Unit)
	binenc.Slice(c, &d.Bins, func(c *binenc.Coder, n *termdraw.Count) {
		c.Float64(&n.Value)
		c.Int64(&n.N)
	})
	floats(c, &d.Min, &d.Max, &d.P50, &d.P90, &d.P99)
}

func span(c *binenc.Coder, d *time.Duration) { c.Int64((*int64)(d)) }

// instant visits a time of the wall clock; the zero time is preserved.
func instant(c *binenc.Coder, t *time.Time) {
	var at int64
	if !t.IsZero() {
		at = t.UnixNano()
	}
	if c.Int64(&at); at == 0 {
		*t = time.Time{}
		return
	}
	*t = time.Unix(0, at)
}

func floats(c *binenc.Coder, list ...*float64) {
	for _, v := range list {
		c.Float64(v)
	}
}
