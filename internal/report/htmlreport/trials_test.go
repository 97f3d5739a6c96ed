package htmlreport

import (
	"path/filepath"
	"testing"

	"aiperf/internal/report/runfiles"
)

// TestTrials: every run of a cell that was measured several times has a row that leads to its page, with the figures of its summary, and those of the
// cell have their spread below; without repetitions there is no such table.
func TestTrials(t *testing.T) {
	dir := filepath.Join(recorded, "multi_c1_c4_c8")
	runs, err := runfiles.Find([]string{dir}, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	place := func(r *runfiles.Run) runPlace { return runPlace{r.Name, relative(dir, r) + "/report.html"} }
	if newGrid(cellsOf(runs)).trials(place) != nil {
		t.Error("a table of repetitions, and there are none")
	}
	made := newGrid([]cell{{"twice", runs[:2]}, {"once", runs[2:]}}).trials(place)
	want := [][]string{{"c1", "2.57", "82.2"}, {"c4", "10.1", "325"}, {"Spread", "84.3 %", "84.3 %"}, {"c8", "20.1", "645"}} // |a - b| / √2 over the mean
	if len(made.Rows) != len(want) || made.Rows[1][0].Link != "c4/report.html" {
		t.Fatalf("%+v", made.Rows)
	}
	for i, row := range made.Rows {
		if len(row) != len(made.Head) {
			t.Errorf("row %d has %d cells of %d", i, len(row), len(made.Head))
		}
		for k, text := range want[i] {
			if row[k].Text != text {
				t.Errorf("row %d, cell %d: %s, want %s", i, k, row[k].Text, text)
			}
		}
	}
}
