package ui

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/ui/liveview"
)

const ms = int64(time.Millisecond)

// made makes rows as a run makes them.
type made struct {
	set *metric.Selection
	t   *testing.T
}

func newMade(t *testing.T) made {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	return made{set, t}
}

// row is a request of a phase that was sent and ended at instants of the phase, in ms, with its first token 100 ms after it was sent.
func (m made) row(phase int, from, to int64, failure string) *metric.Row {
	const wall = int64(1e18)
	from, to = from+1000, to+1000 // 0 means no instant
	rec := &record.Record{Meta: record.Meta{PhaseIndex: phase, ConversationID: "c"}, Start: from * ms, End: to * ms, WallOffset: wall}
	reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: (from + 100) * ms, Text: "a"}, {At: to * ms, Text: "b"}}}
	if failure != "" {
		rec.Error = &record.Error{Code: 503, Type: "Service Unavailable", Message: failure}
	}
	return m.set.Row(rec, reply, record.Counts{Input: 5, Output: 8, Reasoning: -1})
}

// TestTracker: every figure belongs to the phase that is shown, rates are those of the phase and of the last 10 s, columns do not change once
// they are drawn.
func TestTracker(t *testing.T) {
	m, r := newMade(t), NewRunning()
	tracker := NewTracker(r)
	for range 50 {
		r.Add(m.row(0, 0, 900, "warm-up"))
		r.Add(m.row(0, 0, 900, ""))
	}
	var s liveview.State
	now := time.Now()
	line := Snapshot{Phase: "warmup", Finished: 100, Errors: 50, Sent: 100, Elapsed: time.Second, Requests: 100, Sending: true}
	tracker.Fill(&line, now, liveview.View{Width: 120, Panel: liveview.Metrics}, &s)
	if s.Counts.OK != 50 || s.Figures.Errors.Run != 50 || len(s.Errors) != 1 || s.Errors[0].Count != 50 || s.Figures.TTFT.Run != 100 {
		t.Errorf("warm-up: %+v %+v", s.Counts, s.Figures)
	}
	line = Snapshot{Phase: "profiling", Index: 1, Sent: 4, InFlight: 4, Elapsed: 10 * time.Millisecond, Duration: 40 * time.Second, Sending: true}
	tracker.Fill(&line, now.Add(time.Second), liveview.View{Width: 120, Panel: liveview.Metrics}, &s)
	if s.Counts.OK != 0 || s.Counts.Errors != 0 || len(s.Errors) != 0 || len(s.Figures.Requests.Trend) != 0 || !math.IsNaN(s.Figures.TTFT.Run) || len(s.Slowest) != 0 || s.Figures.Requests.Run != 0 {
		t.Errorf("profiling begins with %+v %+v", s.Counts, s.Figures)
	}
	var before []float64
	var sent int64
	for second := range int64(20) {
		for i := range 10 + second { // 10 in the first second, 29 in the last
			r.Add(m.row(1, second*1000+i, second*1000+500+i, ""))
			sent++
		}
		r.Add(m.row(1, second*1000, second*1000+10, "no room"))
		sent++
		at := time.Duration(second+1)*time.Second + 300*time.Millisecond
		line = Snapshot{Phase: "profiling", Index: 1, Sent: sent + 4, Finished: sent, Errors: second + 1, InFlight: 4, Elapsed: at, Duration: 40 * time.Second, Sending: true}
		tracker.Fill(&line, now.Add(time.Second+at), liveview.View{Width: 120, Panel: liveview.Metrics}, &s)
		trend := s.Figures.Requests.Trend
		if len(trend) != int(second)+1 || trend[second] != float64(10+second) {
			t.Fatalf("after %d s: %v", second+1, trend)
		}
		for i, v := range before {
			if trend[i] != v {
				t.Errorf("column %d was %v and is %v", i, v, trend[i])
			}
		}
		before = append(before[:0], trend...)
	}
	r.Add(m.row(1, 500, 900, "")) // late: of a second that is drawn
	r.Add(m.row(0, 0, 900, ""))   // of the warm-up
	line.Elapsed, line.Finished, line.Began = 21300*time.Millisecond, sent+1, now
	tracker.Fill(&line, now.Add(30*time.Second), liveview.View{Width: 120, Panel: liveview.Metrics}, &s)
	want := float64(sent+1-20) / 21.3
	if got := s.Figures.Requests.Run; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v requests/s, want %v", got, want)
	}
	if got, want := s.Figures.Tokens.Run, 8*want; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v tokens/s, want %v", got, want)
	}
	// The samples of 11.3 s and 21.3 s bound the last 10 s: 19 to 29 requests in each of nine seconds, and the late one.
	if got, want := s.Figures.Requests.Recent, (21.+22+23+24+25+26+27+28+29+1)/10; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v requests/s in the last 10 s, want %v", got, want)
	}
	if got, want := s.Counts.RecordsShare, 21.3/40; math.Abs(got-want) > 1e-9 || math.Abs(s.Counts.RecordsETA.Seconds()-18.7) > 1e-6 || !s.Counts.Began.Equal(now) {
		t.Errorf("%v of the records, want %v; %v left; begun %v", got, want, s.Counts.RecordsETA, s.Counts.Began)
	}
	behind := line // half of the answers are processed
	behind.Finished *= 2
	if tracker.Fill(&behind, now.Add(30*time.Second), liveview.View{Width: 120}, &s); math.Abs(s.Counts.RecordsShare-21.3/80) > 1e-9 {
		t.Errorf("%v of the records", s.Counts.RecordsShare)
	}
	tracker.Fill(&line, now.Add(30*time.Second), liveview.View{Width: 120, Panel: liveview.Metrics}, &s)
	if s.Figures.TTFT.Run != 100 || s.Figures.Latency.Run != 500 || s.Slowest[0].Latency != 500 || s.Errors[0].Count != 20 || s.Errors[0].Message != "no room" {
		t.Errorf("%+v %+v %+v", s.Figures, s.Slowest[0], s.Errors)
	}
	if f := s.Figures; f.TTFT.Recent != 100 || f.Latency.Max != 500 || f.Latency.Min != 400 {
		t.Errorf("%+v", f.Latency)
	}
	if got := s.Timeline.Series[0].Values[:3]; got[0] != 11 && got[0] != 10 || got[1] != 11 || got[2] != 12 {
		t.Errorf("the timeline begins with %v", got)
	}
	if len(s.Metrics) != 3 || s.Metrics[0].Rows[0].P50 != 100 {
		t.Errorf("table %+v", s.Metrics)
	}
}

