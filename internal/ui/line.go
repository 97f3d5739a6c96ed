package ui

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"aiperf/internal/terminal"
)

// Snapshot is the state of a running phase at one instant.
type Snapshot struct {
	Phase                  string
	Index                  int // of the phase
	Warmup                 bool
	Sent                   int64
	Finished               int64 // errors included
	Errors                 int64
	InFlight               int64
	Cancelled              int64         // a part of the finished
	Sessions, SessionsDone int64         // to run, 0 = not limited by them; and so far
	Grace                  time.Duration // for the last answers; negative = no limit
	Requests               int64         // requests to send, 0 = not limited by count
	Elapsed                time.Duration // since the phase began
	Duration               time.Duration // sending time of the phase, 0 = not limited by time
	Sending                bool          // false once nothing more will be sent (draining)
	Tokens                 int64         // output tokens of the valid answers so far
	TTFT                   float64       // ns, median of the recent valid answers, 0 = none
	Latency                float64       // ns, likewise
}

// Share returns how much of the phase is done, 0 to 1; false when nothing limits it.
func (s Snapshot) Share() (float64, bool) {
	share, known := 0.0, false
	if s.Requests > 0 {
		share, known = float64(s.Finished)/float64(s.Requests), true
	}
	if s.Sessions > 0 {
		share, known = max(share, float64(s.SessionsDone)/float64(s.Sessions)), true
	}
	if s.Duration > 0 {
		share, known = max(share, s.Elapsed.Seconds()/s.Duration.Seconds()), true
	}
	return min(share, 1), known
}

// Rates are requests finished and output tokens received a second, over the last few lines.
type Rates struct{ Requests, Tokens float64 }

// field is a part of the line.
type field struct {
	text string
	rank int // fields of the lowest rank leave first where there is no room; those of rank 0 stay
}

// Line is the snapshot in one line of less than width columns: phase, share, counts, rates, medians, and what is left. Where there is no
// room the least missed go first. 0 = a line for a log: everything but the bar.
func (s Snapshot) Line(rate Rates, width int) string {
	fields := s.fields(rate, width > 0)
	for rank := 1; width > 0 && columns(fields) >= width && rank <= maxRank; rank++ {
		kept := fields[:0]
		for _, f := range fields {
			if f.rank != rank {
				kept = append(kept, f)
			}
		}
		fields = kept
	}
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.text
	}
	line := strings.Join(texts, "  ")
	if width > 0 && utf8.RuneCountInString(line) >= width {
		line = string([]rune(line)[:width-1])
	}
	return line
}

// maxRank is the highest rank of a field.
const maxRank = 9

func (s Snapshot) fields(rate Rates, drawn bool) []field {
	share, known := s.Share()
	list := []field{{s.Phase, 0}}
	add := func(rank int, format string, args ...any) {
		list = append(list, field{fmt.Sprintf(format, args...), rank})
	}
	if known && drawn {
		add(1, "%s", bar(share, 20))
	}
	if known {
		add(0, "%.0f%%", 100*share)
	}
	if s.Requests > 0 {
		add(5, "%d/%d done", s.Finished, s.Requests)
	} else {
		add(5, "%d done", s.Finished)
	}
	add(4, "%s req/s", terminal.Figure(rate.Requests))
	if s.Tokens > 0 {
		add(7, "%s tok/s", terminal.Figure(rate.Tokens))
	}
	median := "p50 " // said once
	if s.TTFT > 0 {
		add(8, "%sTTFT %s ms", median, terminal.Figure(s.TTFT/1e6))
		median = ""
	}
	if s.Latency > 0 {
		add(8, "%slatency %s ms", median, terminal.Figure(s.Latency/1e6))
	}
	add(2, "%d in flight", s.InFlight)
	add(9, "%d errors", s.Errors)
	add(3, "%s", s.Elapsed.Round(time.Second))
	switch {
	case !s.Sending:
		add(6, "draining")
	case known && share > 0 && share < 1:
		left := time.Duration(float64(s.Elapsed) * (1 - share) / share)
		add(6, "ETA %s", left.Round(time.Second))
	}
	return list
}

// columns is the width of the fields, two blanks between them.
func columns(fields []field) int {
	n := -2
	for _, f := range fields {
		n += utf8.RuneCountInString(f.text) + 2
	}
	return n
}

func bar(share float64, width int) string {
	full := int(share * float64(width))
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", width-full) + "]"
}
