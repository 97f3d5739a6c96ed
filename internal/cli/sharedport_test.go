package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/series/plan"
)

// TestSharedPort: two targets are not measured in parallel if both runs would listen at one port; one after the other they may.
func TestSharedPort(t *testing.T) {
	for words, refused := range map[string]string{
		"--parallel --api-port 18080": "--api-port: two parallel runs", "--parallel --metrics-listen 9464": "--metrics-listen: two parallel runs",
		"--parallel --web": "--web: two parallel runs", "--web": "", "--parallel --machines local:2 --concurrency 2": "--machines: the machines send one run at a time", "--machines local:2 --concurrency 2": "",
		"--parallel --metrics-listen 0": "", "--api-port 18080": "", "--parallel": "",
	} {
		var out, errs bytes.Buffer
		ran := false
		p := &Program{
			Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, FindTokenizer: offline,
			Turns: func(context.Context, *config.Run, plan.TurnOptions, Streams) (*comparison.Result, error) {
				ran = true
				return nil, context.Canceled
			},
		}
		Main(t.Context(), p, append([]string{"ab", "--a", "http://a", "--b", "http://b", "-m", "m", "--tokenizer", "builtin"}, strings.Fields(words)...))
		if ran != (refused == "") || !strings.Contains(errs.String(), refused) {
			t.Errorf("%s: ran %v: %s", words, ran, errs.String())
		}
	}
}
