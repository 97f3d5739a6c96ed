package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/setting"
	"aiperf/internal/terminal"
)

// The limits of the judgement (timing, section 16.2).
const (
	rateShare     = 0.99 // sent of drawn
	lagFloor      = 10 * time.Millisecond
	lagOfInterval = 0.1 // of the mean time between requests
	capShare      = 0.01
	busyCPU       = 0.9
)

// Assess judges a run by what the client measured about itself and by how exact the run's statistics are (nil = they are exact). spell words the
// settings that would have helped.
func Assess(e ClientStats, run *Summary, spell setting.Spell) *Validity {
	v := &Validity{ClientStats: e, Verdict: VerdictValid}
	if run != nil {
		v.Certain, v.Bounds = run.Certain, run.Bounds
		v.doubtful, v.judged = run.doubtful(), len(run.judged())
	}
	client := e.clientFaults()
	switch {
	case e.Valid == 0 && e.FileLimitHits == 0:
		v.Verdict, v.Reason = VerdictNoResult, "No request succeeded."
	case len(client) > 0:
		v.Verdict, v.Reason = VerdictClientLimited, "The client was the bottleneck: "+join(client)+"."
	case e.short():
		v.Verdict, v.Reason = e.shortfall()
	case e.OpenLoop && e.BusyShare > capShare:
		v.Verdict, v.Reason = VerdictServerLimited, "The server answered too slowly for the load asked for: "+e.capClause()+"."
	case e.unfilled():
		v.Verdict, v.Reason = VerdictClientLimited, e.slotReason()
	case e.gaveUp() || e.late():
		v.Verdict, v.Reason = VerdictClientLimited, e.lateReason()
	default:
		v.Reason = e.allWell(run.precision())
	}
	if len(v.doubtful) > 0 {
		v.doubt(e.doubtClause(v.doubtful, v.judged))
	}
	v.warm()
	v.Reason = spell.Text(v.Reason)
	if e.lumpy() && !strings.Contains(v.Reason, e.lumpSentence()) {
		v.Notes = append(v.Notes, e.lumpReason())
	}
	for _, note := range e.notes(len(v.doubtful) == 0) {
		v.Notes = append(v.Notes, spell.Text(note))
	}
	return v
}

// clientFaults lists what only the client can be blamed for.
func (e *ClientStats) clientFaults() []string {
	var out []string
	if e.CPUShare > busyCPU {
		out = append(out, fmt.Sprintf("it used %.0f %% of its %s", 100*e.CPUShare, terminal.Plural(int64(e.Cores), "core")))
	}
	if e.FileLimitHits > 0 {
		out = append(out, fmt.Sprintf("%s failed on its own limits (open files or ports)", terminal.Plural(e.FileLimitHits, "connection")))
	}
	return out
}

// Hindered tells whether the client was the bottleneck for a reason that has nothing to do with pauses of its machine: its cores, its ports or files,
// or requests that left late although it never gave a part of the schedule up.
func (e *ClientStats) Hindered() bool {
	return len(e.clientFaults()) > 0 || e.unfilled() || e.Reanchors == 0 && e.late()
}

// doubt turns a verdict into "uncertain", because the ranges of statistics are too wide. They tell how wrong a figure may be, not how wrong it is, so
// neither "valid" nor the client's blame would be known to be true.
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

// doubtClause names the statistics whose ranges are too wide, why they are, and what would help.
func (e *ClientStats) doubtClause(list []estimate, judged int) string {
	text := "aiperf read some answers late" + e.lateReads() + ", so these figures are known only approximately: " + ranges(list) + "."
	if e.lumpy() {
		text = e.lumpReason() + " These figures are known only approximately: " + ranges(list) + "."
	}
	if len(list) < judged {
		text += " The other averages, p50, p90 and p99 of TTFT, ITL and latency are exact to 4 %."
	}
	if e.PacketStamps == 0 && !e.lumpy() {
		text += " Packet capture ({endpoint.capture} auto) would give exact times."
	}
	return text
}

// lateReads says what kept the client from reading.
func (e *ClientStats) lateReads() string {
	switch {
	case e.Stalls > 0 && e.StallLongest > longPause:
		return fmt.Sprintf(" because it was stopped %s (longest %s)", times(e.Stalls), shown(e.StallLongest))
	case e.ThreadWait > 0:
		return fmt.Sprintf(" because it waited for a free CPU (%s in all, %.0f %% of the time it wanted to run)", shown(e.ThreadWait), 100*e.waitShare())
	}
	return ""
}

// waitShare is the part of the time in which threads could have run that they waited.
func (e *ClientStats) waitShare() float64 {
	if e.ThreadWait <= 0 {
		return 0
	}
	return float64(e.ThreadWait) / float64(e.ThreadWait+e.CPUTime)
}

