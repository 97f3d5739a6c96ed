package console

import (
	"bytes"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/termdraw"
)

// pictured is a run of 40 s, 4 requests in flight, whose server did not answer from 22 s to 24.2 s.
func pictured(t *testing.T) *metric.Run {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	const ms, wall = int64(1_000_000), int64(1e18)
	r := set.NewReducer()
	var slow metric.Slowest
	for i := range int64(160) {
		from := 1000 + 250*i
		to := from + 700 + i%9
		if from < 23_000 && to > 23_000 {
			to += 2200
		}
		rec := &record.Record{Meta: record.Meta{RequestID: "request-千问-\x1b[31m"}, Start: from * ms, End: to * ms, WallOffset: wall}
		reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: (from + 100 + i%30) * ms, Text: "a"}, {At: to * ms, Text: "b"}}}
		if i%40 == 7 {
			rec.Error = &record.Error{Code: 500, Type: "E", Message: "no"}
		}
		row := set.Row(rec, reply, record.Counts{Input: 5, Output: 60, Reasoning: -1})
		r.Add(row)
		slow.Add(row)
	}
	window := metric.Window{From: wall + 1000*ms, To: wall + 41_000*ms}
	return &metric.Run{
		Title: "LLM Metrics", Profiling: r.Summary(window), Course: r.Course(window), Slowest: slow.List,
		Silences: []metric.ServerSilence{{From: wall + 23_000*ms, To: wall + 25_200*ms, Waiting: 3}},
	}
}

// TestPictures: on a terminal of any width no line is wider than it, and the report shows the shape of the run: distributions with their percentiles, a
// timeline with the stall, the slowest requests and why. Anything else gets the contract's tables and nothing more.
func TestPictures(t *testing.T) {
	run := pictured(t)
	for _, width := range []int{40, 60, 80, 99, 100, 120, 160, 200} {
		for _, ascii := range []bool{false, true} {
			var b bytes.Buffer
			if err := Console(&b, run, Options{Width: width, Terminal: true, ASCII: ascii}); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			_, pictures, _ := strings.Cut(text, "\nTime to First Token  ms")
			for line := range strings.Lines(pictures) {
				if line = strings.TrimRight(line, "\n"); termdraw.Width(line) > width {
					t.Errorf("%d wide at %d: %q", termdraw.Width(line), width, line)
				}
				if strings.ContainsAny(line, "\x1b") || ascii && strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
					t.Errorf("%q", line)
				}
			}
			for _, want := range []string{"p50 1", "Timeline  ", "Requests/s", "TTFT p50", "In flight", "No answer", "Slowest requests", map[bool]string{true: "in the stall", false: " stall\n"}[width >= 100]} {
				if width >= 80 && !strings.Contains(text, want) {
					t.Errorf("no %q at %d", want, width)
				}
			}
		}
	}
	plain := string(Text(run, 140, nil))
	run.Course, run.Slowest, run.Silences = nil, nil, nil
	if bare := string(Text(run, 140, nil)); plain != bare {
		t.Error("the text file has pictures")
	}
}

// TestCourse: bins count what ended in them, in flight is the mean over the bin, marks show where the server did not answer.
func TestCourse(t *testing.T) {
	run := pictured(t)
	bins := run.Course.Bins(1, 44)
	answered, failed := 0.0, 0.0
	for _, b := range bins {
		answered += b.Answered
		failed += b.Failed
	}
	if answered != float64(run.Profiling.Valid) || failed != float64(run.Profiling.Failed) {
		t.Errorf("%v answered and %v failed of %d and %d", answered, failed, run.Profiling.Valid, run.Profiling.Failed)
	}
	if b := bins[10]; b.Answered+b.Failed != 4 || b.Tokens != 60*b.Answered || b.InFlight < 2.7 || b.InFlight > 2.9 || !(b.TTFT > 100e6) {
		t.Errorf("%+v", b)
	}
	if got := marks(run.Silences, run.Course.Window.From, 1, 40); !got[22] || !got[24] || got[21] || got[25] {
		t.Errorf("%v", got)
	}
}

// TestPodsInTheTimeline: the timeline shows when something happened to a pod of the server.
func TestPodsInTheTimeline(t *testing.T) {
	run := pictured(t)
	run.Validity = &metric.Validity{}
	run.Validity.ServerPods = &metric.ServerPods{Pods: 2, Events: []metric.PodEvent{{At: run.Course.Window.From + 5e9, Pod: "a", Kind: metric.PodRestarted}}}
	lane := ""
	for line := range strings.Lines(timeCourse(run, 100).String(termdraw.NewPaint(false, false, false))) {
		if strings.Contains(line, "Server pods") {
			lane = line
		}
	}
	if lane == "" {
		t.Error("the timeline has no lane for pods")
	}
}

// TestReason: a late first token is the reason only of a request that is clearly slower than the median one, and mostly for that part.
func TestReason(t *testing.T) {
	run := pictured(t) // medians: latency 704 ms, first token 114 ms
	run.Silences = nil
	for name, c := range map[string]struct {
		latency, ttft float64 // ms
		want          string
	}{
		"the median":        {704, 114, ""},
		"a little slower":   {750, 160, ""},
		"late first token":  {1404, 814, "late first token"},
		"slow stream":       {1404, 130, ""},
		"late from scratch": {1404, 1000, "late first token"},
	} {
		if got := reason(run, &metric.SlowRequest{Latency: c.latency * 1e6, TTFT: c.ttft * 1e6, ITL: 1e6, Tokens: 60}).long; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
