package trace

import (
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// TestLongestPrompt checks that a length beyond any memory is an error of its row.
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
