package metric

import (
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// The largest error of a timestamp that still counts as certain. The larger of the two limits applies.
const (
	certainWithin = float64(time.Millisecond)
	certainShare  = 0.01 // share of the latency, or of the gap
)

// requestUncertainty holds the possible errors of the timestamps of one request.
type requestUncertainty struct {
	first      float64 // ns by which the first message (or the whole body) may have arrived earlier
	send       float64 // ns by which the request may have been sent later than its start
	gap        float64 // ns by which a gap may be wrong, the maximum
	firstWrong bool    // the error is larger than certain ones
	gapWrong   bool
	oneLump    bool  // every gap is zero, because all messages arrived at one instant
	packets    int64 // content messages with a timestamp from a packet
	shared     int64 // other content messages that share their read with a later message
}

// noMessage replaces a message that the record does not contain; its timestamp counts as exact.
var noMessage record.Message

// messageOf returns the message with a content.
func messageOf(rec *record.Record, c *record.Content) *record.Message {
	if c.Message < len(rec.Messages) {
		return &rec.Messages[c.Message]
	}
	return &noMessage
}

// doubt summarises the uncertainty of a request's content messages.
func (f *requestFacts) doubt() (d requestUncertainty) {
	if f.reply == nil || len(f.reply.Contents) == 0 {
		return d
	}
	c := f.reply.Contents
	uncertain := func(i int) float64 { return float64(messageOf(f.rec, &c[i]).UncertainNs) }
	d.first = uncertain(0)
	if f.rec.Trace != nil {
		d.send = float64(f.rec.Trace.SendUncertainNs)
	}
	d.firstWrong = exceedsCertainty(d.first+d.send, f.ttft())
	for i := range c {
		switch {
		case messageOf(f.rec, &c[i]).Clock == record.PacketClock:
			d.packets++
		case uncertain(i) > 0 && len(f.rec.Exchanges) > 0 && !messageOf(f.rec, &c[i]).Shared: // the answer to a poll
		case uncertain(i) > 0, i+1 < len(c) && c[i+1].At == c[i].At: // imported records only show equal timestamps
			d.shared++
		}
		if i == 0 {
			continue
		}
		by := max(uncertain(i-1), uncertain(i))
		d.gap = max(d.gap, by)
		d.gapWrong = d.gapWrong || exceedsCertainty(by, float64(c[i].At-c[i-1].At))
	}
	return d
}

func exceedsCertainty(by, of float64) bool { return by > certainWithin && by > certainShare*of }

// noGaps marks rows without measured gaps.
const noGaps = 4

// uncertainties holds the uncertainties of all rows.
type uncertainties struct {
	wrong stats.Column // sum of 1 first, 2 gaps, noGaps
	sum   Certainty
}

func (c *uncertainties) add(d *requestUncertainty, valid bool) {
	bits := 0.0
	if !valid {
		d = &requestUncertainty{}
	}
	if d.firstWrong {
		bits++
		c.sum.UncertainFirst++
	}
	if d.gapWrong {
		bits += 2
		c.sum.UncertainGaps++
	}
	if bits > 0 {
		c.sum.Uncertain++
	}
	if d.oneLump {
		bits += noGaps
	}
	c.sum.FirstErrorMax = max(c.sum.FirstErrorMax, time.Duration(d.first+d.send))
	c.sum.GapErrorMax = max(c.sum.GapErrorMax, time.Duration(d.gap))
	c.sum.PacketStamps += d.packets
	c.wrong.Append(bits)
}

// certainTags are the metrics that are also reported for the certain requests alone.
var certainTags = []string{"time_to_first_token", "inter_token_latency", "inter_chunk_latency", "request_latency"}

// certainty summarises the uncertainty of the timestamps. If some requests are uncertain, it returns the metrics of the certain ones.
func (r *Reducer) certainty() (sum Certainty, certain []Result) {
	sum = r.doubts.sum
	if sum.Uncertain == 0 {
		return sum, nil
	}
	for _, tag := range certainTags {
		if !r.set.Uses(tag) {
			continue
		}
		m := &table[index[tag]]
		if d := stats.Describe(r.certainValues(m)); d.Count > 0 {
			certain = append(certain, Result{m, distribution(&d, m.Factor())})
		}
	}
	return sum, certain
}

// certainValues returns the values of a metric in the certain rows.
func (r *Reducer) certainValues(m *Metric) (out []float64) {
	wrong := r.doubts.wrong.Cursor()
	if m.gaps {
		gaps, lens := r.gaps.Cursor(), r.lens.Cursor()
		for range r.rows {
			sure := wrong.Next() == 0
			for range int(lens.Next()) {
				if v := gaps.Next(); sure {
					out = append(out, v)
				}
			}
		}
		return out
	}
	values := r.column(m.Tag).Cursor()
	for range r.rows {
		if v, bits := values.Next(), wrong.Next(); (bits == 0 || bits == noGaps) && v >= 0 {
			out = append(out, v)
		}
	}
	return out
}
