package watch

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFingerprint: the fingerprint follows the id, does not show it, and falls back to the name of the machine.
func TestFingerprint(t *testing.T) {
	kept := machineFiles
	defer func() { machineFiles = kept }()
	path := filepath.Join(t.TempDir(), "id")
	of := func(id string) string {
		if err := os.WriteFile(path, []byte(id), 0o600); err != nil {
			t.Fatal(err)
		}
		machineFiles = []string{filepath.Join(t.TempDir(), "none"), path}
		return fingerprint()
	}
	a, b := of("0123456789abcdef\n"), of("0123456789abcdee\n")
	if len(a) != 8 || a == b || a != of("0123456789abcdef") || a == "01234567" {
		t.Errorf("%q and %q", a, b)
	}
	machineFiles = nil
	if name, err := os.Hostname(); err == nil && name != "" && len(fingerprint()) != 8 {
		t.Errorf("%q", fingerprint())
	}
}