// TestSecondsOfSilence: in trends and timeline seconds in which servers stalled are marked, other seconds without an answer are not.
func TestSecondsOfSilence(t *testing.T) {
	m, r := newMade(t), NewRunning()
	r.Add(m.row(0, 0, 900, ""))
	tracker := NewTracker(r)
	var s liveview.State
	for look := range int64(32) { // four a second; silent from 3.1 s to 5 s
		at := time.Duration(look+1) * 250 * time.Millisecond
		s.Stall = liveview.Stall{}
		if still := at - 3100*time.Millisecond; still >= time.Second && at <= 5*time.Second {
			s.Stall.Now = still
		}
		line := Snapshot{Phase: "profiling", Sent: 3, Finished: 1, InFlight: 2, Elapsed: at, Duration: 20 * time.Second, Sending: true}
		tracker.Fill(&line, time.Time{}.Add(time.Hour+at), liveview.View{Width: 120}, &s)
	}
	want := []bool{false, false, false, true, true, true, false, false}
	if f := s.Figures; !slices.Equal(f.Requests.Silent[:6], want[:6]) || len(f.Requests.Silent) != len(f.Requests.Trend) || !slices.Equal(f.Tokens.Silent, f.Requests.Silent) {
		t.Errorf("%v", f.Requests.Silent)
	}
	if got := s.Timeline.Series[0]; got.Values[2] != 0 || !slices.Equal(got.Marks[:8], want) {
		t.Errorf("%+v", got)
	}
}

