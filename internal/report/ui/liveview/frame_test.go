package liveview

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/stats"
	"aiperf/internal/report/termdraw"
)

// sample returns a state with a value in every field, with hostile texts from servers and models.
func sample(stage Stage, name string) *State {
	n := math.NaN()
	trend := func(f func(int) float64) []float64 {
		v := make([]float64, 45)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	latency := Figure{Recent: 124, Run: 120.3, P90: 159, P99: 2487.6, Avg: 120, Max: 11904.83, Min: 0.08, Std: 27.9, Trend: trend(func(i int) float64 { return float64(100 + i%7) })}
	rate := Figure{Recent: 27.3, Run: 1234567.8, P90: n, P99: n, Avg: n, Max: n, Min: n, Std: n, Trend: trend(func(i int) float64 { return float64(i % 5) })}
	none := Figure{Recent: n, Run: n, P90: n, P99: n, Avg: n, Max: n, Min: n, Std: n}
	s := &State{
		Plan:  Plan{Model: name, Target: "http://127.0.0.1:8000", What: []string{"chat, streaming", "24 in flight for 40 s"}, Phases: [][2]string{{"Warm-up", "48 requests"}, {"Profiling", name}}, Results: "/data/" + name},
		Steps: []Step{{Name: "Tokenizer", Text: name, State: Done, Took: time.Second}, {Name: "Dataset", State: Runs, Took: 2 * time.Second}, {Name: "Server"}},
		Stage: stage, Share: .59, Known: true,
		Counts: Counts{
			Elapsed: 23900 * time.Millisecond, Duration: 40 * time.Second, Sent: 793, InFlight: 24, OK: 732, Errors: 37, Records: 769,
			ETA: 17 * time.Second, RecordsETA: -1, CPU: 3,
		},
		Figures: Figures{Requests: rate, Tokens: rate, TTFT: latency, ITL: none, Latency: latency, Errors: rate},
		Stall:   Stall{Now: 1900 * time.Millisecond, Waits: 24},
		Workers: []Worker{{Name: "all", State: "healthy", InFlight: 24, Done: 732, Failed: 37, CPU: 3, Memory: 123 << 20, Read: -1, Written: -1}},
		GPUNote: []string{"no exporter reachable at " + name, "hint"}, Gauges: []Gauge{{"queue", "", 12}, {"GPUs", "%", 87.5}},
	}
	for i := range 5 {
		s.Errors = append(s.Errors, ErrorKind{Count: int64(10 * i), Code: "503", Type: "Service " + name, Message: name + " simulated failure", Last: float64(i)})
		s.Slowest = append(s.Slowest, Slow{Latency: 3020, TTFT: 137, ITL: n, Tokens: 105, At: 21.2, Conversation: name})
	}
	for i := range 50 {
		s.Log = append(s.Log, Line{At: time.Unix(int64(i), 0), Level: Level(i % 4), Text: fmt.Sprintf("line %d of %s", i, name)})
	}
	var d stats.Sketch
	for i := range 400 {
		d.Add(float64(70 + i%100))
	}
	s.Pictures = []termdraw.Distribution{termdraw.Of("Time to First Token", "ms", &d), termdraw.Of(name, "ms", &d)}
	s.Timeline = termdraw.Timeline{Seconds: .5, Bins: 60, Series: []termdraw.Series{
		{Name: "Requests/s", Values: rate.Trend, Zeros: true}, {Name: "TTFT p50", Unit: "ms", Values: latency.Trend}, {Name: "Tokens/s", Unit: "out", Values: rate.Trend},
		{Name: "In flight", Values: rate.Trend, Low: true}, {Name: "Errors", Values: rate.Trend, Digits: true},
	}}
	for i := range 4 {
		g := Group{Name: fmt.Sprintf("Group %d", i)}
		for k := range 9 {
			g.Rows = append(g.Rows, Metric{Name: name + " Throughput Per User", Short: "Per User", Unit: "tokens/sec/user", Avg: 1234567.891, Min: n, Max: 1e12, P99: .004, P50: 3, P90: 2, Std: 1, One: k%3 == 0})
		}
		s.Metrics = append(s.Metrics, g)
		s.GPUs = append(s.GPUs, GPU{Title: "node | GPU 0 | " + name, Rows: []GPUMetric{{Name: "GPU Power Usage", Unit: "W", Current: 301.2, Avg: n}}})
	}
	return s
}

var panels = []Panel{Overview, Progress, Metrics, Workers, GPUs, Log}

// TestFrames: at every size a frame has the rows of the screen, and none is wider; the same in ASCII, and whatever servers call their models.
func TestFrames(t *testing.T) {
	ascii := termdraw.NewPaint(false, false, true)
	names := []string{"llama-3.1-8b", "千问-72B-模型🚀 x\\x1b"}
	k := 0
	for width := 40; width <= 210; width++ {
		for height := 8; height <= 60; height++ {
			if k++; k%17 != 0 && width%40 != 0 && height != 24 { // a sample of the sizes, another one for each state
				continue
			}
			for i, stage := range []Stage{Starting, Warmup, Profiling, Draining, Processing} {
				panel := panels[(k+i)%len(panels)]
				v := View{Width: width, Height: height, Panel: panel, Asks: k%5 == 0, Help: k%7 == 0, HideLog: k%3 == 0, Follows: k%2 == 0, Scroll: k % 9}
				rows := Frame(sampled(stage, names[(k+i)%2]), v)
				if len(rows) != height {
					t.Fatalf("%d rows at %d×%d, %v, %+v", len(rows), width, height, stage, v)
				}
				for y := range rows {
					plain := rows[y].Plain()
					if w := termdraw.Width(plain); w > width || w != rows[y].Cells() {
						t.Fatalf("row %d is %d (%d) wide at %d×%d, %v, %+v: %q", y, w, rows[y].Cells(), width, height, stage, v, plain)
					}
					text := string(rows[y].Append(nil, ascii))
					if len(text) != rows[y].Cells() || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
						t.Fatalf("in ASCII %d for %d: %q of %q", len(text), rows[y].Cells(), text, plain)
					}
				}
			}
		}
	}
}

