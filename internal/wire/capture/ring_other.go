//go:build !(linux && (amd64 || arm64))

package capture

import "net/netip"

// Capture is not supported on this platform.
type Capture struct{}

// Flow is not supported on this platform.
type Flow struct{}

// Open returns ErrUnsupported.
func Open(Options) (*Capture, error) { return nil, ErrUnsupported }

// Watch returns ErrUnsupported.
func (*Capture) Watch(netip.AddrPort) error { return ErrUnsupported }

// Track returns nil.
func (*Capture) Track(_, _ netip.AddrPort, _ int64) *Flow { return nil }

// Arrivals returns the points' own instants.
func (*Flow) Arrivals(points []Point, out []Arrival) {
	for i, p := range points {
		out[i] = Arrival{At: p.Read}
	}
}

// Through returns nil.
func (*Flow) Through(Point) []Mark { return nil }

// Close does nothing.
func (*Flow) Close() {}

// Stats returns zeros.
func (*Capture) Stats() Stats { return Stats{} }

// Close does nothing.
func (*Capture) Close() error { return nil }