// TestBytes: bytes are those of the phase's requests that succeeded; for requests without socket figures they are unknown.
func TestBytes(t *testing.T) {
	m, r := newMade(t), NewRunning()
	r.Add(m.row(0, 0, 900, ""))
	if read, written := r.Bytes(); read >= 0 || written >= 0 {
		t.Errorf("%d, %d bytes that nobody has counted", read, written)
	}
	for phase, failure := range []string{"", "", "no room"} {
		rec := &record.Record{Meta: record.Meta{PhaseIndex: min(phase, 1)}, Start: ms, End: 2 * ms, Trace: &record.Trace{BytesSent: 10, BytesReceived: 20}}
		if failure != "" {
			rec.Error = &record.Error{Code: 503, Message: failure}
		}
		r.Add(m.set.Row(rec, &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: 2 * ms, Text: "a"}}}, record.Counts{Input: 5, Output: 8, Reasoning: -1}))
	}
	if read, written := r.Bytes(); read != 20 || written != 10 {
		t.Errorf("%d bytes read, %d written", read, written)
	}
}

// TestDrawnColumnsStay: from one second to the next, what is drawn of a trend or of a lane of the timeline stays, and moves by one cell in a trend.
func TestDrawnColumnsStay(t *testing.T) {
	m, r := newMade(t), NewRunning()
	tracker := NewTracker(r)
	now := time.Now()
	var before [][]float64
	drawn := 0
	for second := range int64(90) { // longer than a trend
		for i := range (7*second)%23 + 1 {
			r.Add(m.row(0, second*1000+i, second*1000+200+40*(i%5), ""))
		}
		if second%3 == 0 {
			r.Add(m.row(0, second*1000, second*1000+10, "no room"))
		}
		var s liveview.State
		at := time.Duration(second+1)*time.Second + 300*time.Millisecond
		line := Snapshot{Phase: "profiling", Sent: 24 * (second + 1), InFlight: second % 5, Elapsed: at, Duration: 100 * time.Second, Sending: true}
		tracker.Fill(&line, now.Add(at), liveview.View{Width: 120}, &s)
		f, columns := &s.Figures, [][]float64(nil)
		for _, one := range []*liveview.Figure{&f.Requests, &f.Tokens, &f.TTFT, &f.ITL, &f.Latency, &f.Errors} {
			columns = append(columns, one.Trend)
		}
		trends := len(columns)
		for _, one := range s.Timeline.Series {
			columns = append(columns, one.Values)
		}
		for k, was := range before {
			is := columns[k]
			if k < trends && len(was) == len(is) { // full: the oldest column leaves
				was = was[1:]
			}
			for i, v := range was {
				if k >= trends && int64(float64(i+1)*s.Timeline.Seconds) > second {
					break // not drawn before
				}
				if drawn++; is[i] != v && !(math.IsNaN(is[i]) && math.IsNaN(v)) {
					t.Fatalf("after %d s column %d of lane %d was %v and is %v", second+1, i, k, v, is[i])
				}
			}
		}
		before = before[:0]
		for _, one := range columns {
			before = append(before, slices.Clone(one))
		}
	}
	if drawn < 20_000 {
		t.Errorf("%d columns compared", drawn)
	}
}

// TestManyKinds: texts of servers do not fill the memory, and steer no terminal.
func TestManyKinds(t *testing.T) {
	m, r := newMade(t), NewRunning()
	for i := range 3 * maxKinds {
		r.Add(m.row(0, 0, 10, itoa(i)+"\x1b[31m"))
	}
	var s liveview.State
	NewTracker(r).Fill(&Snapshot{Finished: 150, Errors: 150, Elapsed: time.Second, Sending: true}, time.Now(), liveview.View{Width: 80}, &s)
	if n := len(s.Errors); n != maxKinds+1 || s.Errors[n-1].Count != 2*maxKinds {
		t.Errorf("%d kinds, %+v", n, s.Errors[n-1])
	}
	for _, e := range s.Errors {
		for _, c := range e.Message {
			if c < ' ' {
				t.Errorf("%q", e.Message)
			}
		}
	}
}

