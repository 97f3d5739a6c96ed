package metric

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/measure/record"
)

// Options determine the metrics of a run and how they are computed.
type Options struct {
	Streaming      bool // responses are streams
	ProducesTokens bool // the endpoint answers with text
	TokenizesInput bool // the endpoint's input is text with counted tokens
	ImageInput     bool
	AudioInput     bool
	VideoOutput    bool
	FixedSchedule  bool
	Accuracy       bool

	ServerTokens  bool   // token counts come from the server's usage objects
	PerChunkUsage bool   // the ITL divisor excludes the tokens of the first message
	Goodput       string // objectives, "TAG:VALUE TAG:VALUE", values in display units; "" = none

	Thresholds *Thresholds // nil = DefaultThresholds

	// EmptyOutput gives answers without tokens (embeddings, rankings) an output length of 0 instead of none, as the Python tool does.
	WholeITL    bool // round inter-token latencies to whole ns, as GenAI-Perf does
	EmptyOutput bool
	// Spell words the settings in errors; nil uses their keys.
	Spell setting.Spell `json:"-"`
	// As013 computes like the Python tool 0.13 where ours differs on purpose: rates over the phase window, wall instants rounded to float64, an ITL
	// of 0 for an answer in one message. It serves only the comparison with recordings of that tool.
	As013 bool
}

// Thresholds determine which requests count as different; 0 counts every difference.
type Thresholds struct {
	UsagePct  float64 // difference of the server's token counts from ours, percent
	OSLPct    float64 // difference of the output length from the requested one, percent
	OSLTokens float64 // maximum in tokens, if that is less
}

// DefaultThresholds returns the thresholds of a run without settings of them.
func DefaultThresholds() Thresholds { return Thresholds{UsagePct: 10, OSLPct: 5, OSLTokens: 50} }

// Selection is the set of metrics of one run. It is safe for concurrent use.
type Selection struct {
	opts    Options
	goals   []Objective
	use     []bool // by position in the table
	slot    []int  // column of a metric by position, -1 = none
	columns []int  // position by column
	lines   []int  // positions of the metrics that the records JSONL may have
	good    int    // column of good_request_count, -1 = none
	gaps    bool   // inter-chunk gaps are stored
}

// NewSelection selects the metrics that apply. It fails if the objectives contain a metric that cannot be one.
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
		if s.use[i] && m.InRecords && !m.Hidden() && (m.gaps || s.slot[i] >= 0) {
			s.lines = append(s.lines, i)
		}
	}
	var err error
	s.goals, err = s.objectives(opts.Goodput)
	return s, err
}

// allows reports whether a metric with these flags exists in the run.
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

// Uses reports whether the set contains a metric.
func (s *Selection) Uses(tag string) bool {
	i, ok := index[tag]
	return ok && s.use[i]
}

// Options returns the options of the set, with defaults filled in.
func (s *Selection) Options() Options { return s.opts }

// instant returns a wall instant in ns, rounded as the set requires.
func (s *Selection) instant(wall int64) int64 {
	if s.opts.As013 {
		return int64(float64(wall))
	}
	return wall
}

// instantBefore returns the last instant before t.
func (s *Selection) instantBefore(t int64) int64 {
	if s.opts.As013 {
		return int64(math.Nextafter(float64(t), 0))
	}
	return t - 1
}

