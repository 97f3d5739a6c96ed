package plots

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedSummary: a run whose summary cannot be parsed is drawn from its other files, and a warning names the summary; where nothing can be drawn, that
// is the error. The Python tool ends with an error in either case.
func TestDamagedSummary(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string][]byte{"profile_export.jsonl": nil, "profile_export_aiperf.json": []byte(`{"request_count": {"avg": 3`)} {
		if text == nil {
			var err error
			if text, err = os.ReadFile(filepath.Join("testdata", "golden", "single_c4", "c4", name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := ParseConfig(Default, "shipped")
	if err != nil {
		t.Fatal(err)
	}
	var warnings strings.Builder
	o := Options{Paths: []string{dir}, Config: c, Theme: "light", Warn: func(format string, args ...any) { fmt.Fprintf(&warnings, format+"\n", args...) }}
	set, err := Make(o)
	if err != nil || len(set.Charts) == 0 {
		t.Errorf("%+v, %v", set, err)
	}
	if want := "timeslices_ttft: skipped, time slices (profile_export_aiperf_timeslices.csv) missing; record them with --slice-duration\n"; !strings.Contains(warnings.String(), want) {
		t.Errorf("the warnings do not say how to record time slices:\n%s", warnings.String())
	}
	if got := warnings.String(); !strings.Contains(got, filepath.Join(dir, "profile_export_aiperf.json")+": ") || !strings.Contains(got, "drawing charts from the other files") {
		t.Errorf("warnings:\n%s", got)
	}
	o.Presets = []string{"timeslices_ttft"} // the run has none
	if _, err := Make(o); err == nil || !strings.Contains(err.Error(), "profile_export_aiperf.json") {
		t.Errorf("nothing is left: %v", err)
	}
}
