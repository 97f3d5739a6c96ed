//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestControlGroups: the nearest group upwards that hands its memory limit down takes the groups, and a group gets its limits.
func TestControlGroups(t *testing.T) {
	mount := t.TempDir()
	own := filepath.Join(mount, "user.slice/app.slice/term.scope")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(own, "cgroup.subtree_control"), "\n")
	write(filepath.Join(mount, "user.slice/app.slice/cgroup.subtree_control"), "cpu memory pids\n")
	write(filepath.Join(mount, "user.slice/cgroup.subtree_control"), "memory\n")
	mountinfo := []byte("22 1 0:1 / / rw - ext4 x rw\n30 22 0:27 / " + mount + " rw,nosuid shared:4 - cgroup2 cgroup2 rw\n")
	self := []byte("1:name=systemd:/x\n0::/user.slice/app.slice/term.scope\n")
	if got := findGroupParent(groupMount(mountinfo), ownGroup(self)); got != filepath.Join(mount, "user.slice/app.slice") {
		t.Errorf("groups are made in %q", got)
	}
	for name, c := range map[string][2]string{"no version 2": {"22 1 0:1 / / rw - ext4 x rw\n", string(self)}, "outside": {string(mountinfo), "0::/../x\n"}, "none": {string(mountinfo), ""}} {
		if got := findGroupParent(groupMount([]byte(c[0])), ownGroup([]byte(c[1]))); got != "" {
			t.Errorf("%s: groups are made in %q", name, got)
		}
	}
	c := makeGroup(mount)
	if c == nil {
		t.Fatal("no group")
	}
	for _, file := range []string{"memory.max", "cgroup.procs", "memory.events"} {
		write(filepath.Join(c.dir, file), "")
	}
	if err := c.limit(17, bounds{memory: 1 << 20, processes: 9}); err != nil {
		t.Fatal(err)
	}
	most, err := os.ReadFile(filepath.Join(c.dir, "memory.max"))
	if err != nil || string(most) != "135266304" { // 1 MiB and two file systems of 64 MiB
		t.Errorf("memory.max is %q, %v", most, err)
	}
	for text, want := range map[string]bool{"low 0\noom 1\noom_kill 0\n": false, "oom_kill 2\n": true, "": false} {
		write(filepath.Join(c.dir, "memory.events"), text)
		if c.killed() != want {
			t.Errorf("killed by %q: %v", text, !want)
		}
	}
}

// TestKernelReleases: kernels from 5.14 on count the processes of a user namespace by themselves.
func TestKernelReleases(t *testing.T) {
	for release, want := range map[string]bool{"5.13.0-39-generic": false, "5.14": true, "5.15.1": true, "4.18.0-553.el8": false, "6.1-rc3": true, "x": false, "": false} {
		if perNamespace(release) != want {
			t.Errorf("%q: %v", release, !want)
		}
	}
}

// TestMountNames: mountinfo writes blanks and backslashes as octal numbers.
func TestMountNames(t *testing.T) {
	for text, want := range map[string]string{`/a\040b`: "/a b", `/a\134b\011`: "/a\\b\t", "/x": "/x", `\0`: "0"} {
		if got := unescapeMount(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
