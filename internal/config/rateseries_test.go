package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeriesOfFile: a series has its points in a file or in the configuration itself, and numbers may stand in quotes.
func TestSeriesOfFile(t *testing.T) {
	body := func(series string) string {
		return "benchmark: {model: m, endpoint: {url: h, streaming: 'true'}, dataset: {entries: '3'}, phases: {type: poisson, duration: 4, rate_series: " + series + "}}"
	}
	r, err := readRun([]byte(body("{points: [{timeS: 0, qps: '10'}, {time_s: 2.5, qps: 20}]}")))
	if err != nil {
		t.Fatal(err)
	}
	p := r.Profiling()
	points, err := p.Series()
	if err != nil || len(points) != 2 || points[1] != (RatePoint{2.5, 20}) || !r.Endpoint.Streaming || r.Dataset().Entries != 3 {
		t.Errorf("%v %v", points, err)
	}
	if r, err = readRun([]byte(body("{path: rates.json}"))); err != nil || r.Profiling().RateSeries != "rates.json" || !r.Profiling().HasSeries() {
		t.Errorf("%+v %v", r, err)
	}
	for series, want := range map[string]string{
		"{points: [{time_s: 1, qps: 2}, {time_s: 1, qps: 2}]}": "point 1: time_s 1 must be",
		"{points: [{time_s: 1, qps: 0}]}":                      "point 0: qps 0 must be above 0",
		"{points: [{time_s: 1, qps: 2}], path: x}":             "give a file or points",
		"{}": "needs rate or rate_series",
	} {
		r, err := readRun([]byte(body(series)))
		if err == nil {
			err = r.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", series, err, want)
		}
	}
}

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
	if _, err := ReadRateSeries(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
