package metric

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/record"
	"aiperf/internal/setting"
)

// Options say which metrics a run has and how they are computed.
type Options struct {
	Streaming      bool // responses come as streams
	ProducesTokens bool // the endpoint answers with text
	TokenizesInput bool // the endpoint's input is text that is counted
	ImageInput     bool
	AudioInput     bool
	VideoOutput    bool
	FixedSchedule  bool
	Accuracy       bool

	ServerTokens  bool   // counts come from the server's usage objects
	PerChunkUsage bool   // the first message's own count is taken out of the ITL divisor
	Goodput       string // objectives, "TAG:VALUE TAG:VALUE", values in display units; "" = none

	Thresholds *Thresholds // nil = DefaultThresholds

	// EmptyOutput gives answers without tokens (embeddings, rankings) an output length of 0, as the Python tool does, in place of none.
	WholeITL    bool // inter-token latencies are whole ns, as GenAI-Perf rounds them
	EmptyOutput bool
	// Spell words the settings that errors speak of; nil names their keys.
	Spell setting.Spell `json:"-"`
	// As013 computes as the Python tool 0.13 does where ours differs on purpose: rates over the phase window, wall instants rounded
	// to float64, an ITL of 0 for an answer in one message. For comparison with its recordings only.
	As013 bool
}

// Thresholds say which requests are counted as differing; 0 counts every difference.
type Thresholds struct {
	UsagePct  float64 // of the server's token counts from ours, percent
	OSLPct    float64 // of the output length from the one asked for, percent of it
	OSLTokens float64 // or this many tokens, if that is less
}

// DefaultThresholds are those of a run that names none.
func DefaultThresholds() Thresholds { return Thresholds{UsagePct: 10, OSLPct: 5, OSLTokens: 50} }

// Selection is the metrics of one run. It is safe for concurrent use.
type Selection struct {
	opts    Options
	goals   []Objective
	use     []bool // by position in the table
	slot    []int  // column of a metric by position, -1 = none
	columns []int  // position by column
	good    int    // column of good_request_count, -1 = none
	gaps    bool   // inter-chunk gaps are kept
}

// NewSelection chooses the metrics that apply. It fails if the objectives name anything that cannot be one.
func NewSelection(opts Options) (*Selection, error) {
	if opts.Thresholds == nil {
		limits := DefaultThresholds()
		opts.Thresholds = &limits
	}
	s := &Selection{opts: opts, use: make([]bool, len(table)), slot: make([]int, len(table)), good: -1}
	for i := range table {
		m := &table[i]
		s.slot[i] = -1
		s.use[i] = opts.allows(m.Flags) || opts.EmptyOutput && m.Tag == "output_sequence_length"
		if s.use[i] && m.gaps {
			s.gaps = true
		}
		if s.use[i] && (m.record != nil || m.Flags&Goodput != 0 && m.InRecords) {
			s.slot[i] = len(s.columns)
			if m.record == nil {
				s.good = len(s.columns)
			}
			s.columns = append(s.columns, i)
		}
	}
	var err error
	s.goals, err = s.objectives(opts.Goodput)
	return s, err
}

// allows tells whether a metric with these flags exists in the run.
func (o *Options) allows(f Flags) bool {
	gates := [...]struct {
		flag Flags
		open bool
	}{
		{Streaming, o.Streaming},
		{Tokens, o.ProducesTokens},
		{Input, o.TokenizesInput},
		{Image, o.ImageInput},
		{Audio, o.AudioInput},
		{VideoOutput, o.VideoOutput},
		{Goodput, strings.TrimSpace(o.Goodput) != ""},
		{UsageDiff, !o.ServerTokens},
		{Schedule, o.FixedSchedule},
		{NoAccuracy, !o.Accuracy},
	}
	for _, g := range gates {
		if f&g.flag != 0 && !g.open {
			return false
		}
	}
	return true
}

// Uses tells whether the set has a metric.
func (s *Selection) Uses(tag string) bool {
	i, ok := index[tag]
	return ok && s.use[i]
}

// Options returns what the set was made from, defaults filled.
func (s *Selection) Options() Options { return s.opts }

// instant is a wall instant in ns as the set's arithmetic sees it.
func (s *Selection) instant(wall int64) int64 {
	if s.opts.As013 {
		return int64(float64(wall))
	}
	return wall
}

// before is the last instant before t.
func (s *Selection) before(t int64) int64 {
	if s.opts.As013 {
		return int64(math.Nextafter(float64(t), 0))
	}
	return t - 1
}

