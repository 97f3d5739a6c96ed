package podserver

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
)

// TestPodLog: lists of pods become events, also of what happened while nobody looked.
func TestPodLog(t *testing.T) {
	const s = int64(1e9)
	l := &podLog{path: filepath.Join(t.TempDir(), "results", PodLogFile)}
	for _, step := range []struct {
		at   int64
		pods []ServerPod
	}{
		{100, []ServerPod{{Name: "a", Restarts: 3}, {Name: "b"}, {Name: "old", Evicted: "disk"}, {Name: "d", Restarts: 1, EndedAt: 98 * s, Reason: "Error"}}},
		{102, []ServerPod{{Name: "a", Restarts: 4, EndedAt: 101 * s, Reason: "OOMKilled"}, {Name: "b"}, {Name: "c"}, {Name: "old", Evicted: "disk"}, {Name: "d", Restarts: 1, EndedAt: 98 * s}}},
		{104, []ServerPod{{Name: "a", Restarts: 4, EndedAt: 101 * s}, {Name: "b", Evicted: "disk"}, {Name: "c"}}},
		{140, []ServerPod{{Name: "a", Restarts: 5}}},
		{142, []ServerPod{{Name: "a", UID: "2"}}},
	} {
		if err := l.add(step.at*s, step.pods); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	var got metric.PodLog
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := metric.PodLog{
		Pods: []string{"a", "b", "d", "c"},
		Events: []metric.PodEvent{
			{At: 98 * s, Pod: "d", Kind: metric.PodRestarted, Reason: "Error"}, {At: 101 * s, Pod: "a", Kind: metric.PodRestarted, Reason: "OOMKilled"},
			{At: 102 * s, Pod: "c", Kind: metric.PodAdded}, {At: 104 * s, Pod: "b", Kind: metric.PodEvicted, Reason: "disk"}, {At: 104 * s, Pod: "d", Kind: metric.PodRemoved},
			{At: 140 * s, Pod: "a", Kind: metric.PodRestarted}, {At: 140 * s, Pod: "c", Kind: metric.PodRemoved},
			{At: 142 * s, Pod: "a", Kind: metric.PodRestarted, Reason: "replaced by a new pod"},
		},
		Watched: []metric.Window{{From: 100 * s, To: 104 * s}, {From: 140 * s, To: 142 * s}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// TestKeeperTakesPods: the API stores what a watcher sends, among the files of the run.
func TestKeeperTakesPods(t *testing.T) {
	k := newKept(t, time.Hour)
	k.output("begun")
	for body, status := range map[string]int{`[{"name":"vllm-0","restarts":1}]`: http.StatusOK, `{`: http.StatusBadRequest} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, k.url+"/api/server-pods", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s: status %d, want %d", body, resp.StatusCode, status)
		}
	}
	if text, err := os.ReadFile(filepath.Join(k.dir, PodLogFile)); err != nil || !strings.Contains(string(text), `"vllm-0"`) {
		t.Errorf("%s %v", text, err)
	}
	k.ask("POST", "/api/cancel")
	k.output("")
	k.ask("POST", "/api/shutdown")
	if status := <-k.status; status != 3 {
		t.Error(status)
	}
}
