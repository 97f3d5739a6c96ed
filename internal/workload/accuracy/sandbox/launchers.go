//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nobody is the user and group id that a program sees as its own; on most systems nobody owns no files.
const nobody = 65534

// launcher is one way to create a sandbox: how its first process starts, and what its stages do.
type launcher struct {
	name       string
	attributes func() *syscall.SysProcAttr
	plans      func(r runner) ([]stagePlan, error)
}

// launchers returns the ways to create a sandbox, the best first. Only root can give a program the identity of another user.
func launchers() []launcher {
	var list []launcher
	if os.Geteuid() == 0 {
		list = append(list, launcher{"namespaces as user nobody", otherUser, namespacePlans(nobody)})
	}
	return append(list, launcher{"namespaces", sameUser, namespacePlans(0)}, launcher{"bubblewrap", noNamespace, bubblewrapPlans})
}

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// otherUser starts the process as root of a new user namespace that also contains the user nobody.
func otherUser() *syscall.SysProcAttr {
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}, {ContainerID: nobody, HostID: nobody, Size: 1}}
	return &syscall.SysProcAttr{Cloneflags: namespaces, UidMappings: ids, GidMappings: ids, GidMappingsEnableSetgroups: true,
		Credential: &syscall.Credential{}, Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// sameUser starts the process as the present user in a new user namespace, where it is called nobody and may mount.
func sameUser() *syscall.SysProcAttr {
	id := func(host int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: nobody, HostID: host, Size: 1}}
	}
	return &syscall.SysProcAttr{Cloneflags: namespaces, UidMappings: id(os.Geteuid()), GidMappings: id(os.Getegid()),
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}, AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP},
		Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// noNamespace starts a process that ends with aiperf; bubblewrap creates the namespaces.
func noNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// namespacePlans returns a function that plans the single stage in our own namespaces.
func namespacePlans(user int) func(r runner) ([]stagePlan, error) {
	return func(r runner) ([]stagePlan, error) {
		p := r.confined()
		p.NewRoot, p.Root, p.User = true, r.shares, user
		return []stagePlan{p}, nil
	}
}

// confined returns the plan of the last stage: limits, no privileges, and the interpreter.
func (r runner) confined() stagePlan {
	args, environment := r.python.command()
	return stagePlan{Limits: r.bounds.limits(), Confine: true, CloseFrom: planDescriptor, Args: args, Environment: environment}
}

// limits returns the resource limits of each process of a program.
func (b bounds) limits() []limit {
	return []limit{
		{unix.RLIMIT_AS, b.address}, {unix.RLIMIT_FSIZE, fileSize}, {unix.RLIMIT_NOFILE, openFiles}, {unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_CPU, uint64((Time + startTime) / time.Second)}, {unix.RLIMIT_NPROC, uint64(b.processes + otherThreads())},
		{unix.RLIMIT_MSGQUEUE, 0}, {unix.RLIMIT_MEMLOCK, 0},
	}
}

// otherThreads counts the threads of this user that a kernel before 5.14 counts towards the limit of a new user namespace.
func otherThreads() int {
	var name unix.Utsname
	if unix.Uname(&name) == nil && perNamespace(unix.ByteSliceToString(name.Release[:])) {
		return 0
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if tasks, err := os.ReadDir("/proc/" + e.Name() + "/task"); err == nil {
			n += len(tasks)
		}
	}
	return n
}

// perNamespace reports whether a kernel of this release counts processes per user namespace.
func perNamespace(release string) bool {
	words := strings.SplitN(release, ".", 3)
	if len(words) < 2 {
		return false
	}
	major, err := strconv.Atoi(words[0])
	minor, _ := strconv.Atoi(strings.TrimRight(words[1], "-+abcdefghijklmnopqrstuvwxyz"))
	return err == nil && (major > 5 || major == 5 && minor >= 14)
}

// bubblewrapPlans returns the plans of two stages: bubblewrap, and inside it the interpreter.
func bubblewrapPlans(r runner) ([]stagePlan, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, &notInstalled{}
	}
	args := []string{path, "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--uid", strconv.Itoa(nobody), "--gid", strconv.Itoa(nobody),
		"--size", "1048576", "--tmpfs", "/dev"}
	for _, dir := range volatile {
		args = append(args, "--size", strconv.Itoa(diskSize), "--tmpfs", dir)
	}
	for _, s := range r.shares { // the interpreter may be in /tmp
		if s.Source == "" {
			args = append(args, "--symlink", s.Link, s.Target)
		} else {
			args = append(args, "--ro-bind", s.Source, s.Target)
		}
	}
	for _, d := range devices {
		args = append(args, "--dev-bind", d, d)
	}
	for _, l := range deviceLinks {
		args = append(args, "--symlink", l.Link, l.Target)
	}
	args = append(args, "--proc", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--",
		"/proc/self/fd/"+strconv.Itoa(binaryDescriptor), stageWord)
	return []stagePlan{{CloseFrom: binaryDescriptor + 1, Args: args}, r.confined()}, nil
}

// notInstalled reports that bubblewrap is missing.
type notInstalled struct{}

func (*notInstalled) Error() string { return "bwrap is not installed" }
