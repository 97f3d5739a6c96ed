package clock

// probeRead is one reading of the probe. The probe became readable at ready and was read at readAt (instants).
type probeRead struct{ ready, readAt int64 }

// late returns how long the probe waited to be read, ns.
func (r probeRead) late() int64 { return r.readAt - r.ready }

// probeLogSize is the number of readings in the log: two minutes with requests in flight.
const probeLogSize = 1 << 16

// probeLog stores the latest readings of the probe. A reading shows only that the probe's goroutine ran then. Other goroutines may have waited to
// run, so it says nothing about the data on their connections. The transport finds that out itself.
type probeLog struct {
	reads []probeRead
	n     int // readings added so far
}

func newProbeLog() probeLog { return probeLog{reads: make([]probeRead, probeLogSize)} }

func (l *probeLog) add(r probeRead) {
	*l.at(l.n) = r
	l.n++
}

// at returns reading i, counted from the first one added.
func (l *probeLog) at(i int) *probeRead { return &l.reads[i%len(l.reads)] }

// longest returns the longest delay, ns, of the readings that were pending at some instant between from and to.
func (l *probeLog) longest(from, to int64) (most int64) {
	for i := l.n - 1; i >= max(0, l.n-len(l.reads)) && l.at(i).readAt >= from; i-- {
		if r := l.at(i); r.ready <= to {
			most = max(most, r.late())
		}
	}
	return most
}

// waits are times, ns, that threads spent on run queues: the sum, and the longest two.
type waits struct{ all, longest, second int64 }
