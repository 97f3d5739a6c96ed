package metric

import "aiperf/internal/measure/record"

// trace returns a per-request value of the socket instants.
func trace(value func(*record.Trace) float64) func(*requestFacts) float64 {
	return func(f *requestFacts) float64 {
		if f.rec.Trace == nil {
			return absent()
		}
		return value(f.rec.Trace)
	}
}

// stretch returns the time between two instants; 0 if neither happened.
func stretch(from, to int64) float64 {
	if from == 0 && to == 0 {
		return 0
	}
	return between(from, to)
}

func blocked(t *record.Trace) float64 { return stretch(t.PoolWaitStart, t.PoolWaitEnd) }

func lookup(t *record.Trace) float64 {
	if t.Reused != 0 || t.DNSCacheHit != 0 {
		return 0
	}
	return stretch(t.DNSStart, t.DNSEnd)
}

// connecting returns the time of TCP and TLS handshakes. A new connection without instants was not measured.
func connecting(t *record.Trace) float64 {
	if t.Reused != 0 {
		return 0
	}
	return between(t.ConnectStart, t.ConnectEnd)
}

func sending(t *record.Trace) float64   { return between(t.SendStart, t.SendEnd) }
func waiting(t *record.Trace) float64   { return between(t.SendEnd, t.FirstChunk) }
func receiving(t *record.Trace) float64 { return between(t.FirstChunk, t.LastChunk) }

func exchange(t *record.Trace) float64 {
	if t.SpanNs > 0 {
		return float64(t.SpanNs)
	}
	return between(t.SendStart, t.LastChunk)
}

func overhead(t *record.Trace) float64  { return blocked(t) + lookup(t) + connecting(t) }
func totalTime(t *record.Trace) float64 { return overhead(t) + sending(t) + waiting(t) + receiving(t) }

func reused(t *record.Trace) float64 {
	if t.Reused != 0 {
		return 1
	}
	return 0
}

// path returns a per-request value of the kernel's connection statistics.
func path(value func(*record.Path) int64) func(*requestFacts) float64 {
	return func(f *requestFacts) float64 {
		if f.rec.Trace == nil || !f.rec.Trace.Path.Known {
			return absent()
		}
		return float64(value(&f.rec.Trace.Path))
	}
}

func smoothedRTT(p *record.Path) int64 { return p.SmoothedRTT }
func resent(p *record.Path) int64      { return int64(p.Resent) }
func unordered(p *record.Path) int64   { return int64(p.Unordered) }
func window(p *record.Path) int64      { return int64(p.Window) }

func bytesSent(t *record.Trace) float64      { return known(t.BytesSent) }
func chunksSent(t *record.Trace) float64     { return known(t.ChunksSent) }
func bytesReceived(t *record.Trace) float64  { return known(t.BytesReceived) }
func chunksReceived(t *record.Trace) float64 { return known(t.ChunksReceived) }
