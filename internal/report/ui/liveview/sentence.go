package liveview

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/termdraw"
)

// Sentence describes the state of a phase in words, for a log or a screen reader: its progress, what came back, rates of the last 10 s, medians of the
// phase.
func Sentence(s *State) string {
	c, f := &s.Counts, &s.Figures
	text := StageInSentence(s.title())
	if s.Stage == Draining && s.Phase != "" {
		text = StageInSentence(s.Phase)
	}
	if s.Known {
		text += fmt.Sprintf(" %.0f %%", math.Floor(100*s.Share))
	}
	parts := []string{s.spokenCount(), number(c.Finished()) + " done", terminal.Plural(c.Errors, "error")}
	add := func(v float64, format string) {
		if !math.IsNaN(v) {
			parts = append(parts, fmt.Sprintf(format, terminal.Figure(v)))
		}
	}
	add(f.Requests.Recent, "%s requests/s")
	add(f.Tokens.Recent, "%s tokens/s")
	add(f.TTFT.Run, "TTFT p50 %s ms")
	add(f.Latency.Run, "latency p50 %s ms")
	parts = append(parts, number(c.InFlight)+" in flight")
	if s.Stage == Draining {
		parts = append(parts, "draining")
	} else if c.ETA >= 0 {
		parts = append(parts, "ETA "+Span(c.ETA))
	}
	return text + ": " + strings.Join(parts, ", ")
}

// spokenCount describes the progress of the phase in requests, sessions or time.
func (s *State) spokenCount() string {
	c := &s.Counts
	switch {
	case c.Requests > 0:
		return fmt.Sprintf("%s of %s", number(c.Finished()), terminal.Plural(c.Requests, "request"))
	case c.Duration > 0:
		return fmt.Sprintf("%s of %s s", termdraw.Round(math.Round(min(c.Elapsed, c.Duration).Seconds())), termdraw.Round(c.Duration.Seconds()))
	case c.Sessions > 0:
		return fmt.Sprintf("%s of %s", number(c.SessionsDone), terminal.Plural(c.Sessions, "session"))
	}
	return fmt.Sprintf("%.0f s", c.Elapsed.Seconds())
}

// StageInSentence returns the name of a stage for use within a sentence. Names given by users are unchanged.
func StageInSentence(title string) string {
	for _, s := range []Stage{Warmup, Profiling, Processing} {
		if title == s.String() {
			return strings.ToLower(title)
		}
	}
	return title
}

// Waiting says how many requests are waiting.
func Waiting(n int64) string {
	if n == 1 {
		return "1 request waits"
	}
	return terminal.Plural(n, "request") + " wait"
}
