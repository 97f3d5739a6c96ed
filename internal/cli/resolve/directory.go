package resolve

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckDirectory returns an error unless a directory exists or can be created: no part of its path may be a file.
func CheckDirectory(dir string) error {
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
