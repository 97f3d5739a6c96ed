// Package sandbox turns a process into a container: with its own root file system, mounts, user and environment. The root
// file system shows this machine's files. What a container writes stays in the container.
package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Spec describes a container.
type Spec struct {
	Root     string  // folder for what the container writes to its root file system
	ReadOnly bool    // the root file system refuses to be written
	Mounts   []Mount // in order
	Args     []string
	Env      []string // NAME=VALUE
	Dir      string   // working folder; empty means /
	Hostname string
	User     int
	Group    int
	Groups   []int // supplementary
}

// Mount is a file or folder of this machine at a path of the container.
type Mount struct {
	From, To string
	ReadOnly bool
}

// Command returns the command that becomes the container, in the network namespace of the process with the given id. The caller connects
// its output and starts it.
func Command(s Spec, network int) (*exec.Cmd, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command("nsenter", "-t", strconv.Itoa(network), "-n", self, "container")
	c.Stdin = bytes.NewReader(text)
	c.Env = []string{"PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	return c, nil
}

// Exec returns a command that runs args inside a running container, as its user and with its environment.
func Exec(pid int, s Spec, args []string) *exec.Cmd {
	enter := []string{"-t", strconv.Itoa(pid), "--mount", "--net", "--pid", "--uts", "--root", "--wd",
		"--setuid", strconv.Itoa(s.User), "--setgid", strconv.Itoa(s.Group), "--"}
	c := exec.Command("nsenter", append(enter, args...)...)
	c.Env = s.Env
	return c
}

// Status returns what a container's exit status is for Kubernetes: 128 and the signal's number where a signal ended it.
func Status(state *os.ProcessState) int {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
