//go:build !linux

package clock

// threadWaits is empty: this system does not report how long threads wait for a CPU.
type threadWaits struct{}

func (w *threadWaits) read() waits { return waits{} }
func (w *threadWaits) close()      {}
