package python

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// TestPython runs the unit tests of the module with the python3 of this machine.
func TestPython(t *testing.T) {
	testhome.Slow(t)
	for _, pattern := range []string{"tests/*.py", "aiperf_plugin/*.py"} { // go test forgets a cached result if a file that it has read was changed
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			if _, err := os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "python3", "-B", "-m", "unittest", "discover", "-s", "tests")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^Ran [2-9]\d tests`).Match(out) {
		t.Errorf("too few tests ran:\n%s", out)
	}
}

// TestModule: the module needs nothing but the standard library of Python, so a copy of the one file works.
func TestModule(t *testing.T) {
	for _, line := range regexp.MustCompile(`(?m)^(?:from|import) .*$`).FindAllString(Module, -1) {
		if strings.Contains(line, " .") || !regexp.MustCompile(`^import (asyncio|inspect|json|os|queue|sys|sysconfig|threading|time|traceback)$`).MatchString(line) {
			t.Errorf("%q is no module of the standard library that is allowed here", line)
		}
	}
}