// shortfall judges arrivals that were drawn and not sent by what kept most of them.
func (e *ClientStats) shortfall() (Verdict, string) {
	sent := fmt.Sprintf("%.1f %% of the schedule was sent (%s of %s requests, %s of %s requests/s)",
		100*e.sentShare(), terminal.Count(e.Sent), terminal.Count(int64(math.Round(e.Drawn))), figure(e.AchievedRate(), 4), figure(e.DrawnRate(), 4))
	most := max(e.Lost.Client, e.Lost.Cap, e.Lost.Rest, e.Lost.Prefill, e.Lost.NoTurn)
	switch {
	case most == 0 && e.LateAnswers > 0:
		return VerdictServerLimited, fmt.Sprintf("%s: %s came due before the server had answered the turn before.", sent, terminal.Plural(e.LateAnswers, "turn"))
	case most == 0:
		return VerdictRateNotReached, sent + "; what kept the rest was not measured."
	case e.Lost.Client == most:
		return VerdictClientLimited, fmt.Sprintf("%s: the client fell behind and gave the rest up (%s).", sent, e.behindClause())
	case e.Lost.Cap == most:
		return VerdictServerLimited, sent + ": the server answered too slowly, and " + e.capClause() + "."
	case e.Lost.Prefill == most:
		return VerdictRateNotReached, fmt.Sprintf("%s: the limit of requests in prefill was reached for %.1f %% of the sending time.", sent, 100*e.PrefillShare)
	case e.Lost.Rest == most:
		return VerdictRateNotReached, fmt.Sprintf("%s: the concurrency limit was reached for %.1f %% of the sending time, by sessions that were in delays of their own.", sent, 100*e.CapShare)
	}
	return VerdictRateNotReached, sent + ": every session had been started, and none had a turn to send."
}

// sentShare is the share of the drawn arrivals that were sent, 0 to 1.
func (e *ClientStats) sentShare() float64 { return float64(e.Sent) / e.Drawn }

// behindClause says how the client fell behind.
func (e *ClientStats) behindClause() string {
	var parts []string
	if e.Reanchors > 0 {
		parts = append(parts, fmt.Sprintf("its schedule began anew %s and lost %s", times(int64(e.Reanchors)), shown(e.ReanchorLost)))
	}
	if e.Stalls > 0 {
		parts = append(parts, fmt.Sprintf("it stood still %s, longest %s", times(e.Stalls), shown(e.StallLongest)))
	}
	if len(parts) == 0 {
		return "at the end of the sending"
	}
	return strings.Join(parts, "; ")
}

func (e *ClientStats) capClause() string {
	return fmt.Sprintf("every slot was taken by requests under way for %.1f %% of the sending time", 100*e.BusyShare)
}

// lagLimit is the schedule lag at p99 that is still in order.
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
	return fmt.Sprintf("Requests that nothing but the client kept left %s late at p99 (allowed: %s).", shown(e.OwnLagP99), shown(e.lagLimit()))
}

// allWell is the reason of a valid verdict. precision is how accurate the latencies are, as a share.
func (e *ClientStats) allWell(precision float64) string {
	text := "The client had room to spare."
	if e.OpenLoop {
		text = fmt.Sprintf("The schedule was kept (p99 %s late) and the client had room to spare.", shown(e.OwnLagP99))
	}
	if e.lumpy() {
		return text + " " + e.lumpReason()
	}
	if !e.gapsDoubtful() {
		return text
	}
	exact := "are exact"
	if precision > 0 {
		exact = fmt.Sprintf("are accurate to %.2g %%", 100*precision)
	}
	text = strings.Replace(text, "the client had room to spare", "latencies "+exact, 1)
	text = strings.Replace(text, "The client had room to spare", "Latencies "+exact, 1)
	return text + fmt.Sprintf(" In %.1f %% of the requests some tokens arrived together, so single gaps between tokens are approximate.", 100*float64(e.UncertainGaps)/float64(max(1, e.Valid)))
}

// join lists parts as a sentence does.
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

// shown is a duration with three digits at most.
func shown(d time.Duration) string {
	switch {
	case d >= time.Second:
		return terminal.Exact(d.Seconds()) + " s"
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g µs", float64(d)/1e3)
}

// mostWhole bounds the numbers that are written without an exponent.
const mostWhole = 1e15

// figure is a number with so many significant digits at most. From 1,000 on it is whole and has thousands separators.
func figure(v float64, digits int) string {
	if size := math.Abs(v); size >= 999.5 && size < mostWhole {
		return terminal.Thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}
