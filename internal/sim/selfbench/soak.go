package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

const (
	soakStreams = 200
	soakGap     = 100 * time.Millisecond // between tokens
	soakTokens  = 100                    // of an answer

	// spareDescriptors is by how many the open files may grow over a run: an update of a view or a file opens some for a moment.
	spareDescriptors = 8
)

// soakFigure lets some streams run for a long time, and looks at what the client holds. Memory grows with the records, because percentiles are exact;
// descriptors must not.
func soakFigure(b *suite) error {
	length := b.soak
	if length < 20*time.Second {
		return fmt.Errorf("-soak %v: a run of less than 20 s, the time of two answers, shows nothing", length)
	}
	b.row("streams", "time", "requests", "memory after warm-up", "at the end", "growth", "per request", "descriptors", "aim")
	return b.withServer(func(s *server) error {
		every := min(max(length/200, 100*time.Millisecond), time.Minute)
		dir, readings, err := b.profileWatched(every, "--url", s.url, "--streaming", "--isl", "128", "--concurrency", strconv.Itoa(soakStreams),
			"--benchmark-duration", strconv.FormatFloat(length.Seconds(), 'f', -1, 64))
		if err != nil {
			return err
		}
		var summary struct {
			Requests struct{ Avg float64 } `json:"request_count"`
		}
		if err := readSummary(dir, &summary); err != nil {
			return err
		}
		steady := steadyPart(readings, length)
		if len(steady) < 2 {
			return errors.New("too few readings of the client's memory: the run was too short, or this system does not report them")
		}
		memory := slope(steady, func(r reading) float64 { return float64(r.memory) })
		first, last := steady[0], steady[len(steady)-1]
		perRequest := memory * length.Hours() / max(summary.Requests.Avg, 1)
		b.row(soakStreams, length, int(summary.Requests.Avg), size(first.memory), size(last.memory), fmt.Sprintf("%.1f MB/h", memory/1e6),
			fmt.Sprintf("%.0f B", perRequest), fmt.Sprintf("%d to %d", first.descriptors, last.descriptors), "descriptors flat")
		if grown := descriptorGrowth(steady); grown > spareDescriptors {
			b.problems = append(b.problems, fmt.Sprintf("the client had %.0f more descriptors open at the end than after its warm-up", grown))
		}
		return nil
	}, "--ttft="+soakGap.String(), "--itl="+soakGap.String(), "--tokens="+strconv.Itoa(soakTokens))
}

// steadyPart returns the readings between the warm-up, which is a fifth of the load, and the end of the load.
func steadyPart(readings []reading, length time.Duration) (steady []reading) {
	for _, r := range readings {
		if r.after > length/5 && r.after < length {
			steady = append(steady, r)
		}
	}
	return steady
}

// descriptorGrowth returns by how many the descriptors grew over the readings, by the line through them.
func descriptorGrowth(readings []reading) float64 {
	over := readings[len(readings)-1].after - readings[0].after
	return slope(readings, func(r reading) float64 { return float64(r.descriptors) }) * over.Hours()
}