// BenchmarkFill is what a look costs while answers keep coming.
func BenchmarkFill(b *testing.B) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		b.Fatal(err)
	}
	m, r := made{set: set}, NewRunning()
	for i := range int64(40_000) {
		r.Add(m.row(0, i, i+500+i%97, ""))
	}
	tracker := NewTracker(r)
	var s liveview.State
	now := time.Now()
	line := Snapshot{Phase: "profiling", Finished: 40_000, Sent: 40_024, InFlight: 24, Elapsed: 40 * time.Second, Duration: time.Minute, Sending: true}
	b.Run("counts", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tracker.Fill(&line, now, liveview.View{Width: 80}, &s)
		}
	})
	b.Run("percentiles", func(b *testing.B) {
		for b.Loop() {
			now = now.Add(2 * time.Second)
			tracker.Fill(&line, now, liveview.View{Width: 80}, &s)
		}
	})
}

// TestGoodputAndLag: the goodput counts the requests that met their limits, by second and over the phase; the lag is that of the requests' schedule.
func TestGoodputAndLag(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true, Goodput: "request_latency:500"})
	if err != nil {
		t.Fatal(err)
	}
	m, r := made{set, t}, NewRunning()
	for i := range int64(8) { // two in each of four seconds, of which one meets the limit
		for _, length := range []int64{400, 600} {
			if i%2 == 0 {
				r.Add(m.row(0, 500*i, 500*i+length, ""))
			}
		}
	}
	late := m.row(0, 3000, 3400, "")
	r.lag.Add(7e6)
	r.Add(late)
	var s liveview.State
	line := Snapshot{Sent: 9, Finished: 9, Elapsed: 4500 * time.Millisecond, Duration: 40 * time.Second, Sending: true}
	NewTracker(r).Fill(&line, time.Now(), liveview.View{Width: 120}, &s)
	f := &s.Figures.Goodput
	if want := []float64{1, 1, 1, 2}; !slices.Equal(f.Trend, want) || f.Run != 5/4.5 || f.Recent != 5/4.5 || s.Health.LagP99 != 7 {
		t.Errorf("%v, want %v; %+v, lag %v", f.Trend, want, f, s.Health.LagP99)
	}
	NewTracker(r).Fill(&line, time.Now(), liveview.View{Width: 120, Panel: liveview.Metrics}, &s)
	found := false
	for _, g := range s.Metrics {
		for _, row := range g.Rows {
			found = found || row.Name == "Goodput" && row.One && row.Avg == 5/4.5
		}
	}
	if !found {
		t.Errorf("the table of metrics lacks the goodput: %+v", s.Metrics)
	}
	plain := NewRunning()
	plain.Add(newMade(t).row(0, 0, 400, ""))
	NewTracker(plain).Fill(&line, time.Now(), liveview.View{Width: 120}, &s)
	if s.Figures.Goodput.Trend != nil || !math.IsNaN(s.Figures.Goodput.Run) || !math.IsNaN(s.Health.LagP99) {
		t.Errorf("without limits: %+v, lag %v", s.Figures.Goodput, s.Health.LagP99)
	}
}

// TestNamesFit: at 80 columns the panel of metrics cuts no name.
func TestNamesFit(t *testing.T) {
	s := &liveview.State{Stage: liveview.Profiling}
	for _, g := range liveTags {
		group := liveview.Group{Name: g.group}
		for _, tag := range g.tags {
			m, ok := metric.Lookup(tag)
			if !ok {
				t.Fatal(tag)
			}
			group.Rows = append(group.Rows, liveview.Metric{Name: m.Header, Short: m.Short, Unit: m.Display})
		}
		s.Metrics = append(s.Metrics, group)
	}
	for _, row := range liveview.Frame(s, liveview.View{Width: 80, Height: 60, Panel: liveview.Metrics}) {
		if strings.Contains(row.Plain(), "…") {
			t.Errorf("%q", row.Plain())
		}
	}
}
