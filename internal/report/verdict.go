package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/metric"
	"aiperf/internal/terminal"
)

// verdict writes whether the numbers may be taken for the server's, and what that rests on.
func (d *drawing) verdict() {
	v := d.run.Validity
	if v == nil {
		return
	}
	if d.fits {
		d.rule("Verdict")
		d.judged(v)
		d.evidence(v)
		return
	}
	d.say("\nValidity: %s\n", d.banner(v))
	d.evidence(v)
}

// Marks of the verdict at a terminal, and how they are painted; what a colour says is said by the mark and the words too.
const (
	markGood, paintGood = "✔", "32"
	markWarn, paintWarn = "!", "33"
	markBad, paintBad   = "✘", "31"
)

// judged is the verdict at a terminal, and what the reader of the numbers should know: a server that stood still, errors.
func (d *drawing) judged(v *metric.Validity) {
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

// banner is the verdict and its reason. From 1 % of failed requests on it begins with their share: they are missing from every latency.
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

// evidence is what the verdict rests on.
func (d *drawing) evidence(v *metric.Validity) {
	if v.OpenLoop {
		d.say("  Schedule lag: p50 %s, p99 %s, max %s\n", span(v.LagP50), span(v.LagP99), span(v.LagMax))
	}
	if target := v.TargetRate(); target > 0 {
		d.say("  Rate: %s requests/s of %s asked for; the schedule drew %s, of which %.1f %% were sent\n",
			terminal.Exact(v.AchievedRate()), terminal.Exact(target), terminal.Exact(v.DrawnRate()), 100*min(1, float64(v.Sent)/max(v.Drawn, 1)))
	}
	if v.Slots > 0 {
		d.say("  Slots: %s of %s in use; %.1f %% of their time an answer had arrived and the next request was not sent yet\n", terminal.Figure(v.SlotsInUse()), terminal.Figure(v.Slots), 100*v.SlotLoss())
	}
	if v.Valid > 0 {
		d.say("  Instants: %s\n", v.Instants())
	}
	if v.ReadDelays > 0 {
		d.say("  Read delay (kernel to client): p50 %s, p99 %s; coalesced messages: %s\n", span(v.ReadDelayP50), span(v.ReadDelayP99), sharedReads(v))
	}
	d.say("  Client: CPU %.0f %% of %s, longest stop %s, record backlog %s of %s\n", 100*v.CPUShare, terminal.Plural(v.Cores, "core"), span(v.StallLongest), terminal.Count(v.BacklogMax), terminal.Count(v.BacklogSize))
	if d.approximate {
		d.say("  %s marks figures that are known only approximately; validity.bounds in the JSON summary has their limits\n", metric.ApproximateMark)
	}
	if d.fits { // the notes stand above, with their marks
		return
	}
	for _, n := range v.Notes {
		d.say("  Note: %s\n", n)
	}
}

func sharedReads(v *metric.Validity) string {
	if v.Messages == 0 {
		return terminal.Count(v.SharedReads)
	}
	return fmt.Sprintf("%.1f %%", 100*float64(v.SharedReads)/float64(v.Messages))
}

// span is a duration with three digits at most.
func span(d time.Duration) string {
	switch {
	case d == 0:
		return "0 µs"
	case d >= time.Second:
		return terminal.Figure(d.Seconds()) + " s"
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g µs", float64(d)/1e3)
}

// trim is a whole number with thousands separators, trim1 one with one decimal.
func trim(v float64) string  { return terminal.Thousands(strconv.FormatFloat(v, 'f', 0, 64)) }
func trim1(v float64) string { return terminal.Thousands(strconv.FormatFloat(v, 'f', 1, 64)) }

// plain spells a number that a user gave.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
