package htmlreport

import (
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/measure/metric"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/ui/liveview"
)

// Limits of the marks of pod events: of instants, and of events that one of them names.
const (
	mostPodMarks = 50
	mostPodNames = 3
)

// podEvents returns the instants at which something happened to the pods of the server, as the verdict of the run has them.
func (c *clock) podEvents(sum *runfiles.Summary) []band {
	var v struct {
		Pods *metric.ServerPods `json:"server_pods"`
	}
	if sum.Validity == nil || json.Unmarshal(sum.Validity, &v) != nil || v.Pods == nil {
		return nil
	}
	var list []liveview.PodEvent
	for _, e := range v.Pods.Events {
		list = append(list, liveview.PodEvent{At: c.at(e.At), Text: e.String()})
	}
	return podMarks(list, c.seconds)
}

// podMarks returns a mark for each instant at which something happened to pods. end is the end of the clock, s.
func podMarks(events []liveview.PodEvent, end float64) (list []band) {
	for i := 0; i < len(events) && len(list) < mostPodMarks; {
		var names []string
		at := events[i].At
		for ; i < len(events) && events[i].At == at; i++ {
			names = append(names, events[i].Text)
		}
		name := strings.Join(names[:min(len(names), mostPodNames)], ", ")
		if more := len(names) - mostPodNames; more > 0 {
			name += fmt.Sprintf(" and %d more", more)
		}
		at = min(max(at, 0), end)
		list = append(list, band{From: at, To: at, Name: name, Hue: hueFail})
	}
	return list
}
