package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// possible ends a test on a machine where no sandbox can be made, after it has seen that nothing is run there.
func possible(t *testing.T) bool {
	err := Check()
	if err == nil {
		return true
	}
	if !strings.Contains(err.Error(), "sandbox") && !strings.Contains(err.Error(), "python3") {
		t.Errorf("%v does not say what is missing", err)
	}
	if r, err := Run(t.Context(), Job{Code: "print(1)"}); err == nil || r.Output != "" {
		t.Errorf("ran all the same: %+v", r)
	}
	return false
}

func TestPrograms(t *testing.T) {
	testhome.Slow(t)
	if !possible(t) {
		return
	}
	for _, c := range []struct {
		job    Job
		output string
		ended  bool
		value  string
		fault  string
	}{
		{job: Job{Code: "print(int(input())+1)", Input: "4\n"}, output: "5\n", ended: true},
		{job: Job{Code: "import sys; print(sys.stdin.buffer.read().decode(), end='')", Input: "ä\n"}, output: "ä\n", ended: true},
		{job: Job{Code: "print(sqrt(16)); sys.exit(1)"}, output: "4.0\n", ended: true},
		{job: Job{Code: "print(1)\n1/0"}, output: "1\n", fault: "ZeroDivisionError"},
		{job: Job{Code: "print("}, fault: "SyntaxError"},
		{job: Job{Code: "class Solution:\n  def f(self, a, b): return (a, b)", Input: "1\n[2]", Function: "f"}, ended: true, value: "[1, [2]]"},
		{job: Job{Code: "def f(a): return a", Input: "1", Function: "f"}, ended: true, value: "1"},
		{job: Job{Code: "def g(a): return a", Input: "1", Function: "f"}, fault: "KeyError"},
		{job: Job{Code: "import os; os._exit(0)"}, fault: "without a result"},
		{job: Job{Code: "x = bytearray(8 << 30)"}, fault: "MemoryError"},
		{job: Job{Code: "open('/tmp/big', 'wb').write(bytes(128 << 20))"}, fault: "File too large"},
		{job: Job{Code: "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9', timeout=1)"}, fault: "URLError"},
		{job: Job{Code: "open('/etc/aiperf-test', 'w')"}, fault: "Error"},
		{job: Job{Code: "open('/tmp/t', 'w').write('x'); print(open('/tmp/t').read())"}, output: "x\n", ended: true},
		{job: Job{Code: "print(open('/dev/urandom', 'rb').read(1) != b'', __import__('os').path.exists('/dev/sda'))"}, output: "True False\n", ended: true},
		{job: Job{Code: "class L(list):\n  __eq__ = lambda a, b: True\n  __iter__ = lambda a: iter([9])\ndef f(a): return L([1])", Input: "1", Function: "f"}, ended: true, value: "[1]"},
		{job: Job{Code: "class Yes:\n  __eq__ = lambda a, b: True\ndef f(a): return Yes()", Input: "1", Function: "f"}, fault: "returned Yes"},
		{job: Job{Code: "def f(a): return [(1, 2)]", Input: "1", Function: "f"}, fault: "returned tuple"},
		{job: Job{Code: "def f(a): return {1: 2}", Input: "1", Function: "f"}, fault: "returned dict"},
		{job: Job{Code: "import os, sys\nfor i in range(3, 9):\n  try: print(os.read(i, 9))\n  except OSError: pass\nf = sys._getframe(1).f_locals\nprint('output' in f['job'])"}, output: "False\n", ended: true},
	} {
		r, err := Run(t.Context(), c.job)
		if err != nil {
			t.Fatal(err)
		}
		if c.output != "" && r.Output != c.output || r.Ended != c.ended || c.value != "" && r.Returned != c.value || !strings.Contains(r.Fault, c.fault) || r.Ended && r.Fault != "" {
			t.Errorf("%q: %+v, want %+v", c.job.Code, r, c)
		}
	}
}

// TestNothingStays: files that a program writes outside the sandbox do not exist afterwards, and its child processes end with it.
func TestNothingStays(t *testing.T) {
	if !possible(t) {
		return
	}
	dir := t.TempDir()
	r, err := Run(t.Context(), Job{Code: "open('" + filepath.ToSlash(dir) + "/x', 'w')"})
	if err != nil || r.Ended {
		t.Errorf("%+v, %v: wrote into the directory of the test", r, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, Job{Code: "while True: pass"}); err != nil || r.Ended {
		t.Errorf("%+v, %v: a run that was called off came to its end", r, err)
	}
}
