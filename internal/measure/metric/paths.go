package metric

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// Paths returns the kernel's statistics of the requests' connections.
func (r *Reducer) Paths() (u PathUse) {
	u.RemotePaths = r.remotePaths
	for _, n := range r.known("tcp_retransmits") {
		u.Paths++
		if n > 0 {
			u.ResentRequests++
			u.ResentSegments += int64(n)
		}
	}
	for _, n := range r.known("tcp_out_of_order") {
		if n > 0 {
			u.UnorderedRequests++
		}
	}
	if rtts := r.known("tcp_smoothed_rtt"); len(rtts) > 0 {
		slices.Sort(rtts)
		u.SmoothedRTT = time.Duration(stats.Percentile(rtts, 50))
	}
	return u
}

// remote reports whether the kernel has statistics of a request's connection and the server is on another machine.
func remote(t *record.Trace) bool {
	if t == nil || !t.Path.Known || t.RemoteIP == t.LocalIP {
		return false
	}
	ip, err := netip.ParseAddr(t.RemoteIP)
	return err == nil && !ip.Unmap().IsLoopback()
}

// pathNote describes lost and reordered segments and their possible causes; "" = there were none.
func (e *ClientStats) pathNote() string {
	if e.ResentRequests == 0 && e.UnorderedRequests == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s requests saw a retransmit (%s), %s a segment of their answer out of order: %s. The median round trip was %s.",
		terminal.Count(e.ResentRequests), terminal.Count(e.Paths), terminal.Plural(e.ResentSegments, "segment"), terminal.Count(e.UnorderedRequests), e.pathCause(), formatDuration(e.SmoothedRTT))
}

// pathCause blames the network only if there is one and this machine was not too busy to receive.
func (e *ClientStats) pathCause() string {
	switch {
	case e.RemotePaths == 0:
		return "client and server share a machine, which loses segments if a receiver is stopped or its buffers are full"
	case e.starved():
		return "the network loses or reorders packets, or this machine was too busy to receive them"
	}
	return "the network loses or reorders packets"
}

// starved reports whether the client waited so long for CPUs, or was paused so long, that this may have caused retransmissions.
func (e *ClientStats) starved() bool {
	return e.waitShare() > longWait && e.ReadDelayP99 > longDelay || e.StallLongest > resendAfter
}

// resendAfter is the minimum time after which Linux retransmits an unacknowledged segment (TCP_RTO_MIN).
const resendAfter = 200 * time.Millisecond
