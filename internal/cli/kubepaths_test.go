package cli

import (
	"strings"
	"testing"
)

// TestLocalPaths: paths of the pod's folder become local ones, however the text is cut; what only looks like one stays.
func TestLocalPaths(t *testing.T) {
	const text = "CSV Export: /results/a.csv\nwarning: /etc/aiperf:3: told\n/results/x and '/results/y' of http://h/results/z\nlog: /results/logs/aiperf.log"
	const want = "CSV Export: out/dir/a.csv\nout/dir/x and 'out/dir/y' of http://h/results/z\nlog: out/dir/logs/aiperf.log"
	for cut := range len(text) {
		var b strings.Builder
		l := newLocalPaths(&b, "/results", "out/dir/", "warning: /etc/")
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := l.flush(); err != nil || b.String() != want {
			t.Fatalf("cut at %d: %q, %v", cut, b.String(), err)
		}
	}
}
