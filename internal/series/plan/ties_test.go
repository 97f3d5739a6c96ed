package plan

import (
	"fmt"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// TestTies: cells that may have the highest throughput are named. The expected outcomes are those of scipy.stats.ttest_ind with
// equal_var=False at 5 %, and of a difference of 1.96 √2 % for single runs.
func TestTies(t *testing.T) {
	for name, c := range map[string]struct {
		cells [][]float64 // throughput of each run
		want  string
	}{
		"equal":                {[][]float64{{200}, {400}, {400}}, "As high within the noise between runs (1 % assumed): concurrency 4\n"},
		"0.08 % apart":         {[][]float64{{400, 400}, {399.7, 399.7}}, "As high within the noise between runs: concurrency 2\n"},
		"0.2 % apart, exact":   {[][]float64{{400, 400}, {399.2, 399.2}}, ""},
		"2.7 % apart, single":  {[][]float64{{389.2}, {400}}, "As high within the noise between runs (1 % assumed): concurrency 1\n"},
		"2.9 % apart, single":  {[][]float64{{388.4}, {400}}, ""},
		"noisy repeats":        {[][]float64{{380, 400, 420}, {395, 415, 435}}, "As high within the noise between runs: concurrency 1\n"}, // p = 0.41
		"repeats that agree":   {[][]float64{{399, 400, 401}, {409, 410, 411}}, ""},                                                       // p = 0.0003
		"two repeats are few":  {[][]float64{{395, 405}, {415, 425}}, "As high within the noise between runs: concurrency 1\n"},           // p = 0.11
		"one run, two repeats": {[][]float64{{400}, {404, 405}}, "As high within the noise between runs (1 % assumed): concurrency 1\n"},
		"many":                 {[][]float64{{1}, {1}, {1}, {1}, {1}, {1}, {1}}, "As high within the noise between runs (1 % assumed): concurrency 2, concurrency 4, concurrency 8, concurrency 16, 2 more\n"},
		"nobody":               {[][]float64{{}, {400}}, ""},
	} {
		var cells []config.Cell
		var byCell [][]*trial
		best, most := 0, 0.0
		for k, rates := range c.cells {
			cells = append(cells, config.Cell{Label: fmt.Sprintf("phases.profiling.concurrency=%d", 1<<k)})
			var trials []*trial
			sum := 0.0
			for _, rate := range rates {
				trials = append(trials, &trial{cell: k, run: runAt(rate)})
				sum += rate / float64(len(rates))
			}
			if byCell = append(byCell, trials); sum > most {
				best, most = k, sum
			}
		}
		if got := tiesOf(cells, byCell, best, "output_token_throughput"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// runAt returns a run with an output token throughput.
func runAt(rate float64) *metric.Run {
	var v [metric.Stats]float64
	v[metric.Avg] = rate
	return &metric.Run{Profiling: metric.SummaryOf(map[string][metric.Stats]float64{"output_token_throughput": v}, 1, 0)}
}
