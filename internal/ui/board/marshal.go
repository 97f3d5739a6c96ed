package board

import (
	"time"

	"aiperf/internal/draw"
	"aiperf/internal/marshal"
)

// Visit is the binary form of a state, for another process that shows it. NaN stays NaN.
func (s *State) Visit(c *marshal.Coder) {
	s.Plan.visit(c)
	marshal.Slice(c, &s.Steps, func(c *marshal.Coder, one *Step) {
		c.String(&one.Name)
		c.String(&one.Text)
		c.Int((*int)(&one.State))
		span(c, &one.Took)
	})
	stage := int(s.Stage)
	if c.Int(&stage); stage < int(Starting) || stage > int(Processing) {
		c.Fail("there is no stage %d", stage)
		return
	}
	s.Stage = Stage(stage)
	c.String(&s.Phase)
	s.Counts.visit(c)
	c.Float64(&s.Share)
	c.Bool(&s.Known)
	f := &s.Figures
	for _, one := range []*Figure{&f.Requests, &f.Tokens, &f.TTFT, &f.ITL, &f.Latency, &f.Errors} {
		floats(c, &one.Recent, &one.Run, &one.P90, &one.P99, &one.Avg, &one.Max, &one.Min, &one.Std)
		marshal.Slice(c, &one.Trend, (*marshal.Coder).Float64)
		marshal.Slice(c, &one.Silent, (*marshal.Coder).Bool)
	}
	marshal.Slice(c, &s.Errors, func(c *marshal.Coder, e *ErrorKind) {
		c.Int64(&e.Count)
		c.String(&e.Code)
		c.String(&e.Type)
		c.String(&e.Message)
		c.Float64(&e.Last)
	})
	marshal.Slice(c, &s.Slowest, func(c *marshal.Coder, q *Slow) {
		floats(c, &q.Latency, &q.TTFT, &q.ITL, &q.Tokens, &q.At)
		c.String(&q.Conversation)
	})
	span(c, &s.Stall.Now)
	c.Float64(&s.Stall.NowAt)
	c.Int64(&s.Stall.Waits)
	span(c, &s.Stall.Past)
	c.Float64(&s.Stall.PastAt)
	c.Int(&s.Stall.Count)
	c.Bool(&s.Stopping)
	c.Int64(&s.Writing.Done)
	c.Int64(&s.Writing.Of)
	marshal.Slice(c, &s.Timelines, func(c *marshal.Coder, one *Sized) {
		c.Int(&one.Width)
		visitTimeline(c, &one.Timeline)
	})
	marshal.Slice(c, &s.Pictures, visitDistribution)
	marshal.Slice(c, &s.Metrics, func(c *marshal.Coder, g *Group) {
		c.String(&g.Name)
		marshal.Slice(c, &g.Rows, func(c *marshal.Coder, m *Metric) { m.visit(c) })
	})
	s.visitMachines(c)
}

// visitMachines visits what is told of workers, GPUs and servers, and the log.
func (s *State) visitMachines(c *marshal.Coder) {
	marshal.Slice(c, &s.Workers, func(c *marshal.Coder, w *Worker) {
		c.String(&w.Name)
		c.String(&w.State)
		for _, n := range []*int64{&w.InFlight, &w.Done, &w.Failed, &w.Memory, &w.Read, &w.Written} {
			c.Int64(n)
		}
		c.Float64(&w.CPU)
	})
	marshal.Slice(c, &s.GPUs, func(c *marshal.Coder, g *GPU) {
		c.String(&g.Title)
		marshal.Slice(c, &g.Rows, func(c *marshal.Coder, m *GPUMetric) {
			c.String(&m.Name)
			c.String(&m.Unit)
			floats(c, &m.Current, &m.Avg, &m.Min, &m.Max, &m.P99, &m.P90, &m.P50, &m.Std)
		})
	})
	marshal.Slice(c, &s.GPUNote, (*marshal.Coder).String)
	marshal.Slice(c, &s.Gauges, func(c *marshal.Coder, g *Gauge) {
		c.String(&g.Name)
		c.String(&g.Unit)
		c.Float64(&g.Value)
	})
	marshal.Slice(c, &s.Log, func(c *marshal.Coder, l *Line) {
		instant(c, &l.At)
		level := int(l.Level)
		if c.Int(&level); level < int(Debug) || level > int(Error) {
			c.Fail("there is no level %d", level)
			return
		}
		l.Level = Level(level)
		c.String(&l.Text)
	})
}

func (p *Plan) visit(c *marshal.Coder) {
	c.String(&p.Model)
	c.String(&p.Target)
	marshal.Slice(c, &p.What, (*marshal.Coder).String)
	marshal.Slice(c, &p.Phases, func(c *marshal.Coder, pair *[2]string) {
		c.String(&pair[0])
		c.String(&pair[1])
	})
	c.String(&p.Results)
}

func (n *Counts) visit(c *marshal.Coder) {
	instant(c, &n.Began)
	for _, d := range []*time.Duration{&n.Elapsed, &n.Duration, &n.Grace, &n.ETA, &n.RecordsETA} {
		span(c, d)
	}
	for _, v := range []*int64{&n.Requests, &n.Sessions, &n.SessionsDone, &n.Sent, &n.InFlight, &n.OK, &n.Errors, &n.Cancelled, &n.Records} {
		c.Int64(v)
	}
	floats(c, &n.RecordsShare, &n.CPU)
}

func (m *Metric) visit(c *marshal.Coder) {
	c.String(&m.Name)
	c.String(&m.Short)
	c.String(&m.Unit)
	floats(c, &m.Avg, &m.Min, &m.Max, &m.P99, &m.P90, &m.P50, &m.Std)
	c.Bool(&m.One)
}

func visitTimeline(c *marshal.Coder, t *draw.Timeline) {
	c.Float64(&t.Seconds)
	c.Int(&t.Bins)
	marshal.Slice(c, &t.Series, func(c *marshal.Coder, s *draw.Series) {
		c.String(&s.Name)
		c.String(&s.Unit)
		marshal.Slice(c, &s.Values, (*marshal.Coder).Float64)
		c.Bool(&s.Zeros)
		c.Bool(&s.Digits)
		c.Bool(&s.Low)
		marshal.Slice(c, &s.Marks, (*marshal.Coder).Bool)
	})
}

func visitDistribution(c *marshal.Coder, d *draw.Distribution) {
	c.String(&d.Name)
	c.String(&d.Unit)
	marshal.Slice(c, &d.Bins, func(c *marshal.Coder, n *draw.Count) {
		c.Float64(&n.Value)
		c.Int64(&n.N)
	})
	floats(c, &d.Min, &d.Max, &d.P50, &d.P90, &d.P99)
}

func span(c *marshal.Coder, d *time.Duration) { c.Int64((*int64)(d)) }

// instant visits a time of the wall clock; the zero one stays that.
func instant(c *marshal.Coder, t *time.Time) {
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

func floats(c *marshal.Coder, list ...*float64) {
	for _, v := range list {
		c.Float64(v)
	}
}
