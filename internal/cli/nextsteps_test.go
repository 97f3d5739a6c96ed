package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNextSteps: a page is offered always, a comparison where the run before was kept; names are quoted for a shell.
func TestNextSteps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my run")
	if got := NextSteps(dir); len(got) != 1 || got[0].Command != "aiperf report --html '"+dir+"'" {
		t.Errorf("%v", got)
	}
	if err := os.Mkdir(dir+".previous", 0o700); err != nil {
		t.Fatal(err)
	}
	if got := NextSteps(dir); len(got) != 2 || got[1].Command != "aiperf compare '"+dir+".previous' '"+dir+"'" {
		t.Errorf("%v", got)
	}
}
