package config

import "testing"

// TestSpelled: names of cells are those of the Python tool, safe on any file system, and of one cell only.
func TestSpelled(t *testing.T) {
	const isl = "datasets.default.prompts.isl"
	for _, c := range []struct {
		values     []Axis
		dir, label string
	}{
		{[]Axis{{"phases.profiling.rate", []any{2.0}}, {"endpoint.streaming", []any{true}}}, "rate_2.0__streaming_True", "phases.profiling.rate=2.0, endpoint.streaming=True"},
		{[]Axis{{isl, []any{map[string]any{"mean": 10, "stddev": 2}}}}, isl + "={'mean' 10, 'stddev' 2}", isl + "={'mean': 10, 'stddev': 2}"},
		{[]Axis{{"model", []any{"a/b:c"}}}, "model_abc", "model=a/b:c"},
		{[]Axis{{"endpoint.urls", []any{[]any{"it's", nil, 1.5}}}}, `endpoint.urls=[it's, None, 1.5]`, `endpoint.urls=["it's", None, 1.5]`},
	} {
		if dir, label := cellName(c.values, 3); dir != c.dir || label != c.label {
			t.Errorf("%v: %s, %s; want %s, %s", c.values, dir, label, c.dir, c.label)
		}
	}
	if got := segment("../..", 3); got != "variation_3" {
		t.Errorf("a name of nothing but separators is %s", got)
	}
	used := map[string]int{}
	if a, b, c := uniqueDir(used, "x"), uniqueDir(used, "x"), uniqueDir(used, "y"); a != "x" || b != "x_2" || c != "y" {
		t.Error(a, b, c)
	}
}
