package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mountRoot builds the root file system of a container and returns where it is: this machine's files below, what the container writes
// above, and its mounts.
func mountRoot(s Spec) (string, error) {
	upper, work, root := filepath.Join(s.Root, "written"), filepath.Join(s.Root, "work"), filepath.Join(s.Root, "root")
	for _, dir := range []string{upper, work, root} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	layers := "lowerdir=/,upperdir=" + upper + ",workdir=" + work
	if err := unix.Mount("overlay", root, "overlay", 0, layers); err != nil {
		return "", wrap("overlay of the root file system", err)
	}
	if err := mountSystem(root); err != nil {
		return "", err
	}
	for _, m := range s.Mounts {
		if err := bind(root, m); err != nil {
			return "", err
		}
	}
	if s.ReadOnly {
		return root, wrap("read-only root", unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	}
	return root, nil
}

// mountSystem adds the file systems of the kernel.
func mountSystem(root string) error {
	for _, dir := range []string{"/dev", "/sys"} {
		if err := unix.Mount(dir, filepath.Join(root, dir), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return wrap(dir, err)
		}
	}
	return wrap("/proc", unix.Mount("proc", filepath.Join(root, "proc"), "proc", 0, ""))
}

// bind makes one mount, and the folder or empty file that it covers.
func bind(root string, m Mount) error {
	to := filepath.Join(root, m.To)
	if err := makeTarget(m.From, to); err != nil {
		return wrap("mount "+m.To, err)
	}
	if err := unix.Mount(m.From, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return wrap("mount "+m.To, err)
	}
	if !m.ReadOnly {
		return nil
	}
	return wrap("mount "+m.To+" read-only", unix.Mount("", to, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
}

func makeTarget(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(to, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
