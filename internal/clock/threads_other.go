//go:build !linux

package clock

// threadWaits knows nothing where the system does not tell how long threads wait for processors.
type threadWaits struct{}

func (w *threadWaits) read() waits { return waits{} }
func (w *threadWaits) close()      {}
