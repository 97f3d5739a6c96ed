package htmlreport

import (
	"fmt"
	"strings"
	"testing"
)

// streamed returns a record of a request from start to end (ms) whose first token comes after 10 ms, with the gaps between its messages.
func streamed(start, end int, gaps ...int) string {
	list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(gaps)), ","), "[]")
	return fmt.Sprintf(`{"metadata":{"request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling","x_request_id":"r%d"},"metrics":{"time_to_first_token":{"value":10,"unit":"ms"},"request_latency":{"value":%d,"unit":"ms"},"inter_chunk_latency":{"value":[%s],"unit":"ms"}}}`,
		start*1e6+1e15, end*1e6+1e15, start, end-start, list)
}

// TestPauses: the lanes have a band where no answer received anything, and one after the last request was sent.
func TestPauses(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, streamed(i*40, i*40+110, 10, 10, 10, 10, 10, 10, 10, 10, 10))
	}
	lines = append(lines, streamed(1200, 1930, 10, 700, 10), streamed(1205, 1935, 10, 700, 10))
	page, err := Run(made(t, "{}", lines...), "test")
	if err != nil {
		t.Fatal(err)
	}
	d, found := dataOf(t, page), map[string][2]float64{}
	for _, b := range d.Bands {
		found[b.Name] = [2]float64{b.From, b.To}
	}
	for name, want := range map[string][2]float64{"no answers for 0.66 s": {1.26, 1.92}, "draining": {1.205, 1.935}} {
		got, ok := found[name]
		if !ok || got[0] < want[0]-0.01 || got[0] > want[0]+0.01 || got[1] < want[1]-0.01 || got[1] > want[1]+0.01 {
			t.Errorf("%s is %v of %v, want %v", name, got, found, want)
		}
	}
}

// TestArrivals: a page has the times of messages; if not all fit, those of the slowest requests.
func TestArrivals(t *testing.T) {
	q, err := made(t, "{}", streamed(0, 50, 10, 20, 10), streamed(5, 25, 5, 5), streamed(10, 30)).Requests()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(arrivals(q, []int{0, 1, 2}, 100)); got != "[[1000 2000 1000] [500 500] []]" {
		t.Errorf("all: %s", got)
	}
	if got := fmt.Sprint(arrivals(q, []int{1, 0, 2}, 4)); got != "[[] [1000 2000 1000] []]" {
		t.Errorf("room for 4: %s", got)
	}
	if got := arrivals(q, []int{2}, 4); got != nil {
		t.Errorf("without messages: %v", got)
	}
}

// TestHeat: every request is in one cell of the heat map; a run of few requests has none.
func TestHeat(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, request(i*100, i*100+50+i%20, ""))
	}
	for n, want := range map[int]bool{300: true, 150: false} {
		q, err := made(t, "{}", lines[:n]...).Requests()
		if err != nil {
			t.Fatal(err)
		}
		c := newClock(q)
		heat := c.heat(q, "request_latency", "heat")
		if (heat != nil) != want {
			t.Errorf("%d requests: %v", n, heat)
		}
		if heat == nil {
			continue
		}
		sum := 0
		for _, text := range heat.Traces[0].Hover {
			var count int
			if _, err := fmt.Sscan(text, &count); err != nil {
				t.Error(err)
			}
			sum += count
		}
		if sum != n {
			t.Errorf("cells hold %d of %d requests", sum, n)
		}
		if ticks := heat.Y.Ticks; len(ticks) < 2 || len(ticks) > 6 {
			t.Errorf("ticks %v", ticks)
		}
	}
}

// TestOtherClock: a note whose times count from the measured phase says where this is in the lanes, if a warm-up comes before.
func TestOtherClock(t *testing.T) {
	const note = "The server sent nothing for 2.20 s (12.1 – 14.3 s), while 24 requests waited."
	summary := `{"validity":{"verdict":"valid","reason":"why","notes":["` + note + `"]}}`
	warm := strings.Replace(streamed(0, 300, 10), `"profiling"`, `"warmup"`, 1)
	for want, lines := range map[string][]string{
		note + " These times count from the end of the warm-up, at 0.5 s on the clock of the lanes.": {warm, streamed(500, 600, 10)},
		note + "</li>": {streamed(500, 600, 10)},
	} {
		page, err := Run(made(t, summary, lines...), "test")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
