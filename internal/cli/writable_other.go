//go:build !unix

package cli

// writable leaves the check to the first write.
func writable(string) error { return nil }
