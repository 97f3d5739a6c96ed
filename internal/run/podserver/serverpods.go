package podserver

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"aiperf/internal/measure/metric"
)

// ServerPod is the state of a pod of the benchmarked server, as the API of the cluster shows it.
type ServerPod struct {
	Name     string `json:"name"`
	UID      string `json:"uid"`      // of the object; a pod that replaces another one may have its name
	Restarts int64  `json:"restarts"` // of all its containers
	EndedAt  int64  `json:"ended_at"` // of the container that ended last, Unix ns; 0 = unknown
	Reason   string `json:"reason"`   // of that end
	Evicted  string `json:"evicted"`  // why the node evicted it; "" = it did not
}

// PodLogFile is the file with the events of the server's pods, in the folder of the files.
const PodLogFile = "server_pods.json"

// PodLogVariable is the environment variable by which the run knows that file.
const PodLogVariable = "AIPERF_SERVER_PODS"

// Limits of a log of pods.
const (
	longestList   = 4 << 20 // of the pods in a request, bytes
	longestAway   = int64(15 * time.Second)
	mostPodEvents = 10_000
)

// podLog notes what happens to the pods of the server. Whoever watches them sends all of them every few seconds; the log compares each list with the one
// before, so a pod that restarted while nobody looked is found as soon as somebody looks again.
type podLog struct {
	path string

	mu   sync.Mutex
	last map[string]ServerPod // by name; nil = nobody has looked yet
	log  metric.PodLog
}

// serve accepts a list of pods.
func (l *podLog) serve(w http.ResponseWriter, r *http.Request) {
	var list []ServerPod
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestList)).Decode(&list); err != nil {
		http.Error(w, "not a list of pods: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := l.add(time.Now().UnixNano(), list); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	document(w, map[string]bool{"stored": true})
}

// add compares a list with the one before and writes the log.
func (l *podLog) add(now int64, list []ServerPod) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, seen := l.last == nil, map[string]ServerPod{}
	for _, p := range list {
		seen[p.Name] = p
		before, known := l.last[p.Name]
		if first && p.Evicted != "" {
			continue // long gone; the cluster only remembers it
		}
		if !known && !slices.Contains(l.log.Pods, p.Name) {
			l.log.Pods = append(l.log.Pods, p.Name)
			if !first {
				l.note(metric.PodEvent{At: now, Pod: p.Name, Kind: metric.PodAdded})
			}
		}
		switch {
		case known && p.UID != before.UID:
			l.note(metric.PodEvent{At: now, Pod: p.Name, Kind: metric.PodRestarted, Reason: "replaced by a new pod"})
		case p.Restarts > before.Restarts && (known || p.EndedAt != 0):
			l.note(metric.PodEvent{At: instant(p.EndedAt, now), Pod: p.Name, Kind: metric.PodRestarted, Reason: p.Reason})
		}
		if p.Evicted != "" && before.Evicted == "" {
			l.note(metric.PodEvent{At: now, Pod: p.Name, Kind: metric.PodEvicted, Reason: p.Evicted})
		}
	}
	for name, before := range l.last {
		if _, there := seen[name]; !there && before.Evicted == "" {
			l.note(metric.PodEvent{At: now, Pod: name, Kind: metric.PodRemoved})
		}
	}
	l.last = seen
	l.watched(now)
	return l.write()
}

// instant returns an instant that the cluster knows, or else the present one.
func instant(at, now int64) int64 {
	if at == 0 || at > now {
		return now
	}
	return at
}

// note adds an event.
func (l *podLog) note(e metric.PodEvent) {
	if len(l.log.Events) < mostPodEvents {
		l.log.Events = append(l.log.Events, e)
	}
}

// watched prolongs the time for which somebody looks, or begins a new one.
func (l *podLog) watched(now int64) {
	if n := len(l.log.Watched); n > 0 && now-l.log.Watched[n-1].To <= longestAway {
		l.log.Watched[n-1].To = now
		return
	}
	l.log.Watched = append(l.log.Watched, metric.Window{From: now, To: now})
}

// write replaces the file: the run reads it at its end, and must not see half of it.
func (l *podLog) write() error {
	text, err := json.Marshal(l.log)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		return err
	}
	draft := l.path + ".tmp"
	if err := os.WriteFile(draft, text, 0o644); err != nil {
		return err
	}
	return os.Rename(draft, l.path)
}
