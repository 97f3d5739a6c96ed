package program

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// StartAdvice returns what to do about a program that cannot be started, as the end of a sentence; "" = the error says it.
func StartAdvice(path string, err error) string {
	file, missing := os.Stat(path)
	switch {
	case missing == nil && file.IsDir():
		return "; name a program, not a folder"
	case errors.Is(err, fs.ErrPermission):
		return "; make it executable: chmod +x " + path
	case errors.Is(err, syscall.ENOEXEC):
		return "; if it is a script, begin it with a line such as #!/usr/bin/env python3"
	case errors.Is(err, fs.ErrNotExist) && missing == nil:
		return "; the file exists, but not the interpreter that its first line names"
	}
	return ""
}
