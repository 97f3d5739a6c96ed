//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// controlGroup is a group of processes whose memory the kernel limits (cgroup v2). nil = none.
type controlGroup struct{ dir string }

var groupNumber atomic.Int64

// groupParent is the directory in which this process may create groups; "" = none.
var groupParent = sync.OnceValue(func() string {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return findGroupParent(groupMount(mounts), ownGroup(own))
})

// ownGroup returns the cgroup v2 path from a /proc/PID/cgroup file.
func ownGroup(text []byte) string {
	for line := range bytes.Lines(text) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "0::"); ok {
			return path
		}
	}
	return ""
}

// groupMount returns the mount point of cgroup v2 in a mountinfo file; "" = not mounted.
func groupMount(mountinfo []byte) string {
	for line := range bytes.Lines(mountinfo) {
		before, after, _ := strings.Cut(string(line), " - ")
		if fields := strings.Fields(before); len(fields) > 4 && strings.HasPrefix(after, "cgroup2 ") {
			return unescapeMount(fields[4])
		}
	}
	return ""
}

// findGroupParent searches from a group upwards for one that limits the memory of its children and in which this process may create groups.
func findGroupParent(mount, own string) string {
	if mount == "" || own == "" || strings.HasPrefix(own, "/..") {
		return ""
	}
	for group := own; ; group = filepath.Dir(group) {
		dir := filepath.Join(mount, group)
		if controls, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")); err == nil && slices.Contains(strings.Fields(string(controls)), "memory") {
			if c := makeGroup(dir); c != nil {
				c.remove()
				return dir
			}
		}
		if group == "/" || group == "." {
			return ""
		}
	}
}

// makeGroup creates an empty group below a directory; nil = not permitted.
func makeGroup(parent string) *controlGroup {
	dir := filepath.Join(parent, "aiperf-sandbox-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(groupNumber.Add(1), 10))
	if os.Mkdir(dir, 0o755) != nil {
		return nil
	}
	return &controlGroup{dir}
}

// newControlGroup creates a group with limits and moves a process into it; nil = only the watch over the processes limits them.
func newControlGroup(pid int, b bounds) *controlGroup {
	parent := groupParent()
	if parent == "" {
		return nil
	}
	c := makeGroup(parent)
	if c == nil {
		return nil
	}
	if err := c.limit(pid, b); err != nil {
		c.remove()
		return nil
	}
	return c
}

// limit sets the limits of the group and moves a process into it. Files in memory count as its memory.
func (c *controlGroup) limit(pid int, b bounds) error {
	most := b.memory + int64(len(volatile))*diskSize
	err := errors.Join(c.write("memory.max", most), c.write("cgroup.procs", int64(pid)))
	_ = c.write("memory.swap.max", 0)                      // fails without swap
	_ = c.write("memory.oom.group", 1)                     // exists since Linux 4.19
	_ = c.write("pids.max", int64(b.processes+ownThreads)) // fails where the pids controller is off
	return err
}

func (c *controlGroup) write(file string, value int64) error {
	f, err := os.OpenFile(filepath.Join(c.dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(value, 10))
	return errors.Join(err, f.Close())
}

// killed reports whether the kernel killed the group because of its memory.
func (c *controlGroup) killed() bool {
	if c == nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "memory.events"))
	if err != nil {
		return false
	}
	_, rest, found := strings.Cut("\n"+string(text), "\noom_kill ")
	return found && !strings.HasPrefix(rest, "0")
}

// remove removes the group after its last process has ended.
func (c *controlGroup) remove() {
	if c != nil {
		_ = os.Remove(c.dir) // a leftover group is empty, and later runs do not use it
	}
}
