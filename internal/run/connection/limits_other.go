//go:build !unix

package connection

func openFileLimit() int { return 0 }
