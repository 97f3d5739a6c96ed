package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// dirExists reports whether a directory can be made or is there: no part of its path is a file.
func dirExists(dir string) error {
	for p := filepath.Clean(dir); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err == nil {
			if !info.IsDir() {
				return fmt.Errorf("%s is a file", p)
			}
			return writable(p)
		}
		if p == filepath.Dir(p) || p == "." {
			return writable(".")
		}
	}
}
