package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputsWhole: inputs.json has its name once it is whole; until then neither a torn one nor that of an earlier run is there.
func TestInputsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs.json")
	for _, file := range []string{path, path + inputsDraft} {
		if err := os.WriteFile(file, []byte(`{"data": [`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := CreateInputs(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add("s", [][]byte{[]byte(`{"a":1}`)}), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("while it is written: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(string(text), "\n  ]\n}") || strings.Count(string(text), `"data"`) != 1 {
		t.Errorf("%q, %v", text, err)
	}
	if w, err = CreateInputs(path, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Drop(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
