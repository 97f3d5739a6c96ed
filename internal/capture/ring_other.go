//go:build !(linux && (amd64 || arm64))

package capture

import "net/netip"

// Capture is not to be had on this platform.
type Capture struct{}

// Flow knows nothing on this platform.
type Flow struct{}

// Open gives ErrUnsupported.
func Open(Options) (*Capture, error) { return nil, ErrUnsupported }

// Watch gives ErrUnsupported.
func (*Capture) Watch(netip.AddrPort) error { return ErrUnsupported }

// Track gives nil.
func (*Capture) Track(_, _ netip.AddrPort, _ int64) *Flow { return nil }

// Arrivals gives the points' own instants.
func (*Flow) Arrivals(points []Point, out []Arrival) {
	for i, p := range points {
		out[i] = Arrival{At: p.Read}
	}
}

// Through gives nothing.
func (*Flow) Through(Point) []Mark { return nil }

// Close does nothing.
func (*Flow) Close() {}

// Stats are zero.
func (*Capture) Stats() Stats { return Stats{} }

// Close does nothing.
func (*Capture) Close() error { return nil }
