//go:build !linux

package clock

// AskShortSlices does nothing where no thread can ask for a time slice.
func AskShortSlices() {}
