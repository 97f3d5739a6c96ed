package main

import (
	"fmt"
	"strconv"
	"time"
)

// crowdSize is a number of streams whose memory is measured, and the gap between their tokens.
type crowdSize struct {
	streams int
	gap     time.Duration
}

var crowdSizes = []crowdSize{{100, 10 * time.Millisecond}, {4000, 100 * time.Millisecond}}

// title returns the name of its row.
func (c crowdSize) title() string { return fmt.Sprintf("MB, %d streams", c.streams) }

// memoryFigure measures the largest proportional set of the client while it reads streams.
func memoryFigure(b *suite) error {
	b.row("memory", "largest proportional set", "budget")
	for _, c := range crowdSizes {
		rounds := 3
		if b.short {
			rounds = 1
		}
		if err := b.memoryOf(c, rounds); err != nil {
			return err
		}
	}
	return nil
}

func (b *suite) memoryOf(c crowdSize, rounds int) error {
	return b.withServer(func(s *server) error {
		_, readings, err := b.profileWatched(100*time.Millisecond, "--url", s.url, "--streaming", "--isl", "128",
			"--concurrency", strconv.Itoa(c.streams), "--request-count", strconv.Itoa(rounds*c.streams))
		if err != nil {
			return err
		}
		if len(readings) == 0 {
			b.row(c.title(), "not reported by this system")
			return nil
		}
		b.against(c.title(), float64(largest(readings))/1e6, size(largest(readings)))
		return nil
	}, "--ttft="+c.gap.String(), "--itl="+c.gap.String(), "--tokens=50")
}

// largest returns the largest memory of the readings.
func largest(readings []reading) (bytes int64) {
	for _, r := range readings {
		bytes = max(bytes, r.memory)
	}
	return bytes
}

// against prints a figure next to its budget.
func (b *suite) against(title string, figure float64, cells ...any) {
	if problem := b.budgets.exceeded(title, figure); problem != "" {
		b.problems = append(b.problems, problem)
	}
	b.row(append(append([]any{title}, cells...), b.budgets.of(title))...)
}
