package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
)

// Limits of the judgement (timing, section 16.2).
const (
	rateShare     = 0.99 // sent requests as a share of drawn ones
	lagFloor      = 10 * time.Millisecond
	lagOfInterval = 0.1 // share of the mean time between requests
	capShare      = 0.01
	busyCPU       = 0.9
)

// Assess judges a run by what the client measured about itself, and by the accuracy of the run's statistics (nil = exact). spell words the settings
// in the advice.
func Assess(e ClientStats, run *Summary, spell setting.Spell) *Validity {
	v := &Validity{ClientStats: e, Verdict: VerdictValid}
	if run != nil {
		v.Certain, v.Bounds = run.Certain, run.openTop()
		v.doubtful, v.judgedCount, v.understated = run.doubtful(), len(run.judgedEstimates()), run.judgedUnderstatements()
	}
	client := e.clientFaults()
	switch {
	case e.Valid == 0 && e.FileLimitHits == 0:
		v.Verdict, v.Reason = VerdictNoResult, "No request succeeded."
		if e.Failed == 0 { // those of a warm-up may have
			v.Reason = "No request of a measured phase has finished."
		}
	case e.lossSentence() != "":
		v.Verdict, v.Reason = VerdictClientLimited, e.lossSentence()
	case len(client) > 0:
		v.Verdict, v.Reason = VerdictClientLimited, "The client was the bottleneck: "+join(client)+"."
	case e.short():
		v.Verdict, v.Reason = e.shortfall()
	case e.OpenLoop && e.BusyShare > capShare:
		v.Verdict, v.Reason = VerdictServerLimited, "Requests waited for a slot: "+e.capClause()+"."
	case e.unfilled():
		v.Verdict, v.Reason = VerdictClientLimited, e.slotReason()
	case e.gaveUp() || e.late():
		v.Verdict, v.Reason = VerdictClientLimited, e.lateReason()
	default:
		v.Reason = e.allWell(run.precision())
	}
	if why := e.doubts(v); why != "" {
		v.doubt(why)
	}
	v.warm()
	v.Reason = spell.Text(v.Reason)
	if e.lumpy() && !strings.Contains(v.Reason, e.lumpSentence(e.crowded())) {
		v.Notes = append(v.Notes, e.lumpReason())
	}
	if note := e.timeoutNote(); note != "" && len(v.understated) == 0 {
		v.Notes = append(v.Notes, note)
	}
	for _, note := range e.notes(len(v.doubtful) == 0) {
		v.Notes = append(v.Notes, spell.Text(note))
	}
	return v
}

// clientFaults lists the faults of the client alone.
func (e *ClientStats) clientFaults() []string {
	var out []string
	if e.CPUShare > busyCPU {
		out = append(out, fmt.Sprintf("it used %.0f %% of %s", 100*e.CPUShare, e.ownCPUs()))
	}
	if e.FileLimitHits > 0 {
		out = append(out, fmt.Sprintf("%s failed on its own limits (open files or ports)", terminal.Plural(e.FileLimitHits, "connection")))
	}
	return out
}

// IsBottleneck reports whether the client was the bottleneck for a reason other than pauses of its machine. Such reasons are CPU load, missing ports or
// files, and requests that were sent late although the client never skipped a part of the schedule.
func (e *ClientStats) IsBottleneck() bool {
	return len(e.clientFaults()) > 0 || e.unfilled() || e.Reanchors == 0 && e.late()
}

// doubt changes a verdict to "uncertain", because the ranges of statistics are too wide. Ranges limit the possible error but do not tell the actual
// one. So neither "valid" nor "client limited" would be certain.
func (v *Validity) doubt(why string) {
	switch v.Verdict {
	case VerdictNoResult:
	case VerdictClientLimited:
		v.Reason += " " + why
	case VerdictValid:
		v.Verdict, v.Reason = VerdictUncertain, why
	default:
		v.Verdict, v.Reason = VerdictUncertain, why+" Besides, "+string(v.Verdict)+": "+v.Reason
	}
}

// doubts says which statistics are not to be relied on; "" = none.
func (e *ClientStats) doubts(v *Validity) string {
	list := e.unreadSentences()
	if e.maybeUnfilled() {
		list = append(list, e.slotDoubt())
	}
	if len(v.understated) > 0 {
		list = append(list, e.unansweredClause(v.understated))
	}
	if len(v.doubtful) > 0 {
		list = append(list, e.doubtClause(v.doubtful, v.judgedCount))
	}
	return strings.Join(list, " ")
}

