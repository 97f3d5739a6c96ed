package config

import (
	"reflect"
	"strings"
	"testing"
)

func swept(kind SweepType, axes ...Axis) *Run {
	r := Default()
	one, ten, seed := 1, 10, Seed("42")
	rate := 1.0
	r.RandomSeed = &seed
	r.Models.Items = []Model{{Name: "m"}}
	r.Phases[0].Requests, r.Phases[0].Concurrency = &ten, &one
	r.Phases[0].Type, r.Phases[0].Rate = PhasePoisson, &rate
	r.Sweep = &Sweep{Type: kind, IterationOrder: "repeated", Parameters: axes}
	return r
}

var (
	concurrencies = Axis{"phases.profiling.concurrency", []any{5, 6}}
	rates         = Axis{"phases.profiling.rate", []any{1.0, 2.5}}
)

func TestCellsOfAGrid(t *testing.T) {
	cells, err := swept(SweepGrid, concurrencies, rates).Cells()
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for i, c := range cells {
		dirs = append(dirs, c.Dir)
		p := c.Run.Profiling()
		if *p.Concurrency != c.Values[0].Values[0] || *p.Rate != c.Values[1].Values[0] || *c.Run.RandomSeed != Seed("42").Plus(i) || c.Run.Sweep != nil {
			t.Errorf("cell %d: %+v", i, c)
		}
	}
	want := []string{"concurrency_5__rate_1.0", "concurrency_5__rate_2.5", "concurrency_6__rate_1.0", "concurrency_6__rate_2.5"}
	if !reflect.DeepEqual(dirs, want) {
		t.Errorf("%v", dirs)
	}
	if cells[1].Label != "phases.profiling.concurrency=5, phases.profiling.rate=2.5" {
		t.Error(cells[1].Label)
	}
}

func TestCellsOfAZip(t *testing.T) {
	cells, err := swept(SweepZip, concurrencies, rates).Cells()
	if err != nil || len(cells) != 2 || cells[1].Dir != "concurrency_6__rate_2.5" {
		t.Fatalf("%v %v", cells, err)
	}
	r := swept(SweepZip, concurrencies, Axis{"phases.profiling.rate", []any{1.0}})
	if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "one length") {
		t.Errorf("lists of two lengths: %v", err)
	}
}

func TestCellsDeriveTheirRequests(t *testing.T) {
	r := swept(SweepGrid, Axis{"phases.profiling.concurrency", []any{1, 40}})
	r.Sweep.DeriveRequests, r.Sweep.SameSeed = true, true
	cells, err := r.Cells()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := *cells[0].Run.Profiling().Requests, *cells[1].Run.Profiling().Requests; a != 10 || b != 80 {
		t.Errorf("requests %d and %d, want 10 and 80", a, b)
	}
	if *cells[1].Run.RandomSeed != "42" || *r.Profiling().Requests != 10 {
		t.Error("the seed moved, or the base changed")
	}
}

