package cluster

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/config"
	"aiperf/internal/workload/load"
)

// fill sets every exported field of a value to something other than zero, down to a depth: some types contain themselves.
func fill(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(2.5)
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), depth-1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, depth-1)
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type.Kind() != reflect.Func {
				fill(v.Field(i), depth-1)
			}
		}
	}
}

// TestPlanTravelsWhole: every setting of a run reaches the machine, whether it is set or not.
func TestPlanTravelsWhole(t *testing.T) {
	full := plan{}
	fill(reflect.ValueOf(&full).Elem(), 16)
	for name, p := range map[string]plan{"full": full, "default": {Config: config.Default().Benchmark, Seed: "7"}} {
		data, err := encode(&p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back plan
		if err := decode(data, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(p, back, cmpopts.IgnoreUnexported(config.Benchmark{}), cmpopts.IgnoreFields(config.Benchmark{}, "Spelling")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if err := decode(data[:len(data)-1], &back); err == nil {
			t.Errorf("%s: a part of it is enough", name)
		}
		if err := decode(append(data, 0), &back); err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProgressTravels: the numbers of a load reach the controller.
func TestProgressTravels(t *testing.T) {
	end := finish{Error: "no", progress: progress{Epoch: 3, Offset: -5, Bound: 19, Snapshots: []load.Snapshot{{Started: 1, Sent: 9, Completed: 8, Errors: 1}, {}}}}
	data, err := encode(&end)
	if err != nil {
		t.Fatal(err)
	}
	var back finish
	if err := decode(data, &back); err != nil || !reflect.DeepEqual(back, end) {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestInputFiles: a file that a machine has is used, another one is fetched, and a file that changed meanwhile is refused.
func TestInputFiles(t *testing.T) {
	dir := t.TempDir()
	content := strings.Repeat("0123456789", 2*partSize/10+3)
	b := &config.Default().Benchmark
	b.Datasets[0].Path = dir + "/data.jsonl"
	write(t, b.Datasets[0].Path, content)
	files, err := inputFiles(b)
	if err != nil || len(files) != 1 || files[0].Size != int64(len(content)) {
		t.Fatalf("%+v, %v", files, err)
	}
	asked := 0
	from := b.Datasets[0].Path
	ask := func(q filePart) ([]byte, error) {
		asked++
		return readPart(from, q.Offset)
	}
	own := &plan{Config: *b, Files: files}
	if err := fetchFiles(own, t.TempDir(), ask); err != nil || asked != 0 || own.Config.Dataset().Path != from {
		t.Errorf("%v, %d questions, %s", err, asked, own.Config.Dataset().Path)
	}
	moved := *b
	moved.Datasets = []config.Dataset{b.Datasets[0]}
	moved.Datasets[0].Path = dir + "/elsewhere.jsonl"
	files[0].Path = moved.Datasets[0].Path
	other := &plan{Config: moved, Files: files}
	kept := t.TempDir()
	for range 3 { // runs of a series ask once
		other.Config.Datasets[0].Path = files[0].Path
		if err := fetchFiles(other, kept, ask); err != nil || asked != 3 || read(t, other.Config.Dataset().Path) != content {
			t.Errorf("%v, %d questions", err, asked)
		}
	}
	write(t, other.Config.Dataset().Path, "damaged")
	other.Config.Datasets[0].Path = files[0].Path
	if err := fetchFiles(other, kept, ask); err != nil || asked != 6 || read(t, other.Config.Dataset().Path) != content {
		t.Errorf("a damaged copy: %v, %d questions", err, asked)
	}
	strange := files[0]
	strange.SHA256 = "../../" + strange.SHA256
	if err := fetchFiles(&plan{Config: moved, Files: []inputFile{strange}}, kept, ask); err == nil || !strings.Contains(err.Error(), "is not valid") {
		t.Errorf("a strange digest: %v", err)
	}
	write(t, from, strings.Replace(content, "0", "1", 1))
	other.Config.Datasets[0].Path = files[0].Path
	if err := fetchFiles(other, t.TempDir(), ask); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("a changed file: %v", err)
	}
	write(t, from, "short")
	if err := fetchFiles(other, t.TempDir(), ask); err == nil || !strings.Contains(err.Error(), "shorter meanwhile") {
		t.Errorf("a short file: %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
