package cli

import (
	"strings"
	"testing"
	"time"
)

// TestMeter: at a terminal one line is redrawn, not for every row, and removed at the end; elsewhere nothing is printed.
func TestMeter(t *testing.T) {
	for _, c := range []struct {
		columns int
		want    []string
	}{{0, nil}, {80, []string{"", "read: 1,000 rows", ""}}, {12, []string{"", "read:… rows", ""}}} {
		var out strings.Builder
		m := (&Program{Streams: Streams{Err: &out, Progress: c.columns}}).newMeter("read", "rows")
		m.last = time.Now().Add(time.Hour)
		for range 999 {
			m.tick()
		}
		m.last = time.Time{}
		m.tick()
		m.tick()
		m.done()
		got := strings.Split(strings.ReplaceAll(out.String(), "\x1b[K", ""), "\r")
		if c.columns == 0 && out.Len() > 0 || c.columns > 0 && strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%d columns: %q, want %q", c.columns, got, c.want)
		}
	}
}
