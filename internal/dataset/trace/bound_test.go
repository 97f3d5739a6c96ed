package trace

import (
	"strings"
	"testing"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
)

// TestLongestPrompt: a length that no memory holds is a fault of its row.
func TestLongestPrompt(t *testing.T) {
	for length, want := range map[string]string{"10000000": "", "2000000000": "t:1: input_length: must be at most 10000000 tokens, got 2000000000"} {
		var faults dataset.Faults
		Mooncake(rows.Parse("t:1", []byte(`{"input_length":`+length+`}`), &faults))
		err := faults.Err()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", length, err, want)
		}
	}
}
