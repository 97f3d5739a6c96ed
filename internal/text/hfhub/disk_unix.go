//go:build unix

package hfhub

import (
	"errors"
	"os"
	"syscall"
)

// isFull reports whether a disk, or a user's quota of it, is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// FreeBytes returns the space available to the user on the disk of a directory; false if it is unknown.
func FreeBytes(dir string) (int64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // types differ between systems
}

// onDisk returns the disk space of a file, without holes.
func onDisk(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(s.Blocks) * 512 //nolint:unconvert // types differ between systems
	}
	return info.Size()
}
