package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets this test's program stand for kubelab: a container starts as its own parent's program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "container" {
		fmt.Fprintln(os.Stderr, Become(os.Stdin))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// run returns the output and exit status of a shell script in a container.
func run(t *testing.T, s Spec, script string) (string, int) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("containers need root: run make kubelab as root")
	}
	network := exec.Command("sleep", "60")
	network.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := network.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = network.Process.Kill(); _ = network.Wait() }()
	s.Root = t.TempDir()
	s.Args, s.Env = []string{"sh", "-c", script}, append(s.Env, "PATH="+os.Getenv("PATH"))
	c, err := Command(s, network.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	_ = c.Run() // the status says it
	return out.String(), Status(c.ProcessState)
}

func TestContainerSeesItsOwnWorld(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte("mounted\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := Spec{Hostname: "pod-1", Env: []string{"GREETING=hello"}, Mounts: []Mount{{From: file, To: "/new/folder/hosts"}}}
	out, status := run(t, s, "hostname; echo $GREETING $$; cat /new/folder/hosts; pwd; echo written > /kubelab-written; exit 7")
	if want := "pod-1\nhello 1\nmounted\n/\n"; out != want || status != 7 {
		t.Errorf("output %q with status %d, want %q with status 7", out, status, want)
	}
	for _, path := range []string{"/new/folder", "/kubelab-written"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is on this machine", path)
		}
	}
}

func TestContainerGivesUpItsRights(t *testing.T) {
	dir := t.TempDir()
	s := Spec{User: 1234, Group: 2345, Groups: []int{3456}, ReadOnly: true, Mounts: []Mount{{From: dir, To: "/data", ReadOnly: true}}}
	out, _ := run(t, s, "id -u; id -g; id -G; grep CapEff /proc/self/status; touch /x || echo no root; touch /data/x || echo no data")
	for _, want := range []string{"1234\n2345\n", "3456", "0000000000000000", "no root", "no data"} {
		if !strings.Contains(out, want) {
			t.Errorf("output %q lacks %q", out, want)
		}
	}
}

func TestSignalsAreStatuses(t *testing.T) {
	c := exec.Command("sh", "-c", "kill -TERM $$")
	_ = c.Run()
	if got := Status(c.ProcessState); got != 143 {
		t.Errorf("status %d after SIGTERM, want 143", got)
	}
}

func TestUnknownProgramIsNamed(t *testing.T) {
	if _, err := lookPath(Spec{Args: []string{"no-such-program"}, Env: []string{"PATH=/usr/bin"}}); err == nil ||
		!strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("error %v does not name the program", err)
	}
}
