package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSystemsPage: plot --html and report --html with several directories write one page with the notes on standard error too; flags of the page
// without it are errors, and so are wrong numbers of values.
func TestSystemsPage(t *testing.T) {
	golden := filepath.Join("..", "report", "plots", "testdata", "golden")
	before, after := filepath.Join(golden, "multi_c1_c4_c8"), filepath.Join(golden, "single_gpu_c2")
	out := t.TempDir()
	page := filepath.Join(out, "systems.html")
	for _, c := range []struct {
		words  []string
		status int
		want   string // in the output
		inside string // in the page; "" = no page is written
	}{
		{[]string{"plot", "--html", before, after, "--gpus", "8,2", "--gpu-hour-price", "2.5", "--label", "a,b", "--label", "c", "--output", out}, 0, "HTML Report: ", "a,b, concurrency 4"},
		{[]string{"report", "--html", before, after, "--artifact-dir", out}, 0, "Give it with --gpus.", "single_gpu_c2, concurrency 2"},
		{[]string{"plot", "--html", before, "absent", "--output", out, "--size", "small"}, 0, "absent does not exist; it is skipped.", "multi_c1_c4_c8, concurrency 8"},
		{[]string{"plot", "--html", before, "absent", "--output", out, "--size", "small"}, 0, "--size has no effect with --html", "Comparison of 1 system"},
		{[]string{"plot", "--html", "absent"}, 1, "absent does not exist", ""},
		{[]string{"plot", before, "--gpus", "2"}, 1, "--gpus: only the page of systems uses it; add --html", ""},
		{[]string{"report", before, "--label", "x"}, 1, "--label: only the page of systems uses it; add --html and several directories, or use aiperf plot --html", ""},
		{[]string{"report", before, after}, 1, "report takes one raw export or one run directory, not 2", ""},
		{[]string{"plot", "--html", "--dashboard", before}, 1, "--html and --dashboard exclude each other", ""},
		{[]string{"plot", "--html", before, after, "--gpus", "0"}, 1, "--gpus", ""},
		{[]string{"plot", "--html", before, after, "--gpu-hour-price", "1,2,3"}, 1, "--gpu-hour-price: 3 values for 2 systems", ""},
		{[]string{"plot", "--html", before, after, "--color-by", "nokey"}, 1, "--color-by nokey: the runs do not differ in this key; they differ in ", ""},
	} {
		_ = os.Remove(page) // absent before the first case
		var said strings.Builder
		status := Main(t.Context(), &Program{Streams: Streams{Out: &said, Err: &said}}, c.words)
		text, err := os.ReadFile(page)
		if status != c.status || !strings.Contains(said.String(), c.want) || (err == nil) != (c.inside != "") || !strings.Contains(string(text), c.inside) {
			t.Errorf("%q: status %d, page: %v\n%s", c.words, status, err, said.String())
		}
	}
}
