package run

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/rereport"
)

// TestExporterPlugins: every data exporter writes its files after the run, and again after report. One that fails is reported and changes nothing else.
func TestExporterPlugins(t *testing.T) {
	testhome.Slow(t)
	places, err := filepath.Abs("testdata/exporters")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(plugin.PathVariable, places)
	t.Setenv("OPENAI_API_KEY", "k")
	dir := filepath.Join(t.TempDir(), "a")
	b := whole(dir, answersB(t), 3)
	b.Artifacts.Raw = true
	all := config.Default()
	all.Benchmark = *b
	input, err := all.InputConfig()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	run, err := Run(t.Context(), b, nil, Options{Err: &out, InputConfig: input})
	if err != nil {
		t.Fatal(err)
	}
	checkExport(t, dir, run.Files, out.String())
	found, err := rereport.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "report")
	var said strings.Builder
	r, err := rereport.Report(t.Context(), rereport.Options{Input: found[0], Dir: again, Info: func(_ string, args ...any) { said.WriteString(args[0].(string)) }})
	if err != nil {
		t.Fatal(err)
	}
	checkExport(t, again, r.Run.Files, said.String())
}

func checkExport(t *testing.T, dir string, files []metric.File, said string) {
	t.Helper()
	var notes struct {
		Summary float64
		Records int
		Model   any
		Key     *string
	}
	if err := json.Unmarshal([]byte(textsOf(t, dir, "notes.json")["notes.json"]), &notes); err != nil {
		t.Fatal(err)
	}
	if notes.Summary != 3 || notes.Records != 3 || notes.Model == nil || notes.Key != nil {
		t.Errorf("%+v", notes)
	}
	if last := files[len(files)-1]; last.Kind != "Notes" || last.Path != filepath.Join(dir, "notes.json") {
		t.Errorf("the files of the run end with %+v", last)
	}
	for _, want := range []string{
		`plug-in data_exporter:fails: export: the program says: "the disk is full"`,
		`plug-in data_exporter:invents: export: there is no file "invented.txt", which the result lists`,
	} {
		if strings.Count(said, want) != 1 {
			t.Errorf("%q is not reported once:\n%s", want, said)
		}
	}
}
