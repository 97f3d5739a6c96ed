package htmlreport

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"aiperf/internal/report/runfiles"
)

// TestKneeSentence: the page says after which load the output stops growing. A sweep over another setting, such as the length of prompts, has no load.
func TestKneeSentence(t *testing.T) {
	mixed := &grid{cols: []sweepColumn{{tag: "output_token_throughput", stat: "avg"}}, cells: []cell{{name: "concurrency 1"}, {name: "rate 16.6"}}, v: [][]estimate{{{v: 82.6, ok: true}}, {{v: 81.5, ok: true}}}}
	if got := mixed.knee([]int{0, 1}); got != nil {
		t.Errorf("users and requests/s are compared: %q", got)
	}
	for _, c := range []struct {
		axis   string
		values [3]string
		output [3]float64
		want   []string
	}{
		{"concurrency", [3]string{"1", "4", "16"}, [3]float64{82, 324, 331}, []string{"Returns diminish after concurrency 4: concurrency 16 has 4.00 times the load and 1.02 times the output."}},
		{"rate", [3]string{"10", "20", "40"}, [3]float64{80, 160, 320}, []string{"The output grows with the load up to rate 40; more load would show where it stops."}},
		{"datasets.main.prompts.isl.mean", [3]string{"100", "200", "400"}, [3]float64{561, 563, 564}, nil},
		{"concurrency", [3]string{"16, isl 1", "16, isl 4", "16, isl 16"}, [3]float64{82, 324, 331}, nil},
	} {
		g := &grid{cols: []sweepColumn{{tag: "output_token_throughput", stat: "avg"}}}
		for i, value := range c.values {
			g.cells, g.v = append(g.cells, cell{name: c.axis + " " + value}), append(g.v, []estimate{{v: c.output[i], ok: true}})
		}
		if got := g.knee([]int{0, 1, 2}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.axis, got, c.want)
		}
	}
}

// TestDoubtedCells: cells whose client was the limit, or may have been, do not count for the knee.
func TestDoubtedCells(t *testing.T) {
	for validity, want := range map[string]bool{
		`{"verdict":"valid","slot_seconds":10,"slot_lost_seconds":0.1,"slot_unsure_seconds":0.1}`: false,
		`{"verdict":"client limited"}`: true,
		`{"verdict":"uncertain","slot_seconds":10,"slot_lost_seconds":0.1,"slot_unsure_seconds":2}`: true,
		`{"verdict":"uncertain"}`: false,
		`{}`:                      false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "profile_export_aiperf.json"), []byte(`{"validity":`+validity+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if c := (&cell{runs: []*runfiles.Run{runfiles.Open(dir), runfiles.Open(t.TempDir())}}); c.clientDoubted() != want {
			t.Errorf("%s: %t", validity, c.clientDoubted())
		}
	}
}
