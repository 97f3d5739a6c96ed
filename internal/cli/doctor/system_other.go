//go:build !linux

package doctor

import "os"

func kernelRelease() string    { return "" }
func clockSource() string      { return "" }
func governor() string         { return "" }
func clockSynchronised() *bool { return nil }

// writable reports whether the owner of a directory may create files in it.
func writable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o200 != 0
}
