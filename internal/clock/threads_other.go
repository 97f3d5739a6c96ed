//go:build !linux

package clock

// threadWaits knows nothing where the system does not tell how long threads wait for processors.
type threadWaits struct{}

func (w *threadWaits) own()              {}
func (w *threadWaits) ownWait() int64    { return 0 }
func (w *threadWaits) look() (all int64) { return 0 }
func (w *threadWaits) close()            {}