// Row is the values of one request.
type Row struct {
	Meta   record.Meta
	Class  Class
	Err    *record.Error // nil = valid
	Start  int64         // wall, Unix ns
	End    int64         // wall, Unix ns
	Issued int64         // wall, Unix ns; 0 = unknown
	Gaps   []float64     // ns between content messages; nil = fewer than two messages, or not a streaming run
	// OneMessage marks an answer of two tokens or more that came in one message, so that its ITL could not be measured.
	OneMessage  bool
	Uncounted   string // why its tokens were not counted; "" = they were, or nobody asked
	Reads       int64  // reads with a kernel stamp
	ReadDelay   int64  // their summed delay in ns
	SharedReads int64  // content messages that share their read with a later message, and whose instant is no packet's
	// Drafts is what a server that guesses tokens ahead said; nil = nothing.
	Drafts *record.Drafts
	doubt  doubt
	lumps  lumpCount
	remote bool // the kernel knows its connection, which leads to another machine
	// margins tells how wrong the values may be; nil = they are exact.
	margins *margins

	set    *Selection
	values []float64 // by column, NaN = absent
}

// Row computes the values of one request. reply is nil if there was none.
func (s *Selection) Row(rec *record.Record, reply *record.Reply, counts record.Counts) *Row {
	r := &Row{Meta: rec.Meta, Uncounted: counts.Missing, set: s, values: make([]float64, len(s.columns)), Start: rec.Wall(rec.Start), End: rec.Wall(rec.End), Err: Failure(rec, reply)}
	if rec.Issued != 0 {
		r.Issued = rec.Wall(rec.Issued)
	}
	r.remote = remote(rec.Trace)
	if t := rec.Trace; t != nil {
		r.Reads, r.ReadDelay = int64(t.Reads), t.ReadDelaySum
	}
	switch {
	case rec.Cut != "":
		r.Class = Cut
	case r.Err != nil:
		r.Class = Failed
	}
	f := newFacts(s, rec, reply, counts, r.Class == Valid)
	for col, i := range s.columns {
		r.values[col] = absent()
		if m := &table[i]; m.record != nil && m.covers(r.Class) {
			r.values[col] = finite(m.record(&f))
		}
	}
	if r.Class == Valid {
		r.doubt = f.doubt()
		r.SharedReads = r.doubt.shared
		r.Gaps = f.gaps()
		if reply != nil {
			r.Drafts = reply.Drafts
		}
		r.OneMessage = !f.several && s.opts.Streaming && s.opts.ProducesTokens && f.osl() >= 2
		if s.opts.Streaming && reply != nil {
			r.lumps = lumpsOf(rec, reply.Contents, func(c *record.Content) int64 { return messageOf(rec, c).UncertainNs })
			r.lumps.one = f.several && !f.measured && s.opts.ProducesTokens && f.osl() >= 2
			r.doubt.oneLump = f.several && !f.measured
		}
		if s.good >= 0 {
			r.values[s.good] = r.meets(s.goals)
		}
		r.margins = f.margins(r)
	}
	return r
}

// covers tells whether requests of a class have the metric.
func (m *Metric) covers(c Class) bool {
	switch c {
	case Valid:
		return m.Flags&ErrorOnly == 0
	case Failed:
		return m.Flags&(ErrorOnly|EveryRecord) != 0
	}
	return false
}

// finite is v, absent if it is infinite.
func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return absent()
	}
	return v
}

// gaps are the times between content messages; nil if there are none, or one is negative.
func (f *facts) gaps() []float64 {
	if !f.set.gaps || !f.several {
		return nil
	}
	c := f.reply.Contents
	g := make([]float64, len(c)-1)
	for i := range g {
		g[i] = between(c[i].At, c[i+1].At)
		if math.IsNaN(g[i]) {
			return nil
		}
	}
	return g
}

// Value is the row's value of a metric in its unit; false if absent.
func (r *Row) Value(tag string) (float64, bool) {
	i, ok := index[tag]
	if !ok || r.set.slot[i] < 0 {
		return 0, false
	}
	v := r.values[r.set.slot[i]]
	return v, !math.IsNaN(v)
}

// Each visits the values that the records JSONL shows, in the order of the exports: list is nil for a single value. Values are in the
// metric's unit.
func (r *Row) Each(visit func(m *Metric, v float64, list []float64)) {
	for i := range table {
		m := &table[i]
		switch {
		case !m.InRecords || m.Hidden() || !r.set.use[i]:
		case m.gaps && r.Gaps != nil:
			visit(m, 0, r.Gaps)
		case r.set.slot[i] >= 0:
			if v := r.values[r.set.slot[i]]; !math.IsNaN(v) {
				visit(m, v, nil)
			}
		}
	}
}

// String names the row in messages.
func (r *Row) String() string { return fmt.Sprintf("request %s", r.Meta.RequestID) }
