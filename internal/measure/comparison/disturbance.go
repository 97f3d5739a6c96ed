package comparison

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"

	"aiperf/internal/measure/stats"
)

// A machine that makes processes wait can only increase a latency. Two quantities are known. First, the share of the requests that may have waited:
// what the slowest requests of that share took above the fastest of them may come from the machine (one-sided Winsorizing of outliers). Second, the
// mean delay of wake-ups in the run: every latency may be longer by twice that delay. One end of each interval is that of the run without the larger
// of the two effects.

const (
	// times at which a server process must run for a request: at its arrival, and when the token is due
	instantsPerRequest = 2
	// maxDelayedShare is the maximum share of the requests whose latency is blamed on pauses of the machine, because pauses cause a tail. Delays that
	// affect all requests alike are part of the wake-up delay.
	maxDelayedShare = 0.1
	// minRemainder is the minimum share of a value that remains after subtracting the effect of the machine, so that its logarithm is finite.
	minRemainder = 1e-3
	// maxDelayDifference is the maximum difference between the two sides in the share of requests that the machine may have delayed. From half of the requests
	// on, even a median may be due to the machine.
	maxDelayDifference = 0.5
	// noteDisturbedShare is the disturbed share of the time from which a note reports it.
	noteDisturbedShare = 0.05
	// noteWakeDelay is the mean wake-up delay, in ms, from which a note reports it.
	noteWakeDelay = 0.1
)

// delayedShare returns the share of requests that a machine may have delayed if it is disturbed for a share of the time.
func delayedShare(disturbed float64) float64 { return 1 - math.Pow(1-disturbed, instantsPerRequest) }

// tail returns the share of the requests, the slowest ones, whose excess latency may come from the machine.
func (r *Run) tail() float64 { return min(maxDelayedShare, delayedShare(r.Disturbed)) }

// disturbedShare returns the share of the time in which processes of the server or the client's kernel may have been kept from running. It includes the
// time stolen by a hypervisor, because the kernel records no timestamps then. If the server runs on the same machine, it also includes the time in
// which some task waited for a CPU.
func disturbedShare(steal, pressure float64, urls []string) float64 {
	if !isLocalServer(urls) {
		pressure = 0
	}
	return 1 - (1-steal/100)*(1-pressure/100)
}

// added returns the time, in ms, that the machine may have added to every value of a statistic: a request waits for the mean wake-up delay at each of
// its instants. In the inter-token latency, the delays of the first and the last token cancel out on average. Their variation between requests is
// part of its interval.
func (s *statistic) added(r *Run) float64 {
	if s.tag == "time_to_first_token" || s.tag == "request_latency" {
		return instantsPerRequest * r.Wake
	}
	return 0
}

// undelayedRank returns the minimum rank of a quantile among the requests that did not wait. It assumes that all requests that may have waited lie above
// the quantile (bounds of Horowitz and Manski 1995 for partly contaminated data).
func (s *statistic) undelayedRank(r *Run) float64 { return s.p * (1 - delayedShare(r.Late)) }

// subtractDelay subtracts added from a value but leaves at least minRemainder of it.
func subtractDelay(value, added float64) float64 { return max(value-added, minRemainder*value) }

// isLocalServer reports whether a server runs on the client's machine: all its addresses are loopback addresses, or it is the simulated server.
func isLocalServer(urls []string) bool {
	return slices.ContainsFunc(urls, func(text string) bool {
		u, err := url.Parse(text)
		if err != nil {
			return false
		}
		ip := net.ParseIP(u.Hostname())
		return u.Scheme == "mock" || u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	})
}

// capTail limits the largest share of the values to the quantile at which that share begins.
func capTail(y []float64, share float64) []float64 {
	if share <= 0 || len(y) == 0 {
		return y
	}
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	most := stats.Percentile(sorted, 100*max(0, 1-share))
	out := slices.Clone(y)
	for i, v := range out {
		out[i] = min(v, most)
	}
	return out
}

// undisturbedValue returns the value of a statistic without any effect that the machine may have had. It is never a worse value.
func (s *statistic) undisturbedValue(r *Run, value float64) float64 {
	share, woken := r.tail(), subtractDelay(value, s.added(r))
	switch {
	case s.tag == "error_rate":
		return value
	case s.higherIsBetter:
		return value * s.throughputGain(r)
	case s.p == 0:
		return min(woken, stats.Mean(capTail(r.Values[s.tag], share)))
	}
	sorted := slices.Clone(r.Values[s.tag])
	slices.Sort(sorted)
	woken = max(woken, stats.Percentile(sorted, 100*s.undelayedRank(r)))
	return min(woken, stats.Percentile(sorted, 100*min(s.p, 1-share)))
}

