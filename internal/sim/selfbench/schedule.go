package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
)

func scheduleFigure(b *suite) error {
	seconds := 10
	if b.short {
		seconds = 2
	}
	b.row("asked", "arrivals", "lag p50", "p99", "max", "drift", "sent/s", "KS distance", "verdict", "aim")
	b.bareThread(1000, seconds)
	for _, rate := range []int{50, 200, 1000, 5000} {
		aim := ""
		if rate == 1000 {
			aim = "p99 < 0.2 ms, drift 0"
		}
		for _, pattern := range []string{"constant", "poisson"} {
			if err := b.measureSchedule(rate, seconds, pattern, "", aim); err != nil {
				return err
			}
		}
	}
	return whileBusy(runtime.NumCPU(), func() error {
		return b.measureSchedule(1000, seconds, "poisson", ", all cores busy", "the verdict reports it")
	})
}

// measureSchedule sends at a rate for some seconds and prints how precisely the instants were met.
func (b *suite) measureSchedule(rate, seconds int, pattern, when, aim string) error {
	return b.withServer(func(s *server) error {
		list, v, err := b.runBenchmark("--url", s.url, "--isl", "16", "--request-rate", strconv.Itoa(rate), "--arrival-pattern", pattern,
			"--benchmark-duration", strconv.Itoa(seconds))
		if err != nil {
			return err
		}
		lags := lagsOf(list)
		tenth := max(len(lags)/10, 1)
		drift := slices.Clone(lags[len(lags)-tenth:]).at(.5) - slices.Clone(lags[:tenth]).at(.5)
		ks := ""
		if pattern == "poisson" {
			ks = exponential(list)
		}
		p50, p99, largest := lags.spread()
		b.row(fmt.Sprintf("%d/s%s", rate, when), pattern, p50, p99, largest, span(drift),
			fmt.Sprintf("%.1f", v.Achieved), ks, v.Verdict, aim)
		return nil
	}, "--ttft=0", "--itl=0", "--tokens=1")
}

// lagsOf returns how much later than planned each request left, in the order of the schedule.
func lagsOf(list []recordLine) sample {
	slices.SortFunc(list, func(a, b recordLine) int { return int(a.Metadata.Scheduled - b.Metadata.Scheduled) })
	var lags sample
	for _, r := range list {
		lags.add(r.Metadata.Start - r.Metadata.Scheduled)
	}
	return lags
}

// exponential returns two numbers: the Kolmogorov-Smirnov distance of the gaps between sends from the exponential distribution with the same mean,
// and the distance that chance exceeds in one of twenty cases.
func exponential(list []recordLine) string {
	slices.SortFunc(list, func(a, b recordLine) int { return int(a.Metadata.Start - b.Metadata.Start) })
	var gaps sample
	for i := 1; i < len(list); i++ {
		gaps.add(list[i].Metadata.Start - list[i-1].Metadata.Start)
	}
	slices.Sort(gaps)
	n, sum, far := float64(len(gaps)), 0.0, 0.0
	for _, g := range gaps {
		sum += g
	}
	for i, g := range gaps {
		p := 1 - math.Exp(-g*n/sum)
		far = max(far, p-float64(i)/n, float64(i+1)/n-p)
	}
	return fmt.Sprintf("%.4f (5%%: %.4f)", far, 1.36/math.Sqrt(n))
}
