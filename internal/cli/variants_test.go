package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVariants: what a variant says of the load brings what the same flags bring.
func TestVariants(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		variant string
		want    []string // lines of its cell, in order
	}{
		{"request_rate=5", []string{"dir=v1", "entries: 100", "type: poisson\n        exclude_from_results: false\n        requests: 10\n        rate: 5"}},
		{`fast: request_rate=5, arrival_pattern="constant"`, []string{"dir=fast", "type: constant"}},
		{"request_rate=5,arrival_smoothness=2", []string{"type: gamma", "smoothness: 2"}},
		{"request-count=7,model='x'", []string{"- name: x", "entries: 7", "requests: 7"}},
		{"benchmark_duration=3", []string{"exclude_from_results: false\n        duration: 3.0\n        grace_period: 30.0\n        concurrency: 1\n"}},
		{"image_width_mean=64", []string{"mean: 64", "format: png"}},
	} {
		var plan, errs strings.Builder
		p := &Program{Streams: Streams{Out: &plan, Err: &errs}, FindTokenizer: offline}
		status := Main(t.Context(), p, []string{"profile", "--dry-run", "-m", "m", "--tokenizer", "builtin", "--variant", "concurrency=1", "--variant", c.variant})
		if status != 0 {
			t.Errorf("%s: %s", c.variant, errs.String())
			continue
		}
		file := filepath.Join(dir, "v.yaml")
		if err := os.WriteFile(file, []byte(plan.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		var cell strings.Builder
		p = &Program{Streams: Streams{Out: &cell, Err: &errs}, FindTokenizer: offline}
		if status = Main(t.Context(), p, []string{"config", "expand", file, "--index", "1"}); status != 0 {
			t.Errorf("%s: %s", c.variant, errs.String())
		}
		rest := cell.String()
		for _, line := range c.want {
			_, after, found := strings.Cut(rest, line)
			if !found {
				t.Errorf("%s: no %q in\n%s", c.variant, line, rest)
				break
			}
			rest = after
		}
	}
}