func TestCellsRefuse(t *testing.T) {
	for path, want := range map[string]string{
		"phases.profiling.speed": "there is no key speed in phases.profiling.speed", "phases.nobody.rate": "there is no key nobody", "phases.profiling.concurrency": "must be >= 1",
		"phases.profiling.raet": "there is no key raet in phases.profiling.raet; did you mean rate?", "phases.profilng.rate": "there is no key profilng in phases.profilng.rate; did you mean profiling?",
		"endpoint.streamin": "there is no key streamin in endpoint.streamin; did you mean streaming?", "concurency": "there is no key concurency; did you mean concurrency?",
	} {
		if _, err := swept(SweepGrid, Axis{path, []any{0, 1}}).Cells(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	for value, want := range map[any]string{1.5: "profiling.concurrency: 1.5 is not an integer", "x": "profiling.concurrency: x is not an integer"} {
		if _, err := swept(SweepGrid, Axis{"phases.profiling.concurrency", []any{1, value}}).Cells(); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v: %v, want %q", value, err, want)
		}
	}
	wide := Axis{"phases.profiling.requests", make([]any, 200)}
	for i := range wide.Values {
		wide.Values[i] = i + 1
	}
	if _, err := swept(SweepGrid, wide, Axis{"phases.profiling.concurrency", wide.Values}).Cells(); err == nil || !strings.Contains(err.Error(), "more than 10000 cells") {
		t.Errorf("40,000 cells: %v", err)
	}
	if cells, err := Default().Cells(); err != nil || len(cells) != 1 || cells[0].Dir != "" {
		t.Errorf("no sweep: %v %v", cells, err)
	}
}

// TestCellsOfAFile: a section that only cells speak of has the defaults of files, and the models of a cell are all that it asks for.
func TestCellsOfAFile(t *testing.T) {
	const head = "benchmark:\n  model: m\n  endpoint: {url: 'http://h:1'}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n  phases: {type: concurrency, requests: 4}\n"
	run, err := loaded(t, head+"sweep: {type: grid, parameters: {dataset.images.width: [64, 128]}}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := run.Cells()
	if err != nil || len(cells) != 2 {
		t.Fatal(cells, err)
	}
	if i := cells[1].Run.Dataset().Images; i == nil || i.BatchSize != 1 || i.Format != "jpeg" || i.Width.MeanOr(0) != 128 || i.Height.MeanOr(0) != 512 {
		t.Errorf("%+v", i)
	}
	run, err = loaded(t, head+"sweep: {type: scenarios, runs: [{name: a, benchmark: {model: x}}, {name: b, benchmark: {models: [y, z]}}]}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if cells, err = run.Cells(); err != nil || len(cells) != 2 {
		t.Fatal(cells, err)
	}
	for i, want := range [][]string{{"x"}, {"y", "z"}} {
		if got := cells[i].Run.Models.Asked(); !reflect.DeepEqual(got, want) {
			t.Errorf("cell %d asks for %v, want %v", i, got, want)
		}
		if v := cells[i].Values; len(v) != 1 || v[0].Path != "benchmark" {
			t.Errorf("cell %d has the values %v, want its benchmark alone", i, v)
		}
	}
}

// TestFlagsOfTheFirstCell: what a flag gives holds in every cell that says nothing of it, also where the first cell has the same without it, and
// instead of another kind of distribution.
func TestFlagsOfTheFirstCell(t *testing.T) {
	run, err := loaded(t, "benchmark:\n  model: m\n  endpoint: {url: 'http://h:1'}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic, prompts: {isl: 100}}\n"+
		"  phases: {type: concurrency, requests: 6, concurrency: 2}\nsweep: {type: scenarios, runs: [{name: a, benchmark: {phases: [{name: profiling, requests: 3}]}}, "+
		"{name: b, benchmark: {dataset: {prompts: {isl: {mean: 100, median: 80}}}}}, {name: c, benchmark: {dataset: {prompts: {isl: 50}}}}]}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	run.TakeFirst()
	for key, value := range map[string]any{"phases.profiling.requests": 3, "datasets.main.prompts.isl.mean": 70.0} {
		if err := run.Put(key, value); err != nil {
			t.Fatal(err)
		}
	}
	run.GivenByFlags([]string{"phases.profiling.requests", "datasets.main.prompts.isl.mean", "random_seed"})
	cells, err := run.Cells()
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{70, 100, 50} {
		c := cells[k]
		if p, isl := c.Run.Profiling(), c.Run.Dataset().Prompts.ISL; *p.Requests != 3 || isl.MeanOr(0) != want || (isl.Median != nil) != (k == 1) {
			t.Errorf("%s: %d requests, ISL %+v", c.Label, *p.Requests, isl)
		}
	}
}

// TestScenariosAboveFlags: what a flag changed holds where a scenario says nothing of it, as in AIPerf 0.13.
func TestScenariosAboveFlags(t *testing.T) {
	run, err := loaded(t, "benchmark:\n  model: m\n  endpoint: {url: 'http://h:1'}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n"+
		"  phases: {type: concurrency, requests: 6, concurrency: 2}\nsweep: {type: scenarios, runs: [{name: a, benchmark: {phases: [{name: profiling, requests: 3}]}}, "+
		"{name: b, benchmark: {phases: [{name: profiling, requests: 5}]}}, {name: c, benchmark: {phases: [{name: profiling, concurrency: 7}]}}]}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	run.TakeFirst()
	*run.Phases[0].Requests, *run.Phases[0].Concurrency = 4, 9
	cells, err := run.Cells()
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][2]int{{3, 9}, {5, 9}, {4, 7}} {
		if p := cells[k].Run.Profiling(); *p.Requests != want[0] || *p.Concurrency != want[1] {
			t.Errorf("%s: %d requests of %d users, want %v", cells[k].Label, *p.Requests, *p.Concurrency, want)
		}
	}
}
