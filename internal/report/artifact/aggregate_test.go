package artifact

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
)

// TestAggregateOfTheRecordedRuns makes the aggregate of three recorded runs again and compares every interval with the recorded one.
func TestAggregateOfTheRecordedRuns(t *testing.T) {
	runs := make([]map[string]json.RawMessage, 3)
	for i := range runs {
		testrecording.JSON(t, "testdata/multi_run/run_000"+string(rune('1'+i))+".json.gz", &runs[i])
	}
	var recorded struct {
		Metrics map[string]map[string]any `json:"metrics"`
	}
	testrecording.JSON(t, "testdata/multi_run/aggregate.json.gz", &recorded)
	compared := 0
	r := metric.RepeatSummary{Confidence: 0.95, Runs: 3, Labels: []string{"run_0001", "run_0002", "run_0003"}}
	for _, m := range metric.All() {
		for s := metric.Avg; s < metric.Stats; s++ {
			want, ok := recorded.Metrics[m.Tag+"_"+s.String()]
			if !ok {
				continue
			}
			var v []float64
			for _, run := range runs {
				var stat map[string]any
				if run[m.Tag] != nil && json.Unmarshal(run[m.Tag], &stat) == nil {
					if f, ok := stat[s.String()].(float64); ok {
						v = append(v, f)
					}
				}
			}
			value := metric.RepeatValue{Metric: m, Stat: s, Interval: stats.Confidence(v, 0.95)}
			r.Values = append(r.Values, value)
			for _, f := range intervalFields(&value) {
				w, ok := want[f.name].(float64)
				if !ok {
					continue // null where the mean is 0
				}
				if math.Abs(f.value-w) > 1e-9*math.Max(1, math.Abs(w)) {
					t.Errorf("%s %s: %v, want %v", value.Name(), f.name, f.value, w)
				}
				compared++
			}
		}
	}
	if compared < 5000 {
		t.Errorf("only %d values were compared", compared)
	}
	checkAggregateFiles(t, &r)
}

func checkAggregateFiles(t *testing.T, r *metric.RepeatSummary) {
	dir := t.TempDir()
	if err := WriteAggregate(dir, r); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf_aggregate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Metadata map[string]any            `json:"metadata"`
		Metrics  map[string]map[string]any `json:"metrics"`
	}
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Metrics) != len(r.Values) || back.Metadata["num_successful_runs"] != 3.0 {
		t.Errorf("%d metrics of %d, metadata %v", len(back.Metrics), len(r.Values), back.Metadata)
	}
	if strings.Contains(string(data), "null") {
		t.Error("the aggregate holds a null")
	}
	data, err = os.ReadFile(filepath.Join(dir, "profile_export_aiperf_aggregate.csv"))
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := bytes.Cut(data, []byte("\r\n\r\n"))
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil || len(rows) != len(r.Values)+1 || len(rows[0]) != 11 {
		t.Errorf("CSV: %d rows of %d, %v", len(rows)-1, len(r.Values), err)
	}
}
