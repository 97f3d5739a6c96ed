package lab

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKubePreflight: the pod of the test reaches the server, opens a tokenizer and reads a file on a volume; what is missing is a problem.
func TestKubePreflight(t *testing.T) {
	ns, server, data := namespace(t), startTarget(t), t.TempDir()
	for path := data; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil { //nolint:gosec // pods run as another user
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, "a.jsonl"), []byte("{}\n"), 0o644); err != nil { //nolint:gosec // pods run as another user
		t.Fatal(err)
	}
	check := func(status int, file string, want ...string) {
		t.Helper()
		c := aiperf(t, cluster.Kubeconfig, "kube", "preflight", "--namespace", ns, "--image", "aiperf", "--workers", "3", "--endpoint-url", server.url, "--tokenizer", "builtin",
			"--host-paths", data+":/data", "--input-file", file)
		if got := c.status(t); got != status {
			t.Errorf("exit status %d, want %d", got, status)
		}
		says(t, c, append(want, "answers from a pod", "a pod finds builtin", "clock of the API server", "clock of a node")...)
	}
	check(0, "/data/a.jsonl", "a pod reads its 1 KiB")
	check(3, "/data/b.jsonl", "a pod cannot read it")
	nothingLeft(t, ns)
}

// TestKubeScreen: on a terminal, a run on a cluster is shown full-screen; its report comes after the view.
func TestKubeScreen(t *testing.T) {
	ns, server, dir := namespace(t), startTarget(t), t.TempDir()
	line := []string{os.Getenv("AIPERF"), "kube", "profile", "--namespace", ns, "--name", "run", "--image", "aiperf", "--total-workers", "3"}
	c := exec.Command("script", "-qec", strings.Join(append(line, load(server.url, dir, "8")...), " "), "/dev/null")
	c.Env, c.Dir, c.WaitDelay = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig, "HOME="+t.TempDir(), "TERM=xterm-256color", "LANG=C.UTF-8"), t.TempDir(), time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	limit := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
	defer limit.Stop()
	err := c.Run()
	_, after, left := strings.Cut(out.String(), "\x1b[?1049l")
	if err != nil || !strings.Contains(out.String(), "\x1b[?1049h") || !left || !strings.Contains(after, "JSON Export: ") {
		t.Errorf("%v: view left: %v\n%q", err, left, out.String())
	}
	nothingLeft(t, ns)
}
