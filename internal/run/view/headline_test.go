package view

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/console"
	"aiperf/internal/report/ui/liveview"
)

// TestLastFrameIsTheHeadline: the six figures of the last frame of the live view are those of the summary, and so are those with which the report ends.
func TestLastFrameIsTheHeadline(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	const ms, wall = int64(1_000_000), int64(1e18)
	r := set.NewReducer()
	for i := range int64(200) {
		from, to := 1000+37*i, 1800+37*i+i%19
		rec := &record.Record{Meta: record.Meta{RequestID: fmt.Sprint(i)}, Start: from * ms, End: to * ms, WallOffset: wall}
		if i%25 == 3 {
			rec.Error = &record.Error{Code: 503, Type: "Service Unavailable", Message: "no room"}
		}
		reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: (from + 100 + i%31) * ms, Text: "a"}, {At: to * ms, Text: "b"}}}
		r.Add(set.Row(rec, reply, record.Counts{Input: 5, Output: 60, Reasoning: -1}))
	}
	s := r.Summary(metric.Window{From: wall + 1000*ms, To: wall + 9500*ms})
	rows := liveview.Frame(&liveview.State{Stage: liveview.Processing, Figures: *figuresOf(s)}, liveview.View{Width: 120, Height: 40})
	live := map[string][]string{} // by the first word of a row
	for i := range rows {
		if fields := strings.Fields(rows[i].Plain()); len(fields) > 2 {
			live[fields[0]] = fields
		}
	}
	var b bytes.Buffer
	if err := console.Headline(&b, &metric.Run{Title: "LLM Metrics", Profiling: s}, "dir", 1, console.Options{Terminal: true, Width: 120}); err != nil {
		t.Fatal(err)
	}
	ends := strings.Join(strings.Fields(b.String()), " ")
	for _, c := range []struct {
		row, tag string
		column   int // of the row: the figure of the run
	}{{"Requests", "request_throughput", 3}, {"Tokens", "output_token_throughput", 4}, {"TTFT", "time_to_first_token", 4}, {"ITL", "inter_token_latency", 4}, {"Latency", "request_latency", 4}} {
		m, ok := s.Get(c.tag)
		if !ok {
			t.Fatal(c.tag)
		}
		want, told := m.Values[metric.Avg], terminal.Figure(m.Values[metric.Avg])
		if m.Kind == metric.Record {
			want = m.Values[metric.P50]
			told = "p50 " + terminal.Figure(want) + " ms"
			if p99 := "p99 " + terminal.Figure(m.Values[metric.P99]) + " ms"; !strings.Contains(ends, p99) {
				t.Errorf("the headline has no %q: %s", p99, ends)
			}
		}
		if got := live[c.row]; len(got) <= c.column || got[c.column] != terminal.Figure(want) {
			t.Errorf("the last frame says %q, want %s", got, terminal.Figure(want))
		}
		if !strings.Contains(ends, told) {
			t.Errorf("the headline has no %q: %s", told, ends)
		}
	}
	if share, _ := s.Get("request_error_rate"); live["Errors"][3] != terminal.Figure(share.Values[metric.Avg]) || !strings.Contains(ends, fmt.Sprintf("%.1f %%", share.Values[metric.Avg])) {
		t.Errorf("errors are %v %%: %q, %s", share.Values[metric.Avg], live["Errors"], ends)
	}
}

// TestFinalRates: after the end the table of metrics has the rates of the report, in a copy; figures that the report lacks stay.
func TestFinalRates(t *testing.T) {
	groups := []liveview.Group{{Name: "Throughput", Rows: []liveview.Metric{{Name: "Request Throughput", One: true, Avg: 18.35}, {Name: "Goodput", One: true, Avg: 3}, {Name: "Request Latency", Avg: 7}}}}
	got := finalRates(groups, &liveview.Figures{Requests: liveview.Figure{Run: 18.59}, Goodput: liveview.Figure{Run: math.NaN()}})
	for i, want := range []float64{18.59, 3, 7} {
		if v := got[0].Rows[i].Avg; v != want {
			t.Errorf("%s: %g, want %g", got[0].Rows[i].Name, v, want)
		}
	}
	if groups[0].Rows[0].Avg != 18.35 {
		t.Error("the table of the tracker was changed")
	}
}
