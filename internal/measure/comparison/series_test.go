package comparison

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorded writes the records of a run with the given number of requests, and its summary.
func recorded(t *testing.T, dir string, seed uint64, n int, mean float64, verdict string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	for i := range n {
		ms := mean * (0.9 + 0.2*r.Float64())
		from := int64(i) * 20_000_000
		fmt.Fprintf(&b, `{"metadata":{"benchmark_phase":"profiling","request_start_ns":%d,"request_end_ns":%d},"metrics":{"request_latency":{"value":%g}}}`+"\n", from, from+int64(ms*1e6), ms)
	}
	for name, text := range map[string]string{recordsFile: b.String(), summaryFile: `{"validity":{"verdict":"` + verdict + `"}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeries: sweeps are compared by the names of their cells, wherever their runs lie below them; a cell that cannot be judged is named.
func TestSeries(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "before [1]"), t.TempDir()
	recorded(t, filepath.Join(a, "concurrency_2"), 1, 600, 100, "valid")
	recorded(t, filepath.Join(b, "concurrency_2"), 2, 600, 100, "valid")
	recorded(t, filepath.Join(a, "concurrency_4"), 3, 600, 100, "valid")
	recorded(t, filepath.Join(b, "concurrency_4"), 4, 600, 100, "client limited")
	recorded(t, filepath.Join(a, "concurrency_64"), 9, 600, 100, "valid")
	for trial := range uint64(3) {
		name := fmt.Sprintf("trial_%04d", trial+1)
		recorded(t, filepath.Join(a, "concurrency_16", "profile_runs", name), 10+trial, 60, 100, "valid")
		recorded(t, filepath.Join(b, "profile_runs", name, "concurrency_16"), 20+trial, 60, 150, "valid")
	}
	if err := os.MkdirAll(filepath.Join(a, "aggregate", "concurrency_2"), 0o755); err != nil {
		t.Fatal(err)
	}
	if yes, err := IsSeries([]string{a, b}); !yes || err != nil {
		t.Fatal(yes, err)
	}
	s, err := CompareSeries([]string{a}, []string{b}, 0, usual)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.Cells {
		got = append(got, fmt.Sprintf("%s %s %s", c.Name, c.Basis, c.Outcome))
	}
	if want := []string{"concurrency_2 one run each same", "concurrency_4  cannot tell", "concurrency_16 runs worse"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.Equal(s.OnlyA, []string{"concurrency_64"}) || s.OnlyB != nil || s.Outcome != Worse || !strings.Contains(s.Cells[1].Refused, "the client was the limit") || s.FirstJudged() != s.Cells[0].Result {
		t.Errorf("%+v", s)
	}
	if got, want := s.Sentence(), "3 cells, 1 worse, 1 cannot tell, 1 same"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	text, err := s.JSON()
	var file struct {
		Kind, Verdict string
		OnlyA         []string `json:"only_a"`
		OnlyB         []string `json:"only_b"`
		Cells         []struct {
			Cell, Refused, Verdict string
			Runs                   []struct{ N int }
		}
	}
	if err != nil || json.Unmarshal(text, &file) != nil || file.Kind != "comparison of series" || file.Verdict != "worse" || len(file.OnlyA) != 1 || file.OnlyB == nil ||
		len(file.Cells) != 3 || file.Cells[1].Refused == "" || file.Cells[0].Runs[0].N != 600 {
		t.Errorf("%v: %s", err, text)
	}
}

// TestNoSeries: sides that are not both series, have no common cell, or have a cell twice are refused with advice.
func TestNoSeries(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	recorded(t, filepath.Join(a, "rate_1"), 1, 120, 100, "valid")
	recorded(t, filepath.Join(b, "rate_2"), 2, 120, 100, "valid")
	run := filepath.Join(a, "rate_1")
	if yes, err := IsSeries([]string{run, filepath.Join(b, "rate_2")}); yes || err != nil {
		t.Error(yes, err)
	}
	_, mixed := IsSeries([]string{a, run})
	_, missing := IsSeries([]string{a, filepath.Join(b, "no")})
	_, apart := CompareSeries([]string{a}, []string{b}, 0, usual)
	_, twice := CompareSeries([]string{a}, []string{a}, 0, usual)
	_, single := CompareSeries([]string{a, b}, []string{twin(t, run)}, 0, usual)
	_, nothing := Load(t.TempDir(), 0)
	for want, err := range map[string]error{
		a + " is a series of 1 cells and " + run + " is not: name runs of one of its cells, for example " + run: mixed,
		"does not exist": missing, "no cell is on both sides: A has rate_1, B has rate_2": apart, "is listed twice": twice, "rate_1: " + run + " cannot be compared: the client was the limit": single, "holds no": nothing,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	var many []string
	for i := range 6 {
		many = append(many, fmt.Sprint("rate_", i))
	}
	if got := someOf(many); got != "rate_0, rate_1, rate_2, rate_3 and 2 more" {
		t.Error(got)
	}
}

// twin is a series of one cell of the name of a run; the run is spoilt.
func twin(t *testing.T, run string) string {
	t.Helper()
	recorded(t, run, 1, 120, 100, "client limited")
	dir := t.TempDir()
	recorded(t, filepath.Join(dir, filepath.Base(run)), 5, 120, 100, "valid")
	return dir
}

// TestByFigures: cells stand in the order of their figures.
func TestByFigures(t *testing.T) {
	want := []string{"a", "concurrency_1", "concurrency_2", "concurrency_02", "concurrency_10", "concurrency_10__isl_5", "concurrency_10__isl_40", "rate_0.5", "rate_0.25"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, byFigures)
	slices.Sort(want[2:4])
	slices.SortFunc(want, byFigures)
	if !slices.Equal(got, want) || slices.Index(got, "concurrency_2") > slices.Index(got, "concurrency_10") || slices.Index(got, "concurrency_10__isl_5") > slices.Index(got, "concurrency_10__isl_40") {
		t.Errorf("%q", got)
	}
}
