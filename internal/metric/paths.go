package metric

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"aiperf/internal/record"
	"aiperf/internal/stats"
	"aiperf/internal/terminal"
)

// Paths is what the kernel told of the connections of the requests.
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

// remote reports whether the kernel knows the connection of a request and the server is another machine.
func remote(t *record.Trace) bool {
	if t == nil || !t.Path.Known || t.RemoteIP == t.LocalIP {
		return false
	}
	ip, err := netip.ParseAddr(t.RemoteIP)
	return err == nil && !ip.Unmap().IsLoopback()
}

// pathNote describes lost and overtaken segments with what can be their cause; "" = there were none.
func (e *ClientStats) pathNote() string {
	if e.ResentRequests == 0 && e.UnorderedRequests == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s requests saw a retransmit (%s), %s a segment of their answer out of order: %s. The median round trip was %s.",
		terminal.Count(e.ResentRequests), terminal.Count(e.Paths), terminal.Plural(e.ResentSegments, "segment"), terminal.Count(e.UnorderedRequests), e.pathCause(), shown(e.SmoothedRTT))
}

// pathCause blames the network only where there is one and where this machine was not too busy to receive.
func (e *ClientStats) pathCause() string {
	switch {
	case e.RemotePaths == 0:
		return "client and server are on one machine, where segments are lost if a receiver is stopped or its buffers are full"
	case e.starved():
		return "the network loses or overtakes packets, or this machine was too busy to receive them"
	}
	return "the network loses or overtakes packets"
}

// starved reports whether the client waited so long for CPUs, or stood still so long, that segments may have been sent again for that reason.
func (e *ClientStats) starved() bool {
	return e.waitShare() > longWait && e.ReadDelayP99 > longDelay || e.StallLongest > resendAfter
}

// resendAfter is the least time after which Linux sends a segment again that nobody has acknowledged (TCP_RTO_MIN).
const resendAfter = 200 * time.Millisecond
