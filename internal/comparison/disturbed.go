package comparison

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"

	"aiperf/internal/stats"
)

// A machine that makes processes wait only ever adds to a latency. Two things are known of it. The share of the requests that it may have touched: what
// the slowest requests of that share took above the fastest of them may be its doing (Winsor's way with outliers, on one side). And what waking cost on
// average in that run: every latency may be longer by it, twice. One end of every interval is that of the run without the larger of both.

const (
	// instants of a request at which a process of the server must run in time: when the request has arrived, and when the token is due.
	instants = 2
	// mostTouched is the largest share of the requests that is put down to the machine: pauses make a tail. What slows all requests alike is in the cost
	// of waking.
	mostTouched = 0.1
	// leastLeft is the least share of a value that is left of it without the machine, so that its logarithm is finite.
	leastLeft = 1e-3
	// unlike is how much larger the share of requests that the machine may have touched may be on one side: from half of them on even a median may be
	// its doing.
	unlike = 0.5
	// muchDisturbed is a share of the time from which it is said.
	muchDisturbed = 0.05
	// muchWaking is a mean delay of waking, in ms, from which it is said.
	muchWaking = 0.1
)

// touched is the share of requests that a machine may have kept waiting which is disturbed for a share of the time.
func touched(disturbed float64) float64 { return 1 - math.Pow(1-disturbed, instants) }

// tail is the share of the requests of a run, the slowest, whose excess may be the machine's.
func (r *Run) tail() float64 { return min(mostTouched, touched(r.Disturbed)) }

// disturbed is the share of the time in which processes of the server or of the client's kernel may have been kept from running: what a hypervisor
// took (then the kernel stamps nothing either) and, where the server shares the machine, the time in which some task waited for a processor.
func disturbed(steal, pressure float64, urls []string) float64 {
	if !shared(urls) {
		pressure = 0
	}
	return 1 - (1-steal/100)*(1-pressure/100)
}

// added is what the machine may have added to every value of a statistic, in ms: a request waits at each instant for as long as waking costs on average.
// In the inter token latency the wait of the first token and that of the last one cancel out on average; how they differ from request to request is in
// its interval.
func (s *statistic) added(r *Run) float64 {
	if s.tag == "time_to_first_token" || s.tag == "request_latency" {
		return instants * r.Wake
	}
	return 0
}

// unmoved is the rank that a quantile has at the least among the requests that did not wait: if those that may have waited all lie above it, they are
// missing there and nowhere else (the bounds of Horowitz and Manski 1995 for data of which a share is not as it would have been).
func (s *statistic) unmoved(r *Run) float64 { return s.p * (1 - touched(r.Late)) }

// without is a value that is lower by what was added to it.
func without(value, added float64) float64 { return max(value-added, leastLeft*value) }

// shared tells whether a server runs on the client's machine: its address is one that only this machine knows, or it is the simulated one.
func shared(urls []string) bool {
	return slices.ContainsFunc(urls, func(text string) bool {
		u, err := url.Parse(text)
		if err != nil {
			return false
		}
		ip := net.ParseIP(u.Hostname())
		return u.Scheme == "mock" || u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	})
}

// calm are values whose largest share is cut to the quantile where it begins.
func calm(y []float64, share float64) []float64 {
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

// calmest is what a statistic of a run would be if the machine was the reason for all that it may be the reason for: never a worse value.
func (s *statistic) calmest(r *Run, value float64) float64 {
	share, woken := r.tail(), without(value, s.added(r))
	switch {
	case s.tag == "error_rate":
		return value
	case s.more:
		return value * s.gain(r)
	case s.p == 0:
		return min(woken, stats.Mean(calm(r.Values[s.tag], share)))
	}
	sorted := slices.Clone(r.Values[s.tag])
	slices.Sort(sorted)
	woken = max(woken, stats.Percentile(sorted, 100*s.unmoved(r)))
	return min(woken, stats.Percentile(sorted, 100*min(s.p, 1-share)))
}

// gain is the factor by which a throughput may be higher without the disturbance: requests end sooner, and of those that missed an objective a touched
// share may have kept it.
func (s *statistic) gain(r *Run) float64 {
	mean := statistic{tag: "request_latency"}
	value := stats.Mean(r.Values[mean.tag])
	factor := value / mean.calmest(r, value)
	if kept := stats.Mean(r.Kept); s.tag == "goodput" && kept > 0 {
		factor *= min(1, kept+r.tail()) / kept
	}
	return factor
}

// calmer takes the disturbance of a run into the interval of a statistic, on the side where the run without it may lie.
func (s *statistic) calmer(e *Estimate, r *Run) {
	share, plain, added := r.tail(), e.limits, s.added(r)
	if share <= 0 && r.Wake <= 0 {
		return
	}
	if s.more {
		factor := s.gain(r)
		e.limits = func(level float64) (float64, float64) {
			low, high := plain(level)
			return low, high * factor
		}
		return
	}
	at := func(p float64) Estimate {
		if s.p == 0 {
			return Mean(calm(r.Values[s.tag], share))
		}
		return Quantile(r.Values[s.tag], p)
	}
	cut, unmoved := Estimate{limits: plain}, Estimate{limits: func(float64) (float64, float64) { return 0, 0 }}
	if share > 0 {
		cut = at(min(s.p, 1-share))
	}
	if added > 0 && s.p > 0 {
		unmoved = at(s.unmoved(r))
	}
	e.limits = func(level float64) (float64, float64) {
		low, high := plain(level)
		lowest, _ := cut.limits(level)
		least, _ := unmoved.limits(level)
		return min(max(without(low, added), least), lowest), high
	}
}

// disturbances tells of runs whose machine was disturbed: what differs may be its doing.
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
	if r.unlike = math.Abs(touched(a)-touched(b)) > unlike; max(a, b) > muchDisturbed {
		r.Notes = append(r.Notes, fmt.Sprintf("processes on the machine of the client were kept waiting %.0f %% of the time in A and %.0f %% in B, by others or a hypervisor: "+
			"what that may have added to the slowest requests is in the intervals", 100*a, 100*b))
	}
	if a, b := mean(r.A, wake), mean(r.B, wake); max(a, b) > muchWaking {
		r.Notes = append(r.Notes, fmt.Sprintf("a process that was due on that machine was woken %.2g ms late on average in A and %.2g ms in B: what that may have added to every request is in the intervals", a, b))
	}
}

// several is the difference of several runs a side (Several), a and b their values. Each end of the interval is the one at which the machine and
// the uncertain instants of a side were the reason for all that they may be the reason for; the p-value is that of the end nearest to 0.
func (s *statistic) several(sideA, sideB []Run, a, b []float64) (Difference, float64) {
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