// sampled are the samples, made once.
func sampled(stage Stage, name string) *State {
	key := fmt.Sprint(int(stage), name)
	if samples[key] == nil {
		samples[key] = sample(stage, name)
	}
	return samples[key]
}

var samples = map[string]*State{}

// TestNothingMoves: between two frames labels and the last digits of figures stay where they are, a line that comes takes no other's place.
func TestNothingMoves(t *testing.T) {
	for _, width := range []int{80, 120, 200} {
		before, after := sample(Profiling, "m"), sample(Profiling, "m")
		before.Stall, before.Errors, before.Slowest, before.Log = Stall{}, nil, nil, nil
		before.Figures.Requests.Run, after.Figures.Requests.Run = 9.5, 1044.2
		before.Counts.InFlight, before.Counts.Sent, before.Counts.Errors = 1, 2, 0
		v := View{Width: width, Height: 40}
		a, b := Frame(before, v), Frame(after, v)
		for y := range a {
			x, z := a[y].Plain(), b[y].Plain()
			if labelOf(x) != labelOf(z) {
				t.Errorf("at %d, row %d begins with %q, then with %q", width, y, labelOf(x), labelOf(z))
			}
			if strings.HasPrefix(x, " Requests /s") && (cellsUntil(x, "9.50") != cellsUntil(z, "1,044")) {
				t.Errorf("figures moved:\n%s\n%s", x, z)
			}
		}
	}
}

// labelOf is the label of a row.
func labelOf(text string) string {
	r := []rune(text + strings.Repeat(" ", label))
	return string(r[:label])
}

// cellsUntil is the column behind a text.
func cellsUntil(row, text string) int {
	at := strings.Index(row, text)
	return termdraw.Width(row[:max(at, 0)] + text)
}