// doubtClause names the statistics whose ranges are too wide, the cause, and the remedy.
func (e *ClientStats) doubtClause(list []estimate, judged int) string {
	text := "aiperf read some answers late" + e.lateReads() + ", so these figures are known only approximately: " + ranges(list) + "."
	if e.lumpy() {
		text = e.lumpReason() + " These figures are known only approximately: " + ranges(list) + "."
	}
	if e.Polled > 0 {
		text = "aiperf learns only by polling when a job is done, so these figures are known only approximately: " + ranges(list) + ". Poll more often (AIPERF_HTTP_VIDEO_POLL_INTERVAL, or the interval in the manifest of a plug-in)."
	}
	if len(list) < judged && e.Unread() == "" {
		text += " The other averages, p50, p90 and p99 of TTFT, ITL and latency are accurate to 4 %."
	}
	if e.captureHelps() && !e.lumpy() && e.Polled == 0 {
		text += " Packet capture ({endpoint.capture} auto) would give exact times."
	}
	return text
}

// lateReads describes what kept the client from reading.
func (e *ClientStats) lateReads() string {
	switch {
	case e.throttled():
		return " because " + e.stopClause()
	case e.Stalls > 0 && e.StallLongest > longPause:
		return fmt.Sprintf(" because it was stopped %s (longest %s)", times(e.Stalls), formatDuration(e.StallLongest))
	case e.ThreadWait > 0:
		return fmt.Sprintf(" because it waited for a free CPU (%s in all, %.0f %% of the time it wanted to run)", formatDuration(e.ThreadWait), 100*e.waitShare())
	}
	return ""
}

// waitShare returns the share of their runnable time that threads waited for a CPU.
func (e *ClientStats) waitShare() float64 {
	if e.ThreadWait <= 0 {
		return 0
	}
	return float64(e.ThreadWait) / float64(e.ThreadWait+e.CPUTime)
}

// shortfall judges arrivals that were drawn and not sent by their most frequent cause.
func (e *ClientStats) shortfall() (Verdict, string) {
	drawn, skipped := int64(math.Round(e.Drawn)), " and skipped the rest"
	sent := fmt.Sprintf("%.1f %% of the schedule was sent (%s of %s requests, %s of %s requests/s)",
		100*e.sentShare(), terminal.Count(e.Sent), terminal.Count(drawn), figure(e.AchievedRate(), 4), figure(e.DrawnRate(), 4))
	if e.Sent >= drawn { // a pause shifted the schedule by less than a request
		sent, skipped = fmt.Sprintf("%.1f %% of the scheduled rate was sent (%s of %s requests/s)", 100*e.sentShare(), figure(e.AchievedRate(), 4), figure(e.DrawnRate(), 4)), ""
	}
	most := max(e.Lost.Client, e.Lost.Cap, e.Lost.InDelay, e.Lost.Prefill, e.Lost.NoTurn)
	switch {
	case e.LateAnswers > 0 && e.lostToNothing() > most:
		return VerdictServerLimited, fmt.Sprintf("%s: %s came due before the server had answered the turn before.", sent, terminal.Plural(e.LateAnswers, "turn"))
	case most == 0:
		return VerdictRateNotReached, sent + "; the cause of the rest was not measured."
	case e.Lost.Client == most:
		return VerdictClientLimited, fmt.Sprintf("%s: the client fell behind%s (%s).", sent, skipped, e.behindClause())
	case e.Lost.Cap == most:
		return VerdictServerLimited, sent + ": " + e.capClause() + "."
	case e.Lost.Prefill == most:
		return VerdictRateNotReached, fmt.Sprintf("%s: the limit of requests in prefill was reached for %.1f %% of the sending time.", sent, 100*e.PrefillShare)
	case e.Lost.InDelay == most:
		return VerdictRateNotReached, fmt.Sprintf("%s: the concurrency limit was reached for %.1f %% of the sending time, by sessions that paused between two turns.", sent, 100*e.CapShare)
	}
	return VerdictRateNotReached, sent + ": every session had been started, and none had a turn to send."
}

// lostToNothing returns the number of arrivals that were not sent and have no measured cause.
func (e *ClientStats) lostToNothing() float64 {
	l := e.Lost
	return e.Drawn - float64(e.Sent) - l.Client - l.Cap - l.InDelay - l.Prefill - l.NoTurn
}

// sentShare returns the share of the drawn arrivals that were sent, 0 to 1.
func (e *ClientStats) sentShare() float64 { return float64(e.Sent) / e.Drawn }

