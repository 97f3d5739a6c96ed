//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// devices are the devices in a program's /dev. /dev/zero is missing, because its shared mappings take memory that belongs to no process.
var devices = []string{"/dev/null", "/dev/full", "/dev/random", "/dev/urandom"}

// volatile are the memory file systems to which a program can write.
var volatile = []string{"/tmp", "/dev/shm"}

// deviceLinks are the usual names of a process's own descriptors.
var deviceLinks = []share{{Target: "/dev/fd", Link: "/proc/self/fd"}, {Target: "/dev/stdin", Link: "/proc/self/fd/0"},
	{Target: "/dev/stdout", Link: "/proc/self/fd/1"}, {Target: "/dev/stderr", Link: "/proc/self/fd/2"}}

// oldRoot is the place of the machine's root directory while the new one is built.
const oldRoot = "/oldroot"

// enterRoot builds a root directory with the given files and leaves that of the machine. The process must have its own mount namespace.
func enterRoot(shares []share) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("cannot separate the mounts: %w", err)
	}
	if err := swapRoot("/tmp"); err != nil {
		return err
	}
	for _, dir := range volatile {
		if err := mountMemory(dir, fmt.Sprintf("size=%d,nr_inodes=%d,mode=1777", diskSize, diskFiles)); err != nil {
			return err
		}
	}
	for _, s := range shares { // the interpreter may be in /tmp
		if err := s.mount(); err != nil {
			return err
		}
	}
	if err := fillDevices(); err != nil {
		return err
	}
	if err := mountProcesses(); err != nil {
		return err
	}
	mounts, err := os.ReadFile(oldRoot + "/proc/self/mountinfo") // from the point of view of this process
	if err != nil {
		return err
	}
	if err := unix.Unmount(oldRoot, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("cannot leave the file system of the machine: %w", err)
	}
	_ = os.Remove(oldRoot) // the directory is empty
	if err := makeReadOnly(mounts); err != nil {
		return err
	}
	return os.Chdir("/tmp")
}

// swapRoot makes an empty memory file system the root directory; the old root moves to oldRoot. dir is the mount point.
func swapRoot(dir string) error {
	if err := mountMemory(dir, "size=1m,nr_inodes=4096,mode=755"); err != nil {
		return err
	}
	for _, sub := range append([]string{oldRoot, "/dev", "/proc", "/etc"}, volatile...) {
		if err := os.MkdirAll(dir+sub, 0o755); err != nil {
			return err
		}
	}
	if err := unix.PivotRoot(dir, dir+oldRoot); err != nil {
		return fmt.Errorf("cannot change the root directory: %w", err)
	}
	return os.Chdir("/")
}

func mountMemory(dir, options string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("cannot mount a file system in memory on %s: %w", dir, err)
	}
	return nil
}

// mount makes a file, directory or link of the machine visible.
func (s share) mount() error {
	if s.Source == "" {
		return os.Symlink(s.Link, s.Target)
	}
	info, err := os.Stat(oldRoot + s.Source)
	if err != nil {
		return err
	}
	if err := makeTarget(s.Target, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(oldRoot+s.Source, s.Target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("cannot show %s: %w", s.Source, err)
	}
	return nil
}

// makeTarget creates the directory or the empty file for a mount.
func makeTarget(path string, dir bool) error {
	if dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func fillDevices() error {
	for _, d := range devices {
		if err := (share{Source: d, Target: d}).mount(); err != nil {
			return err
		}
	}
	for _, l := range deviceLinks {
		if err := l.mount(); err != nil {
			return err
		}
	}
	return nil
}

// mountProcesses mounts /proc. It stays empty if the kernel refuses that, for example in a container that hides parts of its /proc.
func mountProcesses() error {
	err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("cannot mount /proc: %w", err)
	}
	return nil
}

// makeReadOnly makes every mount of a mountinfo file read-only. It disables set-user-ID bits, and devices outside /dev.
func makeReadOnly(mountinfo []byte) error {
	for line := range bytes.Lines(mountinfo) {
		if err := remount(strings.Fields(string(line))); err != nil {
			return err
		}
	}
	return nil
}

// remountFlags are the mount options that a remount must repeat.
var remountFlags = map[string]uintptr{"noexec": unix.MS_NOEXEC, "noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME,
	"relatime": unix.MS_RELATIME, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV}

// remount makes the mount in a line of mountinfo read-only. The fifth field is the directory, the sixth the options.
func remount(fields []string) error {
	if len(fields) < 6 {
		return fmt.Errorf("cannot read the mount %q", fields)
	}
	dir := unescapeMount(fields[4])
	if dir == oldRoot || strings.HasPrefix(dir, oldRoot+"/") || slices.Contains(volatile, dir) {
		return nil // it is gone, or it is the program's own
	}
	flags := uintptr(unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY | unix.MS_NOSUID)
	for option := range strings.SplitSeq(fields[5], ",") {
		flags |= remountFlags[option]
	}
	if !strings.HasPrefix(dir, "/dev/") {
		flags |= unix.MS_NODEV
	}
	if err := unix.Mount("", dir, "", flags, ""); err != nil {
		return fmt.Errorf("cannot make %s read-only: %w", dir, err)
	}
	return nil
}

// unescapeMount decodes the octal escapes of mountinfo.
func unescapeMount(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if code, err := strconv.ParseUint(after[:min(3, len(after))], 8, 8); err == nil && len(after) >= 3 {
			b.WriteByte(byte(code))
			after = after[3:]
		}
		s = after
	}
}
