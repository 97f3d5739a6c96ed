package metric

import (
	"fmt"
	"math"
	"time"
)

// ClientStats is what the client measured about itself during a run. Durations; NaN-free: a figure that was not measured stays zero and its
// flag says so.
type ClientStats struct {
	// Schedule, for runs that had intended instants (OpenLoop).
	OpenLoop        bool
	LagP50, LagP99  time.Duration // issue after the intended instant
	LagMax          time.Duration
	TargetRate      float64       // requests/s asked for, 0 = none
	DrawnRate       float64       // requests/s that the arrival law drew, ramps included: what could be sent, 0 = none
	AchievedRate    float64       // requests/s sent over the sending interval, ramp excluded
	CapShare        float64       // 0..1: share of the sending interval without a free slot
	Reanchors       int           // times the schedule was given up and begun anew
	ReanchorLost    time.Duration // what they lost
	TicksSkipped    int
	CancelledByUser bool // the run was cut short, so totals say nothing about the rate

	// Client.
	CPUShare      float64       // 0..1 of the cores that the process may use
	Cores         int           // that many
	GCPauseMax    time.Duration // longest stop of the program
	GCPauseTotal  time.Duration
	ReadDelays    int64 // reads with a kernel stamp; 0 = the platform has none
	ReadDelayP50  time.Duration
	ReadDelayP99  time.Duration
	BacklogMax    int   // finished requests that waited for reduction at once
	BacklogSize   int   // that many fit into memory
	Spilled       int64 // requests that went through the temporary file
	FileLimitHits int64 // connections refused by the client's own limits (ports, files)

	// Requests.
	Valid, Failed int64
	Messages      int64 // content messages
	SharedReads   int64 // messages that share their read with a later one
	OneMessage    int64 // answers in one message, without ITL
	LatencyP50    time.Duration
	TTFTP50       time.Duration // 0 = not streaming
}

// Verdict is the word that sums a run up.
type Verdict string

// The verdicts.
const (
	VerdictValid          Verdict = "valid"
	VerdictClientLimited  Verdict = "client limited"
	VerdictServerLimited  Verdict = "server limited"
	VerdictRateNotReached Verdict = "rate not reached"
	VerdictNoResult       Verdict = "no result" // nothing succeeded: there are no numbers to judge
)

// Validity is the judgement: may the numbers be taken for the server's?
type Validity struct {
	Verdict Verdict
	Reason  string   // one sentence
	Notes   []string // what to keep in mind although the verdict stands
	ClientStats
}

// The limits of the judgement (timing, section 16.2).
const (
	rateShare       = 0.99 // achieved of asked
	lagFloor        = 10 * time.Millisecond
	lagOfInterval   = 0.1 // of the mean time between requests
	capShare        = 0.01
	busyCPU         = 0.9
	slowRead        = 5 * time.Millisecond // p99 of the read delay where there is no TTFT to compare with
	slowReadOfTTFT  = 0.05
	longPause       = 10 * time.Millisecond
	sharedReadLimit = 0.05
	failedShare     = 0.01
)

// Assess weighs what the client measured.
func Assess(e ClientStats) *Validity {
	v := &Validity{ClientStats: e, Verdict: VerdictValid}
	client := e.clientFaults()
	short := e.DrawnRate > 0 && !e.CancelledByUser && e.AchievedRate < rateShare*e.DrawnRate
	capped := e.OpenLoop && e.CapShare > capShare
	late := e.OpenLoop && e.LagP99 > e.lagLimit()
	switch {
	case e.Valid == 0 && e.FileLimitHits == 0:
		v.Verdict, v.Reason = VerdictNoResult, "No request succeeded."
	case len(client) > 0:
		v.Verdict, v.Reason = VerdictClientLimited, "The client was the bottleneck: "+join(client)+"."
	case capped:
		v.Verdict = VerdictServerLimited
		v.Reason = fmt.Sprintf("The server answered too slowly for the rate asked for: every slot was taken for %.1f %% of the sending time%s.", 100*e.CapShare, e.rateClause(short))
	case short:
		v.Verdict, v.Reason = VerdictRateNotReached, fmt.Sprintf("%.1f requests/s were sent of the %.1f asked for.", e.AchievedRate, e.TargetRate)
	case late || e.Reanchors > 0:
		v.Verdict, v.Reason = VerdictClientLimited, e.lateReason()
	default:
		v.Reason = e.allWell()
	}
	v.Notes = e.notes()
	return v
}

