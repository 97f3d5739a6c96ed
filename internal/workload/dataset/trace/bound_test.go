package trace

import (
	"strings"
	"testing"

	"aiperf/internal/base/rng"
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

// TestLongestRescaledPrompt checks that multipliers which make a prompt too long are an error with the row, and that the longest one passes.
func TestLongestRescaledPrompt(t *testing.T) {
	for _, c := range []struct {
		prompt, prefix float64
		want           string
	}{
		{10_000, 1, ""},
		{20_000, 1, "t:1: synthesis: a prompt of 1000 tokens would become one of 2e+07 tokens; allowed: up to 10000000"},
		{1e300, 1, "would become one of 1e+303 tokens"},
		{1, 1e12, "t:2: synthesis: a prompt of 1000 tokens would become one of 5.12e+14 tokens"},
	} {
		records := []Record{{Where: "t:1", InputLength: 1000, HashIDs: []int64{1, 2}}}
		if c.prefix > 1 { // the first block is shared
			records = append([]Record{{Where: "t:2", InputLength: 1000, HashIDs: []int64{1, 3}}}, records...)
		}
		s := Synthesis{Speedup: 1, PrefixLen: c.prefix, PrefixRoot: 1, PromptLen: c.prompt, OutputLen: 1}
		err := s.Apply([]Session{{Records: records}}, 512, rng.New(nil))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c, err, c.want)
		}
	}
}
