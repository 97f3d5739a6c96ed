package metric

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
)

// Kinds of events of a pod.
const (
	PodRestarted = "restarted"
	PodEvicted   = "evicted"
	PodAdded     = "added"
	PodRemoved   = "removed"
)

// outOfMemory is the reason with which Kubernetes ends a container that exceeds its memory limit.
const outOfMemory = "OOMKilled"

// PodEvent is something that happened to a pod of the server.
type PodEvent struct {
	At     int64  `json:"timestamp_ns"` // wall, Unix ns
	Pod    string `json:"pod"`
	Kind   string `json:"kind"`
	Reason string `json:"reason,omitempty"` // of the cluster, for example OOMKilled
}

// String returns the event in words: vllm-0 restarted (OOMKilled).
func (e PodEvent) String() string {
	text := e.Pod + " " + e.Kind
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	return text
}

// PodLog is what a computer with rights in the cluster saw of the pods of the server.
type PodLog struct {
	Pods    []string   `json:"pods"` // names of all pods that were seen
	Events  []PodEvent `json:"events"`
	Watched []Window   `json:"watched"` // while somebody looked, in order
}

// ServerPods are the events of the server's pods during the profiling.
type ServerPods struct {
	Pods      int        `json:"pods"`
	Start     int64      `json:"profiling_start_ns"` // wall, Unix ns
	Events    []PodEvent `json:"events"`             // in order
	Unwatched []Window   `json:"unwatched"`          // while nobody looked
}

// During returns the events within a window and the times in it without a watcher; nil if nobody ever looked.
func (l *PodLog) During(w Window) *ServerPods {
	if len(l.Watched) == 0 || w.To <= w.From {
		return nil
	}
	p := &ServerPods{Pods: len(l.Pods), Start: w.From, Events: []PodEvent{}, Unwatched: []Window{}}
	for _, e := range l.Events {
		if e.At >= w.From && e.At <= w.To {
			p.Events = append(p.Events, e)
		}
	}
	slices.SortStableFunc(p.Events, func(a, b PodEvent) int { return cmp.Compare(a.At, b.At) })
	const short = int64(time.Second) // an event is known to the second
	seen := w.From
	for _, s := range append(slices.Clone(l.Watched), Window{From: w.To, To: w.To}) {
		if gap := (Window{From: seen, To: min(s.From, w.To)}); gap.To-gap.From > short {
			p.Unwatched = append(p.Unwatched, gap)
		}
		seen = max(seen, s.To)
	}
	return p
}

// podVerbs are the sentences about kinds of events, in the order in which they appear. %s is the number of pods.
var podVerbs = []struct{ kind, words string }{
	{PodRestarted, "restarted during the run"}, {PodEvicted, "were evicted during the run"}, {PodAdded, "were added during the run"}, {PodRemoved, "were removed during the run"},
}

// sentences says what happened to the pods and when nobody looked.
func (p *ServerPods) sentences() (list []string) {
	if p == nil {
		return nil
	}
	for _, v := range podVerbs {
		if text := p.sentence(v.kind, v.words); text != "" {
			list = append(list, text)
		}
	}
	var gaps []string
	for _, g := range p.Unwatched {
		gaps = append(gaps, p.second(g.From)+" – "+p.second(g.To)+" s")
	}
	if gaps != nil {
		list = append(list, fmt.Sprintf("Nobody watched the pods of the server at %s; pods that were added or removed then are unknown.", someOf(gaps)))
	}
	return list
}

// sentence says to how many pods something happened, to which and when; "" = to none.
func (p *ServerPods) sentence(kind, words string) string {
	var pods, events []string
	memory := 0
	for _, e := range p.Events {
		if e.Kind != kind {
			continue
		}
		if !slices.Contains(pods, e.Pod) {
			pods = append(pods, e.Pod)
		}
		if e.Reason == outOfMemory {
			memory++
		}
		events = append(events, terminal.Line(e.Pod)+" at "+p.second(e.At)+" s")
	}
	if pods == nil {
		return ""
	}
	cause := ""
	if memory > 0 {
		cause = fmt.Sprintf(", %s because a container used more memory than its limit", times(int64(memory)))
	}
	if len(pods) == 1 {
		words = strings.Replace(words, "were ", "was ", 1)
	}
	return fmt.Sprintf("%d of %d server pods %s%s: %s.", len(pods), p.Pods, words, cause, someOf(events))
}

// second returns an instant in seconds since the start of the profiling.
func (p *ServerPods) second(at int64) string {
	return terminal.Thousands(fmt.Sprintf("%.0f", time.Duration(at-p.Start).Seconds()))
}

// someOf lists the first few of some texts.
func someOf(list []string) string {
	if len(list) > namedMachines {
		return strings.Join(list[:namedMachines], ", ") + fmt.Sprintf(" and %d more", len(list)-namedMachines)
	}
	return strings.Join(list, ", ")
}

// BySecond returns the events in words, by second since 1970.
func (p *ServerPods) BySecond() map[int64][]string {
	if p == nil {
		return nil
	}
	all := map[int64][]string{}
	for _, e := range p.Events {
		second := e.At / int64(time.Second)
		all[second] = append(all[second], e.String())
	}
	return all
}
