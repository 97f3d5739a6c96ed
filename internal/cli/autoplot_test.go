package cli

import (
	"context"
	"strings"
	"testing"

	"aiperf/internal/config"
)

// TestAutoPlot: plots are drawn when a run asks for them, and fail it only where they are required.
func TestAutoPlot(t *testing.T) {
	for _, c := range []struct {
		flags, want string
		status      int
	}{
		{"", "", 0},
		{"--auto-plot", "warning: no plots: ", 0},
		{"--auto-plot --plot-required", "error: plots: ", 1},
		{"--plot-required", "warning: --plot-required has no effect without --auto-plot", 0},
	} {
		var out, errs strings.Builder
		p := &Program{
			Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline,
			Profile: func(context.Context, *config.Run, Streams) int { return 0 }, // a run that leaves nothing to draw
		}
		words := strings.Fields("profile -m m --tokenizer builtin --url h:1 " + c.flags + " --artifact-dir " + t.TempDir())
		status := Main(t.Context(), p, words)
		if said := errs.String(); status != c.status || !strings.Contains(said, c.want) || c.want == "" && strings.Contains(said, "plots") {
			t.Errorf("%q: status %d\n%s", c.flags, status, said)
		}
	}
}
