//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// loaderPlugin writes a manifest with a dataset loader that is a shell script, and returns the value for AIPERF_PLUGIN_PATH.
func loaderPlugin(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugins.yaml": "custom_dataset_loader:\n  lines:\n    exec: [sh, load.sh]\n",
		"load.sh":      "read hello\necho '{\"type\":\"hello\",\"protocol\":1,\"methods\":[\"load\"]}'\nread call\n" + script,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// plugins makes the plug-ins of a directory known to the process.
func (p *process) plugins(dir string) *process {
	p.cmd.Env = append(p.cmd.Env, "AIPERF_PLUGIN_PATH="+dir)
	return p
}

// TestPluginOfARun: a dry run names the programs that it would start, and the run sends what the program loads.
func TestPluginOfARun(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	places := loaderPlugin(t, `echo '{"id":1,"part":{"conversations":[{"turns":[{"texts":["alpha"]}]}]}}'
echo '{"id":1,"result":{}}'
read end
`)
	rows := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(rows, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--url", "mock://", "--model", "m", "--tokenizer", "builtin", "--input-file", rows, "--custom-dataset-type", "lines", "--request-count", "2"}
	dry := program(t, append(args, "--dry-run")...).plugins(places).start()
	if status := dry.wait(); status != 0 || !strings.Contains(dry.stderr.String(), "dry run: plug-ins: custom_dataset_loader:lines (sh ") {
		t.Errorf("status %d\n%s", status, dry.stderr.String())
	}
	p := program(t, args...).plugins(places).start()
	if status := p.wait(); status != 0 || p.summary().avg(t, "request_count") != 2 {
		t.Errorf("status %d\n%s", status, p.stderr.String())
	}
	inputs, err := os.ReadFile(filepath.Join(p.dir, "inputs.json"))
	if err != nil || !strings.Contains(string(inputs), `"alpha"`) {
		t.Errorf("%v %s", err, inputs)
	}
}

// TestInterruptedPlugin: Ctrl-C ends a run that waits for a plug-in, and the plug-in with its child, although both ignore SIGTERM.
func TestInterruptedPlugin(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	places := loaderPlugin(t, "trap '' TERM INT\nexec 9> "+fifo+"\nsleep 1000 &\necho started >&9\nsleep 1000\n")
	p := program(t, "--url", "mock://", "--model", "m", "--tokenizer", "builtin", "--input-file", fifo+".txt", "--custom-dataset-type", "lines").plugins(places)
	if err := os.WriteFile(fifo+".txt", []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.start()
	f, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	alive := bufio.NewReader(f) // the plug-in and its child hold the other end
	if _, err := alive.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGINT)
	if status := p.wait(); status == 0 {
		t.Error("an interrupted run without a request has status 0")
	}
	if err := f.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := alive.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the plug-in or its child is alive: %v", err)
	}
}
