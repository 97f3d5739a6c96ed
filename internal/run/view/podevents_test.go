package view

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/run/podserver"
)

// TestPodEvents: the state has the events of the server's pods since the phase began, and its timelines have a lane of them. It sets the environment and
// so is not parallel.
func TestPodEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), podserver.PodLogFile)
	t.Setenv(podserver.PodLogVariable, path)
	p := newPodEvents()
	lane := termdraw.Timeline{Seconds: 2, Bins: 5, Series: make([]termdraw.Series, 1, 9)}
	fill := func() liveview.State {
		s := liveview.State{Timeline: lane, Timelines: []liveview.SizedTimeline{{Width: 100, Timeline: lane}, {Width: 120}}}
		p.looked = time.Time{}
		p.fill(100e9, &s)
		return s
	}
	if s := fill(); s.Pods != nil || len(s.Timeline.Series) != 1 {
		t.Errorf("without a log: %+v", s.Pods)
	}
	text := `{"pods":["a"],"events":[{"timestamp_ns":99000000000,"pod":"a","kind":"added"},{"timestamp_ns":103000000000,"pod":"a\u001b","kind":"restarted","reason":"OOMKilled"},` +
		`{"timestamp_ns":199000000000,"pod":"a","kind":"removed"}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from memory
		s := fill()
		if len(s.Pods) != 2 || s.Pods[0].At != 3 || s.Pods[0].Text != `a\x1b restarted (OOMKilled)` {
			t.Errorf("%+v", s.Pods)
		}
		for _, one := range []termdraw.Timeline{s.Timeline, s.Timelines[0].Timeline} {
			if len(one.Series) != 2 || !one.Series[1].Marks[1] || !one.Series[1].Marks[4] || one.Series[1].Marks[0] {
				t.Errorf("%+v", one)
			}
		}
		if len(s.Timelines[1].Timeline.Series) != 0 {
			t.Error("a timeline without an axis has a lane")
		}
	}
}