// clientFaults lists what only the client can be blamed for.
func (e *ClientStats) clientFaults() []string {
	var out []string
	if e.CPUShare > busyCPU {
		out = append(out, fmt.Sprintf("it used %.0f %% of its %d cores", 100*e.CPUShare, e.Cores))
	}
	if e.ReadDelays > 0 && e.ReadDelayP99 > e.readLimit() && e.ReadDelayP99 > 0 {
		out = append(out, fmt.Sprintf("it read arrived bytes %s late at p99", shown(e.ReadDelayP99)))
	}
	if e.FileLimitHits > 0 {
		out = append(out, fmt.Sprintf("%d connections failed on its own limits (open files or ports)", e.FileLimitHits))
	}
	return out
}

// readLimit is the read delay from which on latencies are no longer the server's. Kernel stamps keep the numbers right below it.
func (e *ClientStats) readLimit() time.Duration {
	return max(slowRead, time.Duration(slowReadOfTTFT*float64(e.TTFTP50)))
}

// lagLimit is the schedule lag at p99 that is still in order.
func (e *ClientStats) lagLimit() time.Duration {
	if e.TargetRate <= 0 {
		return lagFloor
	}
	return max(lagFloor, time.Duration(lagOfInterval*1e9/e.TargetRate))
}

func (e *ClientStats) lateReason() string {
	if e.Reanchors > 0 {
		return fmt.Sprintf("The client fell behind its schedule (%d times) and gave up %s of it.", e.Reanchors, shown(e.ReanchorLost))
	}
	return fmt.Sprintf("Requests left %s late at p99 (allowed: %s).", shown(e.LagP99), shown(e.lagLimit()))
}

func (e *ClientStats) rateClause(short bool) string {
	if !short {
		return ""
	}
	return fmt.Sprintf(", and %.1f requests/s were sent of the %.1f asked for", e.AchievedRate, e.TargetRate)
}

func (e *ClientStats) allWell() string {
	if e.OpenLoop {
		return fmt.Sprintf("The schedule was kept (p99 %s late) and the client had room to spare.", shown(e.LagP99))
	}
	return "The client had room to spare."
}

// notes are facts that a reader of the numbers should know.
func (e *ClientStats) notes() []string {
	var out []string
	note := func(yes bool, format string, args ...any) {
		if yes {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	total := e.Valid + e.Failed
	note(total > 0 && float64(e.Failed) > failedShare*float64(total), "%d of %d requests failed; their time is in no latency.", e.Failed, total)
	note(e.ReadDelays == 0 && total > 0, "Instants were taken by the client, not by the kernel: its own delays are in them.")
	note(e.GCPauseMax > longPause, "The longest stop of the client was %s.", shown(e.GCPauseMax))
	note(e.Messages > 0 && float64(e.SharedReads) > sharedReadLimit*float64(e.Messages),
		"%.0f %% of the messages arrived together with a later one: their instant is an upper bound.", 100*float64(e.SharedReads)/math.Max(1, float64(e.Messages)))
	note(e.OneMessage > 0, "%d answers came in one message and have no inter token latency.", e.OneMessage)
	note(e.Spilled > 0, "Record processing fell behind: %d records went through a temporary file (no effect on the measurement).", e.Spilled)
	note(e.TicksSkipped > 0, "%d planned sends were skipped.", e.TicksSkipped)
	return out
}

// Sentence is the verdict in words, one line.
func (v *Validity) Sentence() string { return string(v.Verdict) + ": " + v.Reason }

func join(parts []string) string {
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return parts[0]
	}
	out := parts[0]
	for _, p := range parts[1 : len(parts)-1] {
		out += ", " + p
	}
	return out + " and " + parts[len(parts)-1]
}

// shown is a duration with three digits at most.
func shown(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g µs", float64(d)/1e3)
}
