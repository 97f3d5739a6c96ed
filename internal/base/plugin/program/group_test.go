//go:build linux

package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	answers["look"] = func(a actor) {
		entries, err := os.ReadDir("/proc/self/fd")
		text := fmt.Sprint(err)
		for _, e := range entries {
			target, _ := os.Readlink("/proc/self/fd/" + e.Name())
			text += " " + e.Name() + "=" + target
		}
		fmt.Printf(`{"id":%d,"result":{"descriptors":%q,"group":%t,"secret":%q,"named":%q,"plain":%q}}`+"\n", a.read(), text, syscall.Getpgrp() == os.Getpid(),
			os.Getenv("MY_API_KEY"), os.Getenv("MY_SERVICE_TOKEN"), os.Getenv("TOKENIZERS_PARALLELISM"))
		a.read()
	}
	greetings["parent"] = func(actor) {
		p, err := Start(context.Background(), Settings{Category: "x", Plugin: "y", Command: []string{os.Args[0], "plug-in", "outlive"}})
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(p.proc.cmd.Process.Pid)
		time.Sleep(forever)
	}
}

// ends reports whether a process whose parent is another one ends soon.
func ends(t *testing.T, pid int) bool {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5000)
	return err == nil && n == 1
}

// TestDescriptors: a program has three descriptors, its own process group, and no credential that its manifest does not name.
func TestDescriptors(t *testing.T) {
	t.Setenv("MY_API_KEY", "k")
	t.Setenv("MY_SERVICE_TOKEN", "t")
	t.Setenv("TOKENIZERS_PARALLELISM", "true")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	leaky, err := unix.Dup(int(w.Fd())) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaky)
	s := settings(t, "look")
	s.Env = []string{"MY_SERVICE_TOKEN"}
	var a struct {
		Descriptors, Secret, Named, Plain string
		Group                             bool
	}
	if err := start(t, s).Call(t.Context(), "echo", nil, &a); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(a.Descriptors, "pipe:["); n != 3 || !a.Group {
		t.Errorf("descriptors %s, own group %v", a.Descriptors, a.Group)
	}
	if a.Secret != "" || a.Named != "t" || a.Plain != "true" {
		t.Errorf("%+v", a)
	}
}

// TestDescendants: processes of the group end with the program. One that left the group keeps the pipes, and is not waited for.
func TestDescendants(t *testing.T) {
	for how, mustEnd := range map[string]bool{"family": true, "orphan": false} {
		s := settings(t, how)
		children := collectChildren(t, &s)
		p := start(t, s)
		if err := p.Call(t.Context(), "echo", nil, new(answer)); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: closed after %v", how, took)
		}
		if len(children()) != 1 {
			t.Fatalf("%s: children %v", how, children())
		}
		if mustEnd && !ends(t, children()[0]) {
			t.Errorf("%s: process %d is alive", how, children()[0])
		}
	}
	if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("a child or zombie is left: %v", err)
	}
}

// TestDeathOfParent: a program ends if aiperf is killed, even if it ignores the end of its input.
func TestDeathOfParent(t *testing.T) {
	parent := exec.Command(os.Args[0], "plug-in", "parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed
	if !ends(t, pid) {
		t.Error("the program is alive")
	}
}

// TestKillAll: a process that ends without waiting takes its programs along.
func TestKillAll(t *testing.T) {
	p := start(t, settings(t, "outlive"))
	KillAll()
	<-p.ended
	wantError(t, p.Fault(), "the program ended unexpectedly (signal: killed)")
	_ = p.Close() // the fault is known
	alive.Range(func(key, _ any) bool {
		if key == any(p.proc) {
			t.Error("the program is still registered")
		}
		return true
	})
}
