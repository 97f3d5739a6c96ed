//go:build !unix

package hub

import "os"

// lock says that the file cannot be taken for this process alone, so that each download has a file of its own.
func lock(*os.File) bool { return false }
