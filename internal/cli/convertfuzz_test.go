package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/dataset/convert"
	"aiperf/internal/workload/dataset/custom"
)

// FuzzConvert converts any file, as a format, to another: an error and no file, or a file that is read as that format, row by row.
func FuzzConvert(f *testing.F) {
	targets := strings.Split(convert.Targets, ", ")
	for i, s := range sourcesOfConvert {
		f.Add([]byte(s.text), uint8(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, content []byte, from, to uint8) {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := os.WriteFile(in, content, 0o600); err != nil {
			t.Fatal(err)
		}
		kind := custom.Formats[int(from)%len(custom.Formats)].Name
		target, err := convert.NewTarget(targets[int(to)%len(targets)], func(text string) int { return len(text) })
		if err != nil {
			t.Fatal(err)
		}
		as := targets[int(to)%len(targets)]
		var said strings.Builder
		n, err := (&Program{Streams: Streams{Out: &said, Err: &said}}).convert(t.Context(), in, out, custom.Options{Type: kind}, target, &tokenCounter{})
		if err != nil {
			if _, gone := os.Stat(out); gone == nil {
				t.Fatalf("%s to %s: refused, and written: %v", kind, as, err)
			}
			return
		}
		rows := 0
		if _, _, err := custom.Stream(out, as, custom.Options{Root: rng.New(nil)}, func(custom.Entry) error { rows++; return nil }); n > 0 && (err != nil || rows == 0) {
			text, _ := os.ReadFile(out)
			t.Fatalf("%s to %s: %d rows are written, %d read: %v\n%.500s", kind, as, n, rows, err, text)
		}
	})
}
