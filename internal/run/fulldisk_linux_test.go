package run

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// fullDiskDir is the environment variable that makes the test program run TestFullDisk with files of a limited size.
const fullDiskDir = "TEST_FULL_DISK_DIR"

// TestFullDisk: if the disk is full, the error names every file that lacks something, the records included.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(fullDiskDir); dir != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 300, Max: 300}); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), whole(dir, "mock://?ttft=1ms&itl=1ms&tokens=2", 4), nil, Options{Version: "test", Err: &locked{}})
		fmt.Println(err)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFullDisk$")
	cmd.Env = append(os.Environ(), fullDiskDir+"="+t.TempDir())
	out, err := cmd.CombinedOutput()
	for _, want := range []string{
		"profile_export.jsonl: file too large; this file has only a part of the records", "profile_export_client_machine.jsonl: file too large", "profile_export_aiperf.json",
	} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("%v: no %q in:\n%s", err, want, out)
		}
	}
}
