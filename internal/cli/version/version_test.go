package version

import (
	"strings"
	"testing"
)

// TestAsked: the flag counts anywhere, but not after "--", where words are those of another program.
func TestAsked(t *testing.T) {
	for words, want := range map[string]bool{
		"--version": true, "profile --version": true, "profile -m x --version": true,
		"": false, "version": false, "-- --version": false, "profile -- --version": false, "--versions": false,
	} {
		if got := Asked(strings.Fields(words)); got != want {
			t.Errorf("%q: %t, want %t", words, got, want)
		}
	}
}

// TestLine: the line names the build and the release of the Python tool.
func TestLine(t *testing.T) {
	if got := Line("1.2.3"); got != "aiperf 1.2.3 (command line, files and numbers of NVIDIA AIPerf 0.13)\n" {
		t.Errorf("%q", got)
	}
}
