//go:build !unix

package hfhub

import "os"

// lock always fails, because files cannot be locked here. So each download uses a separate file.
func lock(*os.File) bool { return false }
