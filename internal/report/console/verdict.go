package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
)

// verdict writes whether the numbers describe the server, and the evidence for that.
func (d *drawing) verdict() {
	v := d.run.Validity
	if v == nil {
		return
	}
	if d.fits {
		d.rule("Verdict")
		d.verdictText(v)
		d.evidence(v)
		return
	}
	d.say("\nValidity: %s\n", d.banner(v))
	d.evidence(v)
}

// Marks of the verdict on a terminal and their colours. The mark and the words say the same as the colour.
const (
	markGood, paintGood = "✔", "32"
	markWarn, paintWarn = "!", "33"
	markBad, paintBad   = "✘", "31"
)

// verdictText writes the verdict on a terminal, and what else affects the numbers: a stalled server, errors.
func (d *drawing) verdictText(v *metric.Validity) {
	line := func(mark, paint, text string) {
		d.print("%s %s\n", d.style.paint(paint, mark), strings.ReplaceAll(terminal.Hang(text, d.room()-2, 0), "\n", "\n  "))
	}
	switch {
	case v.Verdict == metric.VerdictClientLimited, d.run.AllFailed():
		line(markBad, paintBad, d.banner(v))
	case v.Verdict != metric.VerdictValid, d.run.FailureSentence() != "":
		line(markWarn, paintWarn, d.banner(v))
	default:
		line(markGood, paintGood, d.banner(v))
	}
	for _, n := range v.Notes {
		line(markWarn, paintWarn, n)
	}
}

// banner returns the verdict and its reason. If 1 % of the requests or more failed, it begins with their share: they are missing from every latency.
func (d *drawing) banner(v *metric.Validity) string {
	word := d.style.bold(string(v.Verdict))
	if v.Verdict != metric.VerdictValid {
		word = d.style.red(string(v.Verdict))
	}
	text := word + ". " + v.Reason
	if failed := d.run.FailureSentence(); failed != "" {
		text = d.style.paint(paintWarn, failed) + ". Verdict: " + text
	}
	return text
}

// evidence lists the facts that the verdict is based on.
func (d *drawing) evidence(v *metric.Validity) {
	if v.OpenLoop {
		d.say("  Schedule lag: p50 %s, p99 %s, max %s\n", span(v.LagP50), span(v.LagP99), span(v.LagMax))
	}
	if target := v.TargetRate(); target > 0 {
		d.say("  Rate: %s of %s requests/s; the schedule planned %s, of which %.1f %% were sent%s\n",
			terminal.Exact(v.AchievedRate()), terminal.Exact(target), terminal.Exact(v.DrawnRate()), 100*min(1, float64(v.Sent)/max(v.Drawn, 1)), withoutLost(v))
	}
	if v.Slots > 0 && v.Valid > 0 {
		d.say("  Concurrency: %s in use on average; for %s of the slots' time an answer had arrived but the next request was not yet sent%s\n",
			v.SlotShare(), v.SlotLossRange(), withoutLost(v))
	}
	if v.Valid > 0 {
		d.say("  Source of arrival times: %s\n", v.Instants())
	}
	if v.ReadDelays > 0 {
		d.say("  Read delay (from the kernel to aiperf): p50 %s, p99 %s%s; messages read together with a later one: %s\n", span(v.ReadDelayP50), span(v.ReadDelayP99), restClause(v), sharedReads(v))
	}
	if v.Cores > 0 { // otherwise no measured phase has begun
		d.say("  Client: CPU %.0f %% of %s, %s; at most %s waited to be processed (room for %s)\n", 100*v.CPUShare, v.CPUs(), pauses(v), terminal.Plural(v.BacklogMax, "finished request"), terminal.Count(v.BacklogSize))
	}
	if d.approximate {
		d.say("  %s marks figures that are known only approximately; validity.bounds in the JSON summary has their limits\n", metric.ApproximateMark)
	}
	if d.fits { // a terminal shows the notes above, with their marks
		return
	}
	for _, n := range v.Notes {
		d.say("  Note: %s\n", n)
	}
}

// pauses says how long threads of the client waited for a CPU, and the longest pause of the whole process apart from that.
func pauses(v *metric.Validity) string {
	if v.ThreadWait <= 0 {
		return "longest pause " + span(v.StallLongest)
	}
	return "its threads waited " + span(v.ThreadWait) + " for a CPU in all, longest other pause " + span(v.StallLongest)
}

// withoutLost adds that the figures of the schedule may not include those of machines that were lost.
func withoutLost(v *metric.Validity) string {
	n := v.Silent()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; the part of %s may be missing", terminal.Plural(n, "lost machine"))
}

// restClause adds that the client rested between reads, which the read delay does not include.
func restClause(v *metric.Validity) string {
	if v.LongestRest == 0 {
		return ""
	}
	return ", after rests of up to " + span(v.LongestRest)
}

func sharedReads(v *metric.Validity) string {
	if v.Messages == 0 {
		return terminal.Count(v.SharedReads)
	}
	return fmt.Sprintf("%.1f %%", 100*float64(v.SharedReads)/float64(v.Messages))
}

// span formats a duration with at most three digits.
func span(d time.Duration) string {
	switch {
	case d == 0:
		return "0 µs"
	case d >= 999_500*time.Microsecond: // as 1,000 ms it would be written with an exponent
		return terminal.Figure(d.Seconds()) + " s"
	case d >= 999_500*time.Nanosecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g µs", float64(d)/1e3)
}

// trim formats an integer with thousands separators, trim1 a number with one decimal.
func trim(v float64) string  { return terminal.Thousands(strconv.FormatFloat(v, 'f', 0, 64)) }
func trim1(v float64) string { return terminal.Thousands(strconv.FormatFloat(v, 'f', 1, 64)) }

// plain formats a number that a user gave.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
