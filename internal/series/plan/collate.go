package plan

import (
	"encoding/json"
	"math"
	"path/filepath"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/artifact"
)

// collate writes the requests of all runs of a cell together: for every metric its distribution over all of them, and each run's mean. It needs the
// records of the runs; without them it writes no file.
func (i *invocation) collate(dir string, r *metric.RepeatSummary, trials []*trial) error {
	if len(i.run.Artifacts.Records) == 0 {
		return nil
	}
	type perRun struct {
		Label string  `json:"label"`
		Mean  float64 `json:"mean"`
		Count int     `json:"count"`
	}
	type combined struct {
		Mean  float64 `json:"mean"`
		Std   float64 `json:"std"`
		P50   float64 `json:"p50"`
		P90   float64 `json:"p90"`
		P95   float64 `json:"p95"`
		P99   float64 `json:"p99"`
		Count int     `json:"count"`
	}
	type collated struct {
		Combined combined `json:"combined"`
		PerRun   []perRun `json:"per_run"`
	}
	pooled := map[string][]float64{}
	metrics := map[string]*collated{}
	for _, t := range trials {
		if !t.ok() {
			continue
		}
		own := map[string][]float64{}
		err := eachRecord(artifact.NewLayout(t.dir, i.run.Artifacts.Prefix).Records(), func(m map[string]json.RawMessage) {
			for tag, raw := range m {
				var one struct {
					Value *float64 `json:"value"`
				}
				if json.Unmarshal(raw, &one) == nil && one.Value != nil {
					own[tag] = append(own[tag], *one.Value)
				}
			}
		})
		if err != nil {
			return err
		}
		for tag, v := range own {
			if metrics[tag] == nil {
				metrics[tag] = &collated{}
			}
			pooled[tag] = append(pooled[tag], v...)
			metrics[tag].PerRun = append(metrics[tag].PerRun, perRun{runLabel(t.n), stats.Mean(v), len(v)})
		}
	}
	for tag, c := range metrics {
		v := pooled[tag]
		d := stats.Describe(v)
		std := stats.SampleStd(v)
		if math.IsNaN(std) {
			std = 0
		}
		at := func(s metric.Stat) float64 { return d.P[s-metric.P1] }
		c.Combined = combined{d.Avg, std, at(metric.P50), at(metric.P90), at(metric.P95), at(metric.P99), len(v)}
	}
	type failure struct {
		Label string `json:"label"`
		Error string `json:"error"`
	}
	failed := []failure{}
	for _, f := range r.Failed {
		failed = append(failed, failure{f.Label, f.Error})
	}
	type about struct {
		Type       string    `json:"aggregation_type"`
		Runs       int       `json:"num_profile_runs"`
		Successful int       `json:"num_successful_runs"`
		Failed     []failure `json:"failed_runs"`
		Labels     []string  `json:"run_labels"`
		Cooldown   float64   `json:"cooldown_seconds"`
	}
	data, err := json.MarshalIndent(struct {
		Schema      string               `json:"schema_version"`
		Version     string               `json:"aiperf_version"`
		Description string               `json:"description"`
		Metadata    about                `json:"metadata"`
		Metrics     map[string]*collated `json:"metrics"`
	}{"1.0.0", i.Version, "all requests of all runs together", about{"detailed", r.Runs, len(r.Labels), failed, r.Labels, r.Cooldown}, metrics}, "", "  ")
	if err != nil {
		return err
	}
	return artifact.WriteFile(filepath.Join(dir, "profile_export_aiperf_collated.json"), append(data, '\n'))
}
