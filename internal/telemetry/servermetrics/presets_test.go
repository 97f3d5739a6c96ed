package servermetrics

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"aiperf/internal/telemetry/exposition"
)

// TestPresets: every server's gauge is found under its name, and of a metric that holds several gauges the one that is meant.
func TestPresets(t *testing.T) {
	for _, p := range Presets {
		for _, from := range p.From {
			labels := `{model="a",engine="0"}`
			other := ""
			if from.Label != "" {
				labels = fmt.Sprintf(`{model="a",%s=%q}`, from.Label, from.Value)
				other = fmt.Sprintf("%s{model=\"a\",%s=\"other\"} 99\n", from.Name, from.Label)
			}
			s := NewStore(nil)
			for k, at := range []int64{1_100e6, 1_900e6, 2_500e6} {
				text := fmt.Sprintf("# TYPE %s gauge\n%s%s %d\n%s", from.Name, from.Name, labels, 3+2*k, other)
				s.Add("http://a/metrics", exposition.Parse([]byte(text)), Fetch{FirstByte: at}, false)
			}
			seconds := s.PerSecond(p)
			if last, ok := s.Latest(p); len(seconds) != 2 || seconds[1] != 4 || seconds[2] != 7 || last != 7 || !ok {
				t.Errorf("%s of %s: %v, last %v", p.Key, from.Server, seconds, last)
			}
		}
	}
}

// TestPresetsOfTwoServers: each endpoint counts by its own name; sums are added, shares are averaged.
func TestPresetsOfTwoServers(t *testing.T) {
	s := NewStore(nil)
	for url, text := range map[string]string{
		"http://a/metrics": "vllm:num_requests_waiting{e=\"0\"} 2\nvllm:num_requests_waiting{e=\"1\"} 3\nvllm:kv_cache_usage_perc 0.2\nvllm:gpu_cache_usage_perc 0.9\n",
		"http://b/metrics": "sglang:num_queue_reqs 4\nsglang:token_usage 0.6\n",
	} {
		s.Add(url, exposition.Parse([]byte(text)), Fetch{FirstByte: 1e9}, false)
	}
	if queue, use := s.PerSecond(Queue)[1], s.PerSecond(Cache)[1]; queue != 9 || use != 0.4 {
		t.Errorf("queue of %v, cache used to %v", queue, use)
	}
}

// TestPresetsPage: the page lists every name.
func TestPresetsPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/servermetrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Presets {
		for _, from := range p.From {
			if !strings.Contains(string(text), "`"+p.Key+"`") || !strings.Contains(string(text), "`"+from.Name) || !strings.Contains(string(text), from.Server) {
				t.Errorf("docs/servermetrics.md lacks %s of %s as %s", from.Name, from.Server, p.Key)
			}
		}
	}
}
