package plan

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
)

const (
	runNoise      = 0.01  // assumed relative standard deviation between runs of a cell that has one run, as in a comparison of two runs
	roundingTie   = 0.001 // relative difference that means nothing, however well runs agree
	tieConfidence = 0.95
	namedTies     = 4
)

// level is the mean of a figure over the runs of a cell.
type level struct {
	mean, variance float64 // of the runs, and the variance of this mean
	freedom        float64 // degrees of freedom of the variance; +Inf = it is assumed
}

// levelOf returns the level of a cell. ok is false if no run has the figure.
func levelOf(trials []*trial, tag string) (l level, ok bool) {
	var list []float64
	for _, t := range trials {
		if v := meanOf([]*trial{t}, tag, metric.Avg); !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	switch n := float64(len(list)); n {
	case 0:
		return l, false
	case 1:
		return level{list[0], runNoise * list[0] * runNoise * list[0], math.Inf(1)}, true
	default:
		spread := stats.SampleStd(list)
		return level{stats.Mean(list), spread * spread / n, n - 1}, true
	}
}

// ties reports whether two levels may be equal: they differ by less than 0.1 %, or the interval of their difference contains 0 (Welch's t test).
func (l level) ties(o level) bool {
	difference := math.Abs(l.mean - o.mean)
	if difference <= roundingTie*max(math.Abs(l.mean), math.Abs(o.mean)) {
		return true
	}
	variance := l.variance + o.variance
	freedom := variance * variance / (l.variance*l.variance/l.freedom + o.variance*o.variance/o.freedom)
	quantile := stats.NormalQuantile((1 + tieConfidence) / 2)
	if !math.IsInf(freedom, 1) && !math.IsNaN(freedom) {
		quantile = stats.StudentT(tieConfidence, freedom)
	}
	return difference <= quantile*math.Sqrt(variance)
}

// tiesOf names the cells that may be as good as the best cell, in a line; "" = there are none.
func tiesOf(cells []config.Cell, byCell [][]*trial, best int, tag string) string {
	top, ok := levelOf(byCell[best], tag)
	if !ok {
		return ""
	}
	var names []string
	assumed := math.IsInf(top.freedom, 1)
	for k := range cells {
		if l, ok := levelOf(byCell[k], tag); ok && k != best && top.ties(l) {
			names = append(names, cellName(cells[k].Label))
			assumed = assumed || math.IsInf(l.freedom, 1)
		}
	}
	if names == nil {
		return ""
	}
	if more := len(names) - namedTies; more > 0 {
		names = append(names[:namedTies], fmt.Sprintf("%d more", more))
	}
	noise := "the noise between runs"
	if assumed {
		noise += fmt.Sprintf(" (%g %% assumed)", 100*runNoise)
	}
	return fmt.Sprintf("As high within %s: %s\n", noise, strings.Join(names, ", "))
}
