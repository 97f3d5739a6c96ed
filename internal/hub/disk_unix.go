//go:build unix

package hub

import (
	"errors"
	"os"
	"syscall"
)

// isFull tells whether a disk, or a user's share of it, has no room.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// freeBytes is the room that a user has on the disk of a directory; false = nobody says.
func freeBytes(dir string) (int64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // types differ between systems
}

// onDisk is the room that a file takes, holes not counted.
func onDisk(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(s.Blocks) * 512 //nolint:unconvert // types differ between systems
	}
	return info.Size()
}
