//go:build unix

package openfiles

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTooFewFiles: a process with 5 descriptors says what is missing. This test starts itself again under that limit.
func TestTooFewFiles(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(sh, "-c", `ulimit -n 5; exec "$0" -test.run '^$'`, os.Args[0]).CombinedOutput()
	if err == nil || string(out) != tooFew(5) || !strings.Contains(string(out), "ulimit -n 1024") {
		t.Errorf("%v: %s", err, out)
	}
}