// behindClause describes how the client fell behind.
func (e *ClientStats) behindClause() string {
	var parts []string
	if e.Reanchors > 0 {
		parts = append(parts, fmt.Sprintf("its schedule restarted %s and lost %s", times(int64(e.Reanchors)), formatDuration(e.ReanchorLost)))
	}
	if e.throttled() {
		parts = append(parts, e.stopClause())
	}
	if e.Stalls > 0 {
		parts = append(parts, fmt.Sprintf("it was paused %s, longest %s", times(e.Stalls), formatDuration(e.StallLongest)))
	}
	if len(parts) == 0 {
		return "at the end of the sending"
	}
	return strings.Join(parts, "; ")
}

// capClause says how long all slots were in use. Whether the server or the limit is to blame cannot be measured: with one slot and random arrivals,
// requests wait for any server.
func (e *ClientStats) capClause() string {
	return fmt.Sprintf("requests in flight used every slot for %.1f %% of the sending time. The server answered too slowly for this rate, or the concurrency limit is too low for it", 100*e.BusyShare)
}

// lagLimit returns the acceptable schedule lag at p99.
func (e *ClientStats) lagLimit() time.Duration {
	rate := e.TargetRate()
	if rate <= 0 {
		return lagFloor
	}
	return max(lagFloor, time.Duration(lagOfInterval*1e9/rate))
}

func (e *ClientStats) lateReason() string {
	if e.gaveUp() {
		return fmt.Sprintf("The client fell behind its schedule: %s.", e.behindClause())
	}
	return fmt.Sprintf("Requests that waited only for the client left %s late at p99 (allowed: %s).", formatDuration(e.OwnLagP99), formatDuration(e.lagLimit()))
}

// allWell returns the reason of a valid verdict. precision is the accuracy of the judged statistics of latencies, as a share; 0 = that of the stamps.
func (e *ClientStats) allWell(precision float64) string {
	gaps := e.gapsDoubtful() && !e.lumpy()
	text := "the client had spare capacity"
	if gaps || e.crowded() {
		text = "average, p50, p90 and p99 of latencies are accurate to " + formatDuration(time.Duration(certainTime*1e6))
		if precision > 0 {
			text = fmt.Sprintf("average, p50, p90 and p99 of latencies are accurate to %.2g %%", 100*precision)
		}
	}
	if e.crowded() {
		text += ", although this machine was busy"
	}
	if e.OpenLoop {
		text = fmt.Sprintf("the schedule was kept (p99 %s late) and %s", formatDuration(e.OwnLagP99), text)
	}
	text = strings.ToUpper(text[:1]) + text[1:] + "."
	switch {
	case e.lumpy():
		text += " " + e.lumpReason()
	case gaps:
		text += fmt.Sprintf(" In %s aiperf read some tokens together, so single gaps between tokens are approximate.", shareOfRequests(e.UncertainGaps, e.Valid))
	}
	return text
}

// AssessSoFar judges a run in progress by what the client has measured about itself. Nothing is known yet of the accuracy of its statistics.
func AssessSoFar(e ClientStats, spell setting.Spell) *Validity {
	v := Assess(e, nil, spell)
	if v.Verdict != VerdictValid || !e.crowded() {
		return v
	}
	v.Reason = "This machine is busy."
	if e.OpenLoop {
		v.Reason = fmt.Sprintf("The schedule was kept (p99 %s late), although this machine is busy.", formatDuration(e.OwnLagP99))
	}
	v.Reason += " The end of the run shows how accurate latencies are."
	return v
}

// shareOfRequests says how many of all requests, in percent if there are enough.
func shareOfRequests(n, all int64) string {
	if all < 100 {
		return fmt.Sprintf("%d of %d requests", n, all)
	}
	return fmt.Sprintf("%.1f %% of the requests", 100*float64(n)/float64(all))
}

// crowded reports whether programs on this machine waited for its cores so much that nobody can call the client's capacity spare.
func (e *ClientStats) crowded() bool {
	return e.MachineCPU > BusyMachine || e.waitShare() > longWait && e.ReadDelayP99 > longDelay
}

// join joins parts with commas and a final "and".
func join(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return terminal.Count(n) + " times"
}

// formatDuration formats a duration with at most three digits.
func formatDuration(d time.Duration) string {
	switch {
	case d >= 999_500*time.Microsecond: // as 1,000 ms it would be written with an exponent
		return terminal.Exact(d.Seconds()) + " s"
	case d >= 999_500*time.Nanosecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g µs", float64(d)/1e3)
}

// maxPlainNumber limits the numbers that are written without an exponent.
const maxPlainNumber = 1e15

// figure formats a number with at most as many significant digits as given. From 1,000 on it is a whole number with thousands separators.
func figure(v float64, digits int) string {
	if size := math.Abs(v); size >= 999.5 && size < maxPlainNumber {
		return terminal.Thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}
