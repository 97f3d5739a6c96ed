package plan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"aiperf/internal/config"
)

// TestDesignHasTheKeysOfThePythonTool: names, defaults and values as AIPerf 0.13 wrote them for these two sweeps.
func TestDesignHasTheKeysOfThePythonTool(t *testing.T) {
	seed := int64(7)
	lines := config.Dimension{Path: "phases.profiling.concurrency", Low: 1, High: 8, Kind: "int"}
	choice := config.Dimension{Path: "phases.profiling.requests", Choices: []any{4, 5}}
	cells := []config.Cell{{Label: "a", Dir: "d", Values: []config.Axis{{Path: lines.Path, Values: []any{5}}, {Path: choice.Path, Values: []any{4}}}}}
	for _, c := range []struct {
		sweep config.Sweep
		want  string
	}{
		{config.Sweep{Type: config.SweepSobol, Samples: 1, Seed: &seed, Dimensions: []config.Dimension{lines}},
			`{"type":"sobol","samples":1,"seed":7,"scramble":true,"optimization":null,"dimensions":[{"path":"phases.profiling.concurrency","lo":1.0,"hi":8.0,
			"scale":"linear","kind":"int","choices":null}],"samples_mapped":[[5]]}`},
		{config.Sweep{Type: config.SweepLatin, Samples: 1, Dimensions: []config.Dimension{lines, choice}},
			`{"type":"latin_hypercube","samples":1,"seed":null,"scramble":null,"optimization":"random-cd","dimensions":[{"path":"phases.profiling.concurrency",
			"lo":1.0,"hi":8.0,"scale":"linear","kind":"int","choices":null},{"path":"phases.profiling.requests","lo":null,"hi":null,"scale":"linear",
			"kind":"real","choices":[4,5]}],"samples_mapped":[[5,4]]}`},
	} {
		dir := t.TempDir()
		i := &invocation{run: &config.Run{Sweep: &c.sweep}}
		if err := i.design(dir, cells); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "sampling_design.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got, want map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		delete(got, "points")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\nwant %v", c.sweep.Type, got, want)
		}
	}
}
