package htmlreport

import (
	"strings"
	"testing"
)

// TestRepeats: the page promises the same requests only for a run with a seed; without one it names the flag to add.
func TestRepeats(t *testing.T) {
	with, without := (&content{}).repeats(), (&content{Unseeded: true}).repeats()
	if !strings.Contains(with, "The same seed gives the same requests.") {
		t.Errorf("with a seed: %q", with)
	}
	if strings.Contains(without, "same requests") || !strings.Contains(without, "--random-seed") {
		t.Errorf("without a seed: %q", without)
	}
}
