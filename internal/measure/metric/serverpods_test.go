package metric

import (
	"slices"
	"testing"
)

// TestServerPods: events outside of the profiling do not count, and the sentences name pods, seconds and times without a watcher.
func TestServerPods(t *testing.T) {
	const s = int64(1e9)
	l := &PodLog{
		Pods: []string{"a", "b", "c", "d", "e", "f", "g", "h"},
		Events: []PodEvent{
			{At: 112 * s, Pod: "b", Kind: PodRestarted, Reason: "Error"}, {At: 110 * s, Pod: "a", Kind: PodRestarted, Reason: outOfMemory}, {At: 115 * s, Pod: "a", Kind: PodRestarted},
			{At: 99 * s, Pod: "c", Kind: PodRestarted}, {At: 130 * s, Pod: "h", Kind: PodAdded}, {At: 131 * s, Pod: "c", Kind: PodEvicted}, {At: 201 * s, Pod: "d", Kind: PodRemoved},
		},
		Watched: []Window{{From: 105 * s, To: 140 * s}, {From: 150 * s, To: 300 * s}},
	}
	got := l.During(Window{From: 100 * s, To: 200 * s}).sentences()
	want := []string{
		"2 of 8 server pods restarted during the run, once because a container used more memory than its limit: a at 10 s, b at 12 s, a at 15 s.",
		"1 of 8 server pods was evicted during the run: c at 31 s.",
		"1 of 8 server pods was added during the run: h at 30 s.",
		"Nobody watched the pods of the server at 0 – 5 s, 40 – 50 s; pods that were added or removed then are unknown.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := l.During(Window{From: 100 * s, To: 200 * s}).BySecond()[110]; !slices.Equal(got, []string{"a restarted (OOMKilled)"}) {
		t.Errorf("%q", got)
	}
	l = &PodLog{Pods: []string{"a"}, Watched: []Window{{From: 90 * s, To: 199*s + s/2}}}
	if got := l.During(Window{From: 100 * s, To: 200 * s}); got == nil || got.sentences() != nil {
		t.Errorf("%+v", got)
	}
	if (&PodLog{}).During(Window{From: 1, To: 2}) != nil || (*ServerPods)(nil).sentences() != nil || (*ServerPods)(nil).BySecond() != nil {
		t.Error("pods that nobody watched have a history")
	}
}