// Row holds the values of one request.
type Row struct {
	Meta   record.Meta
	Class  Class
	Err    *record.Error // nil = valid
	Start  int64         // wall, Unix ns
	End    int64         // wall, Unix ns
	Issued int64         // wall, Unix ns; 0 = unknown
	Gaps   []float64     // ns between content messages; nil = fewer than two messages, or not a streaming run
	// OneMessage marks an answer of two or more tokens in one message, so that its ITL could not be measured.
	OneMessage   bool
	Unreadable   int64  // messages of a valid answer that are not JSON
	MissingUsage bool   // the server was to count the tokens of a valid answer and did not
	Aborted      bool   // the finish reason of a valid answer says that the server gave up
	EarlyUsage   bool   // the tokens of a valid answer are those of a usage object before its last content
	MoreChoices  bool   // the client counted only the first of several choices of a valid answer
	Alternating  bool   // messages of several choices of a valid answer alternate, and all their tokens count
	Finished     bool   // a valid answer with a finish reason
	Uncounted    string // why its tokens were not counted; "" = they were, or it was not requested
	Reads        int64  // reads with a kernel timestamp
	ReadDelay    int64  // their summed delay in ns
	SharedReads  int64  // content messages that share their read with a later message and have no packet timestamp
	// Drafts holds the server's report on speculative decoding; nil = none.
	Drafts *record.Drafts
	doubt  requestUncertainty
	lumps  lumpCount
	wait   unansweredWait // of a request that the client gave up
	remote bool           // the kernel has statistics of its connection, which leads to another machine
	// margins holds the possible errors of the values; nil = they are exact.
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
	r.classify(rec, reply)
	f := factsPool.Get().(*requestFacts)
	defer f.free()
	*f = newFacts(s, rec, reply, counts, r.Class == Valid)
	for col, i := range s.columns {
		r.values[col] = absent()
		if m := &table[i]; m.record != nil && m.covers(r.Class) {
			r.values[col] = finite(m.record(f))
		}
	}
	if r.Class == Valid {
		r.doubt = f.doubt()
		r.SharedReads = r.doubt.shared
		r.Gaps = f.gaps()
		if reply != nil {
			r.describe(reply, counts)
		}
		r.OneMessage = !f.several && s.opts.Streaming && s.opts.ProducesTokens && f.osl() >= 2
		if s.opts.Streaming && reply != nil {
			r.lumps = lumpsOf(rec, reply.Contents, func(c *record.Content) int64 { return messageOf(rec, c).UncertainNs })
			r.lumps.isOneLump = f.several && !f.measured && s.opts.ProducesTokens && f.osl() >= 2
			r.doubt.oneLump = f.several && !f.measured
		}
		if s.good >= 0 {
			r.values[s.good] = r.meets(s.goals)
		}
		r.margins = f.margins(r)
	}
	return r
}

// gaveUp are the finish reasons of answers that the server ended before the model did: of vLLM, SGLang, TensorRT-LLM and OpenRouter.
var gaveUp = map[string]bool{"abort": true, "aborted": true, "error": true, "cancelled": true, "canceled": true, "timeout": true}

// describe sets what a valid answer says about itself, and which of its tokens may be missing.
func (r *Row) describe(reply *record.Reply, counts record.Counts) {
	o := &r.set.opts
	r.Drafts, r.Unreadable, r.Finished = reply.Drafts, int64(reply.Unreadable), reply.FinishReason != ""
	r.Alternating = reply.AlternatingChoices
	r.Aborted = gaveUp[strings.ToLower(reply.FinishReason)]
	r.MoreChoices, r.EarlyUsage = reply.MoreChoices && !o.ServerTokens, reply.EarlyUsage && o.ServerTokens
	r.MissingUsage = o.ServerTokens && o.ProducesTokens && counts.Output < 0
}

// classify sets the class of the row, and how long its request had waited if the client gave it up.
func (r *Row) classify(rec *record.Record, reply *record.Reply) {
	switch {
	case rec.Cut != "":
		r.Class, r.wait = Cut, waitOf(rec, reply)
	case r.Err != nil:
		r.Class = Failed
		if (timedOut(r.Err) || r.Err.Type == record.PlannedCancellation) && waitedForAnswer(rec) {
			r.wait = waitOf(rec, reply)
		}
	}
}

// covers reports whether requests of a class have the metric.
func (m *Metric) covers(c Class) bool {
	switch c {
	case Valid:
		return m.Flags&ErrorOnly == 0
	case Failed:
		return m.Flags&(ErrorOnly|EveryRecord) != 0
	}
	return false
}

// finite returns v; absent if it is infinite.
func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return absent()
	}
	return v
}

// gaps returns the times between content messages; nil if there are none, or one is negative.
func (f *requestFacts) gaps() []float64 {
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

// Value returns the row's value of a metric in its unit; false if absent.
func (r *Row) Value(tag string) (float64, bool) {
	i, ok := index[tag]
	if !ok || r.set.slot[i] < 0 {
		return 0, false
	}
	v := r.values[r.set.slot[i]]
	return v, !math.IsNaN(v)
}

// Each calls visit for the values in the records JSONL, in the order of the exports. list is nil for a single value. Values are in the metric's unit.
func (r *Row) Each(visit func(m *Metric, v float64, list []float64)) {
	for _, i := range r.set.lines {
		m := &table[i]
		switch {
		case m.gaps && r.Gaps != nil:
			visit(m, 0, r.Gaps)
		case r.set.slot[i] >= 0:
			if v := r.values[r.set.slot[i]]; !math.IsNaN(v) {
				visit(m, v, nil)
			}
		}
	}
}

// String returns the name of the row in messages.
func (r *Row) String() string { return fmt.Sprintf("request %s", r.Meta.RequestID) }
