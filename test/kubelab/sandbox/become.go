package sandbox

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Become reads a Spec and replaces this process by the program of the container. It returns only when that failed.
func Become(r io.Reader) error {
	runtime.LockOSThread() // the thread that executes the program is the one whose namespaces and rights count
	var s Spec
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return wrap("container's description", err)
	}
	if err := isolate(s); err != nil {
		return err
	}
	if err := useUser(s); err != nil {
		return err
	}
	if err := detachInput(); err != nil {
		return err
	}
	program, err := lookPath(s)
	if err != nil {
		return err
	}
	return wrap(program, syscall.Exec(program, s.Args, s.Env))
}

// isolate enters the root file system of the container.
func isolate(s Spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return wrap("make mounts private", err)
	}
	root, err := mountRoot(s)
	if err != nil {
		return err
	}
	if err := wrap("hostname", unix.Sethostname([]byte(s.Hostname))); err != nil {
		return err
	}
	if err := unix.Chroot(root); err != nil {
		return wrap("chroot", err)
	}
	return wrap("working folder", os.Chdir(filepath.Join("/", s.Dir)))
}

// useUser gives up root where the container has another user, and with it all capabilities.
func useUser(s Spec) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return wrap("no new privileges", err)
	}
	if err := syscall.Setgroups(s.Groups); err != nil {
		return wrap("groups", err)
	}
	if err := syscall.Setgid(s.Group); err != nil {
		return wrap("group", err)
	}
	if err := syscall.Setuid(s.User); err != nil {
		return wrap("user", err)
	}
	// Changed users clear this, and a container must not outlive its kubelet.
	return wrap("parent's death", unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0))
}

// detachInput leaves the container an empty standard input.
func detachInput() error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	return wrap("standard input", unix.Dup2(int(null.Fd()), 0))
}

// lookPath finds the program by the PATH of the container.
func lookPath(s Spec) (string, error) {
	os.Clearenv()
	for _, e := range s.Env {
		if len(e) > 5 && e[:5] == "PATH=" {
			if err := os.Setenv("PATH", e[5:]); err != nil {
				return "", err
			}
		}
	}
	return exec.LookPath(s.Args[0])
}