// throughputGain returns the factor by which a throughput may be higher without the disturbance. Requests would end sooner, and a share of those that missed an
// objective might have met it.
func (s *statistic) throughputGain(r *Run) float64 {
	mean := statistic{tag: "request_latency"}
	value := stats.Mean(r.Values[mean.tag])
	factor := value / mean.undisturbedValue(r, value)
	if kept := stats.Mean(r.MetObjectives); s.tag == "goodput" && kept > 0 {
		factor *= min(1, kept+r.tail()) / kept
	}
	return factor
}

// widenForDisturbance extends the interval of a statistic on the side where the value of an undisturbed run may lie.
func (s *statistic) widenForDisturbance(e *Estimate, r *Run) {
	share, plain, added := r.tail(), e.limits, s.added(r)
	if share <= 0 && r.Wake <= 0 {
		return
	}
	if s.higherIsBetter {
		factor := s.throughputGain(r)
		e.limits = func(level float64) (float64, float64) {
			low, high := plain(level)
			return low, high * factor
		}
		return
	}
	at := func(p float64) Estimate {
		if s.p == 0 {
			return Mean(capTail(r.Values[s.tag], share))
		}
		return Quantile(r.Values[s.tag], p)
	}
	cut, unmoved := Estimate{limits: plain}, Estimate{limits: func(float64) (float64, float64) { return 0, 0 }}
	if share > 0 {
		cut = at(min(s.p, 1-share))
	}
	if added > 0 && s.p > 0 {
		unmoved = at(s.undelayedRank(r))
	}
	e.limits = func(level float64) (float64, float64) {
		low, high := plain(level)
		lowest, _ := cut.limits(level)
		least, _ := unmoved.limits(level)
		return min(max(subtractDelay(low, added), least), lowest), high
	}
}

// disturbances adds notes about runs on a disturbed machine, because it may have caused a difference.
func (r *Result) disturbances() {
	mean := func(side []Run, of func(*Run) float64) float64 {
		sum := 0.0
		for i := range side {
			sum += of(&side[i])
		}
		return sum / float64(len(side))
	}
	share := func(run *Run) float64 { return run.Disturbed }
	wake := func(run *Run) float64 { return run.Wake }
	a, b := mean(r.A, share), mean(r.B, share)
	if r.unequalDisturbance = math.Abs(delayedShare(a)-delayedShare(b)) > maxDelayDifference; max(a, b) > noteDisturbedShare {
		r.Notes = append(r.Notes, fmt.Sprintf("processes on the client machine waited for a CPU %.0f %% of the time in A and %.0f %% in B, because of other programs or a hypervisor: "+
			"the intervals include the possible effect on the slowest requests", 100*a, 100*b))
	}
	if a, b := mean(r.A, wake), mean(r.B, wake); max(a, b) > noteWakeDelay {
		r.Notes = append(r.Notes, fmt.Sprintf("the client machine woke processes %.2g ms late on average in A and %.2g ms in B; the intervals include the possible effect on every request", a, b))
	}
}

// differenceOfRuns returns the difference of several runs per side (Several) with the values a and b. Each end of the interval assumes that the machine and
// the uncertain timestamps of a side had their maximum effect. The p-value is that of the end nearest to 0.
func (s *statistic) differenceOfRuns(sideA, sideB []Run, a, b []float64) (Difference, float64) {
	plain := s.tag == "error_rate"
	d, _ := Several(a, b, plain)
	leastA, mostA := s.ends(sideA, a)
	leastB, mostB := s.ends(sideB, b)
	low, pLow := Several(mostA, leastB, plain)
	high, pHigh := Several(leastA, mostB, plain)
	p := 1.0
	switch {
	case low.Log > 0:
		p = pLow
	case high.Log < 0:
		p = pHigh
	}
	return Difference{Log: d.Log, limits: func(level float64) (float64, float64) {
		l, h := d.limits(level)
		lowest, _ := low.limits(level)
		_, highest := high.limits(level)
		return min(l, lowest), max(h, highest)
	}}, p
}
