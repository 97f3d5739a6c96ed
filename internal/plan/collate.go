package plan

import (
	"encoding/json"
	"math"
	"path/filepath"

	"aiperf/internal/artifact"
	"aiperf/internal/metric"
	"aiperf/internal/stats"
)

// collate writes the requests of all runs of a cell together: of every metric its distribution over all of them, and each run's mean. It needs
// the records of the runs; without them there is no file.
func (i *invocation) collate(dir string, r *metric.Repeated, trials []*trial) error {
	if len(i.run.Artifacts.Records) == 0 {
		return nil
	}
	type perRun struct {
		Label string  `json:"label"`
		Mean  float64 `json:"mean"`
		Count int     `json:"count"`
	}
	type collated struct {
		Combined map[string]any `json:"combined"`
		PerRun   []perRun       `json:"per_run"`
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
		c.Combined = map[string]any{"mean": d.Avg, "std": std, "count": len(v)}
		for k, level := range stats.Levels {
			if level == 50 || level == 90 || level == 95 || level == 99 {
				c.Combined[(metric.P1 + metric.Stat(k)).String()] = d.P[k]
			}
		}
	}
	failed := []map[string]string{}
	for _, f := range r.Failed {
		failed = append(failed, map[string]string{"label": f.Label, "error": f.Error})
	}
	data, err := json.MarshalIndent(map[string]any{
		"schema_version": "1.0.0", "aiperf_version": i.Version, "description": "all requests of all runs together",
		"metadata": map[string]any{
			"aggregation_type": "detailed", "num_profile_runs": r.Runs, "num_successful_runs": len(r.Labels), "failed_runs": failed,
			"run_labels": r.Labels, "cooldown_seconds": r.Cooldown,
		},
		"metrics": metrics,
	}, "", "  ")
	if err != nil {
		return err
	}
	return artifact.WriteFile(filepath.Join(dir, "profile_export_aiperf_collated.json"), append(data, '\n'))
}
