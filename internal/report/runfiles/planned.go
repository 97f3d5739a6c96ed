package runfiles

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// sweepFiles lists the possible paths of a sweep's summary below its directory.
var sweepFiles = []string{
	filepath.Join("sweep_aggregate", "profile_export_aiperf_sweep.json"), filepath.Join("aggregate", "sweep_aggregate", "profile_export_aiperf_sweep.json"),
}

// PlannedCells returns the planned number of cells of the sweep in a directory; 0 = its files do not say.
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

// CapacityAnswer returns the answer of the search for a capacity in a directory, as its user read it; "" = there was none.
func CapacityAnswer(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "capacity.json"))
	var s struct {
		Answer string `json:"answer"`
	}
	if err != nil || json.Unmarshal(text, &s) != nil {
		return ""
	}
	return s.Answer
}
