//go:build !unix

package hfhub

import "os"

// isFull always returns false, because a full disk cannot be detected here. The system's error is shown instead.
func isFull(error) bool { return false }

// FreeBytes returns false: the free space is unknown here.
func FreeBytes(string) (int64, bool) { return 0, false }

func onDisk(info os.FileInfo) int64 { return info.Size() }
