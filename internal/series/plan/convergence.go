package plan

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"

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

// converged reports whether the runs of a cell, in their order, are enough. At least three successful runs are needed; if the test is impossible, the
// answer is false.
func (c *convergence) converged(trials []*trial) bool {
	if c == nil {
		return false
	}
	var good []*trial
	for _, t := range trials {
		if t.ok() {
			good = append(good, t)
		}
	}
	if len(good) < max(3, c.MinRuns) {
		return false
	}
	if c.Mode == "distribution" {
		return c.sameDistribution(good)
	}
	stat, ok := metric.StatByName(c.Stat)
	if !ok {
		return false
	}
	var v []float64
	for _, t := range good {
		if x := t.run.Profiling.Value(c.Metric, stat); !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	if len(v) < max(3, c.MinRuns) {
		return false
	}
	in := stats.Confidence(v, c.confidence)
	switch {
	case in.Mean == 0:
		return false
	case c.Mode == "cv":
		return in.CV < c.Limit()
	}
	return (in.High-in.Low)/math.Abs(in.Mean) < c.Limit()
}

// sameDistribution compares the requests of the last run with those of all earlier ones.
func (c *convergence) sameDistribution(good []*trial) bool {
	last, err := c.values(good[len(good)-1])
	if err != nil {
		return false
	}
	var before []float64
	for _, t := range good[:len(good)-1] {
		v, err := c.values(t)
		if err != nil {
			return false
		}
		before = append(before, v...)
	}
	return len(last) >= 2 && len(before) >= 2 && stats.Smirnov(last, before) > c.Limit()
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
