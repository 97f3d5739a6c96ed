package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadRateSeries(t *testing.T) {
	for text, want := range map[string]string{
		`[{"time_s":0,"qps":1},{"time_s":2.5,"qps":4}]`: "",
		`{"points":[{"time_s":0,"qps":1}]}`:             "",
		`[]`:                                            "has no points",
		`{"points":[{"time_s":0,"qps":1}],"x":1}`:       "must be a JSON list",
		`{"points":3}`:                                  "points: ",
		`oops`:                                          "must be a JSON list",
		`[{"time":0,"rate":1}]`:                         "point 0: needs both time_s and qps",
		`[{"time_s":0,"qps":1},{"time_s":0,"qps":1}]`:              "point 1: time_s 0 must be",
		`[{"time_s":-1,"qps":1}]`:                                  "point 0: time_s -1 must be",
		`[{"time_s":0,"qps":1},{"time_s":1,"qps":0}]`:              "point 1: qps 0 must be above 0",
		`[{"time_s":0,"qps":1},{"time_s":1,"qps":3},{"time_s":2}]`: "point 2: needs both",
	} {
		path := filepath.Join(t.TempDir(), "series.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		points, err := ReadRateSeries(path)
		switch {
		case want == "" && (err != nil || len(points) == 0 || points[0] != RatePoint{TimeS: 0, QPS: 1}):
			t.Errorf("%s: %v %v", text, points, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path)):
			t.Errorf("%s: error %v, want %q and the file", text, err, want)
		}
	}
	if _, err := ReadRateSeries(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}
