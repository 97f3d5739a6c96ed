package plots

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSources: an image names its run or runs and their date; a legend has no entry for regions of single runs, which have none.
func TestSources(t *testing.T) {
	for path, want := range map[string]string{"single_gpu_c2": "c2, 2026-11-21", "multi_c1_c4_c8": "3 runs, 2026-11-21"} {
		config, err := ParseConfig(Default, "shipped")
		if err != nil {
			t.Fatal(err)
		}
		set, err := Make(Options{Paths: []string{filepath.Join("testdata/golden", path)}, Config: config, Theme: "light", Warn: func(string, ...any) {}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range set.Charts {
			if c.Source != want {
				t.Errorf("%s: %q, want %q", c.Name, c.Source, want)
			}
			for _, e := range c.Legend {
				if strings.Contains(e.Name, "Region") || strings.Contains(e.Name, "Low sample") {
					t.Errorf("%s: the legend lists %q", c.Name, e.Name)
				}
			}
		}
	}
	for tag, want := range map[string]string{"nvidia_gpu_utilization": "GPU Utilization", "nvidia_power_usage": "GPU Power Usage", "amd_gfx_activity": "GPU GFX Activity", "nvidia_own_gpu_figure": "Own GPU Figure"} {
		if got := gpuTitle(tag); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}