// TestSixFigures: at 80×24 the six figures, the counts, three errors and what needs attention are seen.
func TestSixFigures(t *testing.T) {
	rows := Frame(sample(Profiling, "llama"), View{Width: 80, Height: 24})
	var text strings.Builder
	for i := range rows {
		text.WriteString(rows[i].Plain() + "\n")
	}
	for _, want := range []string{
		" Profiling       ", "59 %", "23.9 of 40 s", "ETA 17s", "llama · http://127.0.0.1:8000 · chat, streaming", "no answer for  1.9 s, 24 requests wait",
		"last 10 s      run      p99   trend", " Requests /s ", " Tokens out /s ", " TTFT p50 ms ", " ITL p50 ms ", " Latency p50 ms ", " Errors % ",
		"in flight  24   sent   793   ok   732   errors   37", "3,020 ms", "q stop  ? keys",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestWorkers: the panel shows how many groups are in which state and, if there is room, what each has read and written.
func TestWorkers(t *testing.T) {
	s := sample(Profiling, "m")
	s.Workers = append(s.Workers, Worker{Name: "b", State: "stale", Memory: -1, Read: 3 << 20, Written: 2048})
	for width, want := range map[int][]string{
		80:  {"healthy 1   high load 0   error 0   idle 0   stale 1", "123.0 MB"},
		100: {"read    written", "123.0 MB          –          –", "3.0 MB     2.0 KB"},
	} {
		rows := Frame(s, View{Width: width, Height: 24, Panel: Workers})
		text := rows.String(termdraw.NewPaint(false, false, false))
		for _, one := range want {
			if !strings.Contains(text, one) {
				t.Errorf("%d wide: no %q in\n%s", width, one, text)
			}
		}
	}
}

// TestClientHealth: the panel of the workers begins with the health of the client; before it is judged there are no figures of it. The head shows the
// goodput if limits were given.
func TestClientHealth(t *testing.T) {
	s := sample(Profiling, "m")
	shows := func(panel Panel, want ...string) {
		t.Helper()
		text := Frame(s, View{Width: 80, Height: 24, Panel: panel}).String(termdraw.NewPaint(false, false, false))
		for _, one := range want {
			if bare, absent := strings.CutPrefix(one, "!"); strings.Contains(text, bare) == absent {
				t.Errorf("%q in\n%s", one, text)
			}
		}
	}
	s.Health = Health{LagP99: 3}
	shows(Workers, "send lag p99 3.00 ms   not judged yet", "!unread p99")
	s.Health = Health{LagP99: 12, ReadDelay: 0.25, CPUWait: math.NaN(), Stalls: 2, Longest: 80 * time.Millisecond, Verdict: "client limited"}
	shows(Workers, "send lag p99 12.0 ms   unread p99 0.25 ms   CPU wait –", "2 pauses of the process, the longest 80 ms", "verdict so far client limited")
	n := math.NaN()
	s.Figures.Goodput = Figure{Recent: 7.5, Run: 8.25, P90: n, P99: n, Avg: n, Max: n, Min: n, Std: n, Trend: []float64{7, 8}}
	shows(Overview, "Goodput /s", "7.50     8.25")
	s.Figures.Goodput = Figure{Recent: n, Run: n}
	shows(Overview, "!Goodput")
}

// TestErrorsKeepTheirOrder: of more kinds than fit the most frequent are shown, in the order of first sight.
func TestErrorsKeepTheirOrder(t *testing.T) {
	kept := mostFrequent([]ErrorKind{{Type: "a", Count: 5}, {Type: "b", Count: 1}, {Type: "c", Count: 9}, {Type: "d", Count: 7}}, 3)
	if len(kept) != 3 || kept[0].Type != "a" || kept[1].Type != "c" || kept[2].Type != "d" {
		t.Errorf("%+v", kept)
	}
}

// TestErrorsNotReadYet: errors whose answers are not processed yet are shown next to the rows of the others, where there is room; without any
// row the panel does not say that there are none.
func TestErrorsNotReadYet(t *testing.T) {
	s := &State{Counts: Counts{Errors: 1037}, Errors: []ErrorKind{{Count: 20, Type: "a"}, {Count: 5, Type: "b"}}}
	if row := errorPanel(s, 60, 3)[1]; !strings.HasPrefix(row.Plain(), " +1,012 unread        5  b") {
		t.Errorf("%q", row.Plain())
	}
	s.Errors = nil
	if rows := errorPanel(s, 60, 3); strings.Contains(rows[0].Plain(), "none") || !strings.Contains(rows[1].Plain(), "+1,037 unread") {
		t.Errorf("%q", rows.String(termdraw.NewPaint(false, false, false)))
	}
	s.Counts.Errors = 0
	if rows := errorPanel(s, 60, 3); !strings.Contains(rows[0].Plain(), "none") || strings.Contains(rows[1].Plain(), "unread") {
		t.Errorf("%q", rows.String(termdraw.NewPaint(false, false, false)))
	}
}

// TestFramesAreLight: the largest usual frame leaves less than 100 KiB of garbage, as a terminal gets it.
func TestFramesAreLight(t *testing.T) {
	paint, s, v := termdraw.NewPaint(true, true, false), sample(Profiling, "m"), View{Width: 200, Height: 50}
	var before, after runtime.MemStats
	const frames = 20
	runtime.ReadMemStats(&before)
	for range frames {
		rows := Frame(s, v)
		_ = rows.String(paint)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / frames; each > 100<<10 {
		t.Errorf("%d bytes a frame", each)
	}
}

// TestSimple: the line is narrower than the terminal; fields leave in their order, what is left stays where it was.
func TestSimple(t *testing.T) {
	s := sample(Profiling, "m")
	s.Figures.Requests.Recent, s.Figures.Tokens.Recent, s.Stall = 34.1, 2218, Stall{}
	for _, c := range []struct {
		width int
		want  string
	}{
		{140, "Profiling   59 %   ███████████▊────────     23.9 of 40 s     34.1 req/s     2,218 tok/s     37 err   ETA 17s"},
		{100, "Profiling   59 %     23.9 of 40 s     34.1 req/s     2,218 tok/s     37 err   ETA 17s"},
		{80, "Profiling   59 %     23.9 of 40 s     34.1 req/s     37 err   ETA 17s"},
		{60, "Profiling   59 %     23.9 of 40 s     37 err   ETA 17s"},
		{40, "Profiling   59 %     37 err   ETA 17s"},
	} {
		row := Simple(s, c.width)
		if got := row.Plain(); got != c.want {
			t.Errorf("at %d\n got %q\nwant %q", c.width, got, c.want)
		}
	}
	s.Stall.Now = 1700 * time.Millisecond
	row := Simple(s, 100)
	if got := row.Plain(); !strings.Contains(got, "stalled") || !strings.Contains(got, "1.7 s") || strings.Contains(got, "req/s") {
		t.Errorf("in a stall %q", got)
	}
	for width := 10; width < 200; width++ {
		for _, stage := range []Stage{Starting, Profiling, Processing} {
			if got := Simple(sampled(stage, "千问-72B-模型🚀"), width); got.Cells() >= width || termdraw.Width(got.Plain()) >= width {
				t.Errorf("%d cells at %d: %q", got.Cells(), width, got.Plain())
			}
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{42900 * time.Millisecond: "42s", 185 * time.Second: "3m 05s", 7450 * time.Second: "2h 04m", -time.Second: "0s"} {
		if got := Span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{5: "5 B", 1536: "1.5 KB", 12 << 20: "12.0 MB", -1: "–"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	for v, want := range map[float64]string{2334.42: "2,334.42", 11904.83: "11,904.8", 1234567.8: "1,234,568", -5: "-5.00"} {
		if got := Fixed(v, 8); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// BenchmarkFrame is what an update costs to draw, without the terminal's own share.
func BenchmarkFrame(b *testing.B) {
	paint := termdraw.NewPaint(true, true, false)
	for _, v := range []View{{Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 50}} {
		b.Run(fmt.Sprintf("%dx%d", v.Width, v.Height), func(b *testing.B) {
			b.ReportAllocs()
			s := sample(Profiling, "m")
			for b.Loop() {
				rows := Frame(s, v)
				_ = rows.String(paint)
			}
		})
	}
}

// TestProgressTellsTheClock: the panel has the instant at which the phase began, and how much of its records is done; a dash where nobody knows.
func TestProgressTellsTheClock(t *testing.T) {
	s := sample(Profiling, "m")
	s.Counts.Began, s.Counts.RecordsShare = time.Date(2026, 11, 22, 9, 8, 7, 0, time.Local), .479
	for _, want := range [][2]string{{"09:08:07", "47"}, {"–", "–"}} {
		var row string
		for _, r := range Frame(s, View{Width: 80, Height: 24, Panel: Progress}) {
			if text := r.Plain(); strings.HasPrefix(text, " Began ") {
				row = strings.Join(strings.Fields(text), " ")
			}
		}
		if row != "Began "+want[0]+" Records % "+want[1] {
			t.Errorf("%q, want %v", row, want)
		}
		s.Counts.Began, s.Counts.RecordsShare = time.Time{}, math.NaN()
	}
}

// TestWriting: while the run waits for inputs.json, the bar, the count and the time left are those of the conversations written.
func TestWriting(t *testing.T) {
	s := sampled(Processing, "m")
	s.Writing, s.Share, s.Known, s.Counts.ETA = WriteProgress{Done: 12345, Of: 60000}, 12345./60000, true, 130*time.Second
	for width, want := range map[int]string{120: "12,345 of 60,000 conversations", 80: "12,345 of 60,000 conversations", 60: "20 %"} {
		row := Simple(s, width)
		if got := row.Plain(); !strings.Contains(got, want) || !strings.Contains(got, " 20 %") || !strings.Contains(got, "ETA 2m 10s") || strings.Contains(got, "req/s") {
			t.Errorf("at %d %q", width, got)
		}
	}
	if head := Frame(s, View{Width: 80, Height: 24})[0].Plain(); !strings.Contains(head, "20 %") || !strings.Contains(head, "12,345 of 60,000") || !strings.Contains(head, "ETA 2m 10s") {
		t.Errorf("the head of the view is %q", head)
	}
	s.Writing, s.Share = WriteProgress{}, 1
	if row := Simple(s, 120); !strings.Contains(row.Plain(), "writing files") || strings.Contains(row.Plain(), "ETA") {
		t.Errorf("when it is written %q", row.Plain())
	}
}

// TestPlaceInASeries: a run of a series says which one it is: on the dashboard below the stage, in the single line as long as there is room.
func TestPlaceInASeries(t *testing.T) {
	s := sample(Profiling, "m")
	s.Plan.Place, s.Stall = "run 2 of 3", Stall{}
	rows := Frame(s, View{Width: 80, Height: 24})
	if got := rows[1].Plain(); !strings.HasPrefix(got, " run 2 of 3      m · http://127.0.0.1:8000") {
		t.Errorf("%q", got)
	}
	for width, want := range map[int]bool{140: true, 80: true, 60: true, 38: false} {
		row := Simple(s, width)
		if got := row.Plain(); strings.HasPrefix(got, "run 2 of 3   Profiling   59 %") != want {
			t.Errorf("at %d: %q", width, got)
		}
	}
	row := Simple(func() *State { s := sample(Starting, "m"); s.Plan.Place = "run 2 of 3"; return s }(), 80)
	if got := row.Plain(); !strings.HasPrefix(got, "run 2 of 3   Start") {
		t.Errorf("%q", got)
	}
}

// TestLogPanel: on its own the log shows whole lines, in as many rows as they need; a line of a hundred words and one without a blank lose nothing.
func TestLogPanel(t *testing.T) {
	s := sample(Profiling, "m")
	s.Log = []Line{{Level: Warning, Text: strings.Repeat("word ", 99) + "end"}, {Level: Info, Text: strings.Repeat("x", 150)}}
	view := View{Width: 80, Height: 24, Panel: Log}
	all := strings.Builder{}
	for i := range 3 {
		for _, r := range Frame(s, View{Width: 80, Height: 24, Panel: Log, Scroll: i * Scrollable(s, view) / 2}) {
			all.WriteString(r.Plain() + "\n")
		}
	}
	text := all.String()
	if !strings.Contains(text, "WARN word") || !strings.Contains(text, " end\n") || strings.Count(text, "x") < 150 || strings.Contains(text, "…") {
		t.Errorf("%s", text)
	}
	s.Log = nil
	for i := range 60 {
		s.Log = append(s.Log, Line{Text: strings.Repeat(fmt.Sprintf("w%02d ", i), 30)})
	}
	if most := Scrollable(s, view); most < 60 {
		t.Errorf("it scrolls by %d rows", most)
	} else if top := Frame(s, View{Width: 80, Height: 24, Panel: Log, Scroll: most}); !strings.Contains(top[4].Plain(), "w00") {
		t.Errorf("the first row is %q", top[4].Plain())
	}
}

// TestErrorsOnANarrowScreen: where type and message have no room, the code says the type and the message is whole.
func TestErrorsOnANarrowScreen(t *testing.T) {
	s := &State{Counts: Counts{Errors: 7}, Errors: []ErrorKind{{Count: 7, Code: "500", Type: "Internal Server Error", Message: "simulated failure"}, {Count: 1, Type: "TimeoutError", Message: "no answer in time"}}}
	narrow, wide := errorRows(s, 62, 2), errorRows(s, 110, 2)
	if got := narrow[0].Plain(); !strings.Contains(got, "500  simulated failure") {
		t.Errorf("%q", got)
	}
	if got := narrow[1].Plain(); !strings.Contains(got, "TimeoutError") {
		t.Errorf("%q", got)
	}
	if got := wide[0].Plain(); !strings.Contains(got, "Internal Server Error  simulated failure") {
		t.Errorf("%q", got)
	}
}
