package plan

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/artifact"
)

// convergence ends the repetitions of a cell when a statistic of its runs has converged (timing, section 12).
type convergence struct {
	config.Convergence
	confidence float64
	prefix     string
	// values reads a metric of every request of a run; tests replace it.
	values func(t *trial) ([]float64, error)
}

// newConvergence returns the convergence test of a series; nil if it has none.
func newConvergence(r *config.Run) *convergence {
	if r.MultiRun.Convergence == nil {
		return nil
	}
	c := &convergence{Convergence: *r.MultiRun.Convergence, confidence: r.MultiRun.ConfidenceLevel, prefix: r.Artifacts.Prefix}
	c.values = func(t *trial) ([]float64, error) {
		return requestValues(artifact.NewLayout(t.dir, c.prefix).Records(), c.Metric)
	}
	return c
}

// minRuns is the number of successful runs from which the test can decide.
func (c *convergence) minRuns() int { return max(3, c.MinRuns) }

// converged reports whether the runs of a cell, in their order, are enough. If the test is impossible, the answer is false.
func (c *convergence) converged(trials []*trial) bool { return c != nil && c.test(trials).Reached }

// test applies the rule to the runs of a cell, in their order.
func (c *convergence) test(trials []*trial) metric.Convergence {
	v := metric.Convergence{Metric: c.Metric, Stat: c.Stat, Mode: c.Mode, Limit: c.Limit(), Value: math.NaN()}
	var good []*trial
	for _, t := range trials {
		if t.ok() {
			good = append(good, t)
		}
	}
	v.Runs = len(good)
	if c.Mode == "distribution" {
		v.Stat = ""
		if v.Runs >= c.minRuns() {
			v.Value = c.pValue(good)
		}
		v.Reached = v.Value > v.Limit
		return v
	}
	var list []float64
	if stat, ok := metric.StatByName(c.Stat); ok {
		for _, t := range good {
			if x := t.run.Profiling.Value(c.Metric, stat); !math.IsNaN(x) {
				list = append(list, x)
			}
		}
	}
	if v.Runs = len(list); v.Runs < c.minRuns() {
		return v
	}
	in := stats.Confidence(list, c.confidence)
	switch {
	case in.Mean == 0: // a spread relative to 0 has no meaning
	case c.Mode == "cv":
		v.Value = in.CV
	default:
		v.Value = (in.High - in.Low) / math.Abs(in.Mean)
	}
	v.Reached = v.Value < v.Limit
	return v
}

// pValue compares the requests of the last run with those of all earlier ones; NaN = there are too few.
func (c *convergence) pValue(good []*trial) float64 {
	last, err := c.values(good[len(good)-1])
	if err != nil {
		return math.NaN()
	}
	var before []float64
	for _, t := range good[:len(good)-1] {
		v, err := c.values(t)
		if err != nil {
			return math.NaN()
		}
		before = append(before, v...)
	}
	if len(last) < 2 || len(before) < 2 {
		return math.NaN()
	}
	return stats.Smirnov(last, before)
}

// sentence says whether the rule was reached: the fact, its figures and, if it was not reached, what to do.
func (c *convergence) sentence(v *metric.Convergence, as setting.Spell, planned int) string {
	what := terminal.Line(v.Metric)
	if v.Stat != "" {
		what += " " + v.Stat
	}
	var figure string
	switch v.Mode {
	case "distribution":
		figure = fmt.Sprintf("the p-value of the last run compared with the earlier ones is %s (limit: above %g)", terminal.Figure(v.Value), v.Limit)
	case "cv":
		figure = fmt.Sprintf("the coefficient of variation is %s %% (limit: below %s %%)", terminal.Figure(100*v.Value), terminal.Figure(100*v.Limit))
	default:
		figure = fmt.Sprintf("the %g %% confidence interval is %s %% of the mean wide (limit: below %s %%)", 100*c.confidence, terminal.Figure(100*v.Value), terminal.Figure(100*v.Limit))
	}
	runs := terminal.Plural(v.Runs, "run")
	if v.Reached {
		return fmt.Sprintf("Converged: %s, after %s of at most %d: %s.", what, runs, planned, figure)
	}
	more := "Allow more runs with " + as.As("multi_run.num_runs") + "."
	if planned >= config.MaxRuns {
		more = "Make each run longer, or choose another " + as.As("multi_run.convergence.threshold") + "."
	}
	switch {
	case v.Runs < c.minRuns():
		figure = fmt.Sprintf("at least %d successful runs with this metric are needed", c.minRuns())
		if planned >= c.minRuns() {
			more = "Check the runs that failed, and that " + as.As("multi_run.convergence.metric") + " names a metric of this run."
		}
	case math.IsNaN(v.Value) && v.Mode == "distribution":
		figure, more = "the records of the runs do not have enough values", "Choose another "+as.As("multi_run.convergence.metric")+"."
	case math.IsNaN(v.Value):
		figure, more = "the mean is 0, so there is no relative spread", "Choose another "+as.As("multi_run.convergence.metric")+"."
	}
	return fmt.Sprintf("Not converged: %s, in %s: %s. %s", what, runs, figure, more)
}

// longestRecord limits a line of the records that is read back, in bytes.
const longestRecord = 64 << 20

// requestValues reads a metric of the measured successful requests from the records of a run.
func requestValues(path, tag string) ([]float64, error) {
	var list []float64
	err := eachRecord(path, func(metrics map[string]json.RawMessage) {
		var one struct {
			Value *float64 `json:"value"`
		}
		if json.Unmarshal(metrics[tag], &one) == nil && one.Value != nil {
			list = append(list, *one.Value)
		}
	})
	return list, err
}

// eachRecord calls f with the metrics of every measured successful request.
func eachRecord(path string, f func(metrics map[string]json.RawMessage)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<16), longestRecord)
	for n := 1; in.Scan(); n++ {
		var line struct {
			Metadata struct {
				Phase string `json:"benchmark_phase"`
				Cut   bool   `json:"was_cancelled"`
			} `json:"metadata"`
			Metrics map[string]json.RawMessage `json:"metrics"`
			Error   json.RawMessage            `json:"error"`
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if line.Metadata.Phase == "profiling" && !line.Metadata.Cut && (line.Error == nil || string(line.Error) == "null") {
			f(line.Metrics)
		}
	}
	return in.Err()
}
