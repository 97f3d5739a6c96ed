package view

import (
	"encoding/json"
	"os"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/run/podserver"
)

// podEvents reads the log of the server's pods, which another process writes during a run on a cluster.
type podEvents struct {
	path   string    // "" = there is no log
	looked time.Time // when the file was last looked at
	stamp  time.Time // of the file that was read
	events []metric.PodEvent
}

func newPodEvents() podEvents { return podEvents{path: os.Getenv(podserver.PodLogVariable)} }

// podPace is the pause between two looks at the log.
const podPace = time.Second

// read reads the log again if it has changed. A log that cannot be read changes nothing: the report will say what is wrong with it.
func (p *podEvents) read() {
	if p.path == "" || time.Since(p.looked) < podPace {
		return
	}
	p.looked = time.Now()
	info, err := os.Stat(p.path)
	if err != nil || info.ModTime().Equal(p.stamp) {
		return
	}
	text, err := os.ReadFile(p.path)
	var log metric.PodLog
	if err == nil && json.Unmarshal(text, &log) == nil {
		p.stamp, p.events = info.ModTime(), log.Events
	}
}

// fill puts the events since an instant (wall, Unix ns) into the state, and a lane of them into its timelines.
func (p *podEvents) fill(started int64, s *liveview.State) {
	p.read()
	s.Pods = nil
	for _, e := range p.events {
		if e.At >= started {
			s.Pods = append(s.Pods, liveview.PodEvent{At: float64(e.At-started) / 1e9, Text: terminal.Line(e.String())})
		}
	}
	if s.Pods == nil {
		return
	}
	s.Timeline = withPods(s.Timeline, s.Pods)
	all := make([]liveview.SizedTimeline, len(s.Timelines)) // the old ones belong to the tracker, which adds to them
	for i, one := range s.Timelines {
		all[i] = liveview.SizedTimeline{Width: one.Width, Timeline: withPods(one.Timeline, s.Pods)}
	}
	s.Timelines = all
}

// withPods returns a timeline with a lane of the events; without an axis it returns the same.
func withPods(line termdraw.Timeline, events []liveview.PodEvent) termdraw.Timeline {
	if line.Bins == 0 || line.Seconds <= 0 {
		return line
	}
	marks := make([]bool, line.Bins)
	for _, e := range events {
		marks[min(int(e.At/line.Seconds), line.Bins-1)] = true
	}
	line.Series = append(line.Series[:len(line.Series):len(line.Series)], termdraw.Series{Name: "Server pods", Marks: marks})
	return line
}
