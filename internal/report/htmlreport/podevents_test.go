package htmlreport

import (
	"strings"
	"testing"
	"time"

	"aiperf/internal/report/ui/liveview"
)

// TestPodEvents: the clock has a mark where something happened to a pod of the server, with its name and reason.
func TestPodEvents(t *testing.T) {
	var records []string
	for i := range 10 {
		records = append(records, request(i*1000, i*1000+500, ""))
	}
	summary := `{"validity":{"verdict":"valid","server_pods":{"pods":2,"profiling_start_ns":0,"events":[{"timestamp_ns":3000000000,"pod":"llm-1","kind":"restarted","reason":"OOMKilled"},` +
		`{"timestamp_ns":5000000000,"pod":"llm-2","kind":"added"}],"unwatched":[]}}}`
	page, err := Run(made(t, summary, records...), "test")
	if err != nil {
		t.Fatal(err)
	}
	want := []band{{From: 3, To: 3, Name: "llm-1 restarted (OOMKilled)", Hue: hueFail}, {From: 5, To: 5, Name: "llm-2 added", Hue: hueFail}}
	if got := dataOf(t, page).Bands; len(got) < 2 || got[len(got)-2] != want[0] || got[len(got)-1] != want[1] {
		t.Errorf("%+v, want %+v at the end", got, want)
	}
}

// TestPodMarks: events at one instant share a mark, and marks are within the clock and not too many.
func TestPodMarks(t *testing.T) {
	var events []liveview.PodEvent
	for i := range 200 {
		events = append(events, liveview.PodEvent{At: float64(i / 5), Text: "x"})
	}
	events[0].Text = "first"
	got := podMarks(events, 30)
	if len(got) != 40 || got[0].Name != "first, x, x and 2 more" || got[39].From != 30 || !strings.Contains(got[1].Hue, "fail") {
		t.Errorf("%d marks, %+v", len(got), got)
	}
}

// TestLivePods: the live page has a mark for an event of a pod, and says it in words.
func TestLivePods(t *testing.T) {
	s := &liveview.State{Stage: liveview.Profiling, Pods: []liveview.PodEvent{{At: 2, Text: "llm-1 restarted"}}}
	s.Counts.Elapsed = 8 * time.Second
	parts, _, err := (&Live{State: s}).Parts()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, p := range parts {
		found[p.ID] = string(p.Text)
	}
	if want := `[{"From":2,"To":2,"Name":"llm-1 restarted","Hue":"var:fail"}]`; found["bands"] != want {
		t.Errorf("%s, want %s", found["bands"], want)
	}
	if want := "Pods of the server: llm-1 restarted at 2 s."; !strings.Contains(found["verdict"], want) {
		t.Errorf("%s, want %s", found["verdict"], want)
	}
}
