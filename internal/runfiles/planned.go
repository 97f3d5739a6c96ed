package runfiles

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// sweepFiles are the places below the directory of a sweep at which its summary lies.
var sweepFiles = []string{
	filepath.Join("sweep_aggregate", "profile_export_aiperf_sweep.json"), filepath.Join("aggregate", "sweep_aggregate", "profile_export_aiperf_sweep.json"),
}

// PlannedCells is the number of cells that the sweep of a directory was asked for; 0: its files do not say.
func PlannedCells(dir string) int {
	for _, name := range sweepFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		var s struct {
			Metadata struct {
				Cells int `json:"num_combinations"`
			} `json:"metadata"`
			Cells int `json:"num_combinations"`
		}
		if err == nil && json.Unmarshal(text, &s) == nil {
			return max(s.Cells, s.Metadata.Cells)
		}
	}
	return 0
}
