//go:build !unix

package livefile

// runs cannot be told here: what says nothing for long is over.
func runs(int) bool { return true }
