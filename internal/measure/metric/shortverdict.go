package metric

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/terminal"
)

// ShortMost is the maximum width of Validity.Short, in columns. Together with a label of 12 columns and the share of failed requests it fits into 80.
const ShortMost = 52

// Short returns the verdict in one clause of at most ShortMost columns, with the figure that it is based on: "client limited: 4.7 of 16 slots in
// use". It omits a clause that would be wider.
func (v *Validity) Short() string {
	mark, why := ": ", ""
	switch v.Verdict {
	case VerdictValid:
		mark, why = "; ", v.shortCaution()
	case VerdictUncertain:
		why = v.shortDoubt()
	case VerdictClientLimited:
		why = v.shortFault()
	case VerdictServerLimited, VerdictRateNotReached:
		why = v.shortLoad()
	case VerdictNoResult:
		why = v.shortFailure()
	}
	text := string(v.Verdict) + mark + why
	if why == "" || utf8.RuneCountInString(text) > ShortMost {
		return string(v.Verdict)
	}
	return text
}

// shortCaution names what is approximate although the run is valid; "" = nothing.
func (e *ClientStats) shortCaution() string {
	switch {
	case e.lumpy():
		return fmt.Sprintf("stream in bursts (%.0f %% of answers)", 100*float64(e.LumpedAnswers)/float64(e.StreamAnswers))
	case e.gapsDoubtful():
		return fmt.Sprintf("gaps approximate (%.0f %% of requests)", 100*float64(e.UncertainGaps)/float64(max(1, e.Valid)))
	}
	return ""
}

// shortDoubt names the uncertain statistics: "TTFT p99, ITL avg p50". If they do not fit, it names their metrics and the number of statistics.
func (v *Validity) shortDoubt() string {
	switch {
	case len(v.understated) == 0:
	case v.CutCount == 0 && v.TimedOut == 0:
		return fmt.Sprintf("%s of %s cancelled", terminal.Count(v.Planned), terminal.Plural(v.Valid+v.Failed, "request"))
	case v.CutCount == 0:
		return fmt.Sprintf("%s of %s timed out", terminal.Count(v.TimedOut), terminal.Plural(v.Valid+v.Failed, "request"))
	default:
		return fmt.Sprintf("%s of %s cut off", terminal.Count(v.CutCount), terminal.Plural(v.Valid+v.Failed+v.CutCount, "request"))
	}
	var metrics, figures []string
	for i, e := range v.doubtful {
		name := shortName(e.tag)
		if e.tag == "request_latency" {
			name = "latency"
		}
		if i == 0 || v.doubtful[i-1].tag != e.tag {
			metrics, figures = append(metrics, name), append(figures, name)
		}
		figures[len(figures)-1] += " " + e.stat.String()
	}
	text := strings.Join(figures, ", ")
	if len(VerdictUncertain)+2+len(text) > ShortMost {
		text = fmt.Sprintf("%s (%d of %d figures)", strings.Join(metrics, ", "), len(v.doubtful), v.judgedCount)
	}
	return text
}

// shortFault names the client's problem. The order is that of Assess.
func (e *ClientStats) shortFault() string {
	switch {
	case e.CPUShare > busyCPU:
		return fmt.Sprintf("%.0f %% of %s used", 100*e.CPUShare, e.CPUs())
	case e.FileLimitHits > 0:
		return terminal.Plural(e.FileLimitHits, "connection") + " hit its own limits"
	case e.short():
		return e.shortLoad()
	case e.unfilled():
		return e.SlotShare() + " in use"
	case e.gaveUp():
		return formatDuration(e.ReanchorLost) + " of the schedule lost"
	case e.late():
		return "requests " + formatDuration(e.OwnLagP99) + " late at p99"
	}
	return ""
}

// shortLoad describes how much of the load was sent, or what delayed it.
func (e *ClientStats) shortLoad() string {
	switch {
	case e.short():
		return fmt.Sprintf("%.1f %% of the schedule sent", 100*e.sentShare())
	case e.BusyShare > capShare:
		return fmt.Sprintf("every slot in use %.0f %% of the time", 100*e.BusyShare)
	}
	return ""
}

// shortFailure describes the number of failed requests of a run without any success.
func (e *ClientStats) shortFailure() string {
	if e.Failed == 0 {
		return ""
	}
	return "0 of " + terminal.Plural(e.Failed, "request") + " succeeded"
}
