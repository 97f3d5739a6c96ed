package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"aiperf/internal/measure/stats"
)

// table prints rows of cells under section titles.
type table struct {
	out  io.Writer
	rows *tabwriter.Writer
}

func (t *table) section(title string) {
	fmt.Fprintf(t.out, "\n%s\n", title)
	t.rows = tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
}

// row prints one row; the first cell is its name.
func (t *table) row(cells ...any) {
	var text []string
	for _, c := range cells {
		text = append(text, fmt.Sprint(c))
	}
	fmt.Fprintln(t.rows, "  "+strings.Join(text, "\t"))
}

func (t *table) flush() { t.rows.Flush() }

// sample is a set of durations in ns.
type sample []float64

func (s *sample) add(ns int64) { *s = append(*s, float64(ns)) }

// at returns the q-quantile, interpolated; NaN for an empty sample.
func (s sample) at(q float64) float64 {
	slices.Sort(s)
	return stats.Percentile(s, 100*q)
}

// spread returns p50, p99 and the maximum, as text.
func (s sample) spread() (p50, p99, largest string) {
	return span(s.at(.5)), span(s.at(.99)), span(s.at(1))
}

// span formats a duration in ns.
func span(ns float64) string {
	switch a := math.Abs(ns); {
	case math.IsNaN(ns):
		return "none"
	case a < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case a < 1e6:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	case a < 1e9:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
	return fmt.Sprintf("%.2f s", ns/1e9)
}

// size formats a number of bytes.
func size(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }
