//go:build unix

package resolve

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// writable returns an error if files cannot be created in a directory.
func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	return nil
}
