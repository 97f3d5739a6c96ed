//go:build !linux

package processors

// Relay runs functions; on this system no thread occupies a processor without using it.
type Relay struct{}

// NewRelay returns no relay.
func NewRelay() *Relay { return nil }

// Do calls f.
func (*Relay) Do(f func()) { f() }

// Close does nothing.
func (*Relay) Close() {}
