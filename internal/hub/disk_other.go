//go:build !unix

package hub

import "os"

// isFull cannot tell a full disk here: the system's own words are shown.
func isFull(error) bool { return false }

func freeBytes(string) (int64, bool) { return 0, false }

func onDisk(info os.FileInfo) int64 { return info.Size() }
