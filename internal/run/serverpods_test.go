package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
)

// TestServerPods: a run reads the log that the keeper of its pod has written.
func TestServerPods(t *testing.T) {
	path, warned := filepath.Join(t.TempDir(), "pods.json"), ""
	read := func() *metric.ServerPods {
		return serverPods(func(string) string { return path }, metric.Window{From: 10, To: 20}, func(text string) { warned += text })
	}
	if got := read(); got != nil || warned != "" {
		t.Errorf("%+v %q", got, warned)
	}
	for text, want := range map[string]int{`{"pods":["a"],"events":[{"timestamp_ns":12,"pod":"a","kind":"restarted"},{"timestamp_ns":25,"pod":"a","kind":"removed"}],"watched":[{"from_ns":1,"to_ns":30}]}`: 1, `[`: -1} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := -1
		if p := read(); p != nil {
			got = len(p.Events)
		}
		if got != want {
			t.Errorf("%s: %d events, want %d", text, got, want)
		}
	}
	if !strings.Contains(warned, "events of the server's pods cannot be read") {
		t.Error(warned)
	}
	if serverPods(func(string) string { return "" }, metric.Window{}, nil) != nil {
		t.Error("a run without a keeper has a log")
	}
}
