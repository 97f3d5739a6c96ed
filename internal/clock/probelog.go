package clock

// probeRead is one reading of the probe: it became readable at ready and was read at seen (instants).
type probeRead struct{ ready, seen int64 }

// late is how long the probe waited to be read, ns.
func (r probeRead) late() int64 { return r.seen - r.ready }

// probeLogSize is the length of the log: two minutes of requests in flight.
const probeLogSize = 1 << 16

// probeLog keeps the latest readings of the probe. One reading says that the goroutine of the probe ran then, and no more: other goroutines
// may have waited to run, so it proves nothing of what their connections held. The transport finds that out itself.
type probeLog struct {
	kept []probeRead
	n    int // readings added so far
}

func newProbeLog() probeLog { return probeLog{kept: make([]probeRead, probeLogSize)} }

func (l *probeLog) add(r probeRead) {
	*l.at(l.n) = r
	l.n++
}

// at is reading i, counted over all that were added.
func (l *probeLog) at(i int) *probeRead { return &l.kept[i%len(l.kept)] }

// longest is the longest time, ns, that a reading was late, of those that waited at some instant from one to the other.
func (l *probeLog) longest(from, to int64) (most int64) {
	for i := l.n - 1; i >= max(0, l.n-len(l.kept)) && l.at(i).seen >= from; i-- {
		if r := l.at(i); r.ready <= to {
			most = max(most, r.late())
		}
	}
	return most
}

// waits are the times, ns, that threads spent on run queues: all together, and of the two that waited longest.
type waits struct{ all, most, second int64 }
