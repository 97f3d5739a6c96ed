package liveview

import (
	"strings"
	"testing"
)

// TestGPUColumns: whatever fits, the columns have the order of the tables of the report; the most important ones stay.
func TestGPUColumns(t *testing.T) {
	for room, want := range map[int]string{0: "current", 1: "current", 3: "current avg max", 5: "current avg min max p99", 6: "current avg min max p99 p90", 20: "current avg min max p99 p90 p50 std"} {
		var names []string
		for _, c := range gpuColumns(room) {
			names = append(names, c.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d columns: %s, want %s", room, got, want)
		}
	}
}
