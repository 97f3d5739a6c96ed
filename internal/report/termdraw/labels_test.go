package termdraw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/terminal"
)

// whole checks that a line holds texts in their order, each whole and apart from the next, and nothing else.
func whole(line string, texts []string) error {
	rest := line
	for _, text := range texts {
		before, after, found := strings.Cut(rest, text)
		if !found {
			continue // there was no room
		}
		if strings.TrimSpace(before) != "" || after != "" && after[0] != ' ' {
			return fmt.Errorf("%q is not apart in %q", text, line)
		}
		rest = after
	}
	if strings.TrimSpace(rest) != "" {
		return fmt.Errorf("%q is left of %q", rest, line)
	}
	return nil
}

// TestLabelsStandApart: from 40 to 200 columns no label of a chart touches another, is cut, or is wider than its chart.
func TestLabelsStandApart(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for width := 40; width <= 200; width++ {
		for range 20 {
			p50 := math.Exp(12*r.Float64() - 2)
			p90 := p50 * math.Exp(r.Float64()*3*r.Float64())
			p99 := p90 * math.Exp(r.Float64()*3*r.Float64())
			d := Distribution{Name: "Latency", Unit: "ms", Bins: []Count{{p50, 90}, {p99, 9}}, Min: p50 / 2, Max: p99 * 1.1, P50: p50, P90: p90, P99: p99}
			rows := d.Draw(width, 3)
			line := rows[len(rows)-1].Plain()
			var texts []string
			for _, p := range []struct {
				name  string
				value float64
			}{{"p50", p50}, {"p90", p90}, {"p99", p99}} {
				texts = append(texts, p.name+" "+terminal.Figure(p.value))
			}
			if err := whole(line, texts); err != nil || Width(line) > width {
				t.Fatalf("%d columns: %v: %q", width, err, line)
			}
			span := math.Exp(10 * r.Float64())
			seconds, bins, _ := Bin(span, width-TimelineLabel)
			line = last(Timeline{Seconds: seconds, Bins: bins, Series: []Series{{Name: "x", Values: make([]float64, bins)}}}, width)
			fields := strings.Fields(strings.TrimSuffix(strings.TrimRight(line, " "), " s"))
			for i, text := range fields {
				fields[i] = strings.ReplaceAll(text, ",", "")
			}
			if !slices.IsSortedFunc(fields, byValue) || Width(strings.TrimRight(line, " ")) > width {
				t.Fatalf("%d columns, %g s: %q", width, span, line)
			}
		}
	}
}

// last is the row of labels.
func last(line Timeline, width int) string {
	rows := line.Draw(width, 2)
	return rows[len(rows)-1].Plain()
}

// byValue orders numbers; texts that grew together are none, or are out of order.
func byValue(a, b string) int {
	var x, y float64
	if _, err := fmt.Sscan(a, &x); err != nil {
		return 1
	}
	if _, err := fmt.Sscan(b, &y); err != nil {
		return 1
	}
	return int(math.Copysign(1, x-y))
}
