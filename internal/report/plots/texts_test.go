package plots

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/report/chart"
	"aiperf/internal/report/chart/render"
)

// matrix is a transformation of SVG: a c e, b d f.
type matrix [6]float64

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[2]*n[1], m[1]*n[0] + m[3]*n[1], m[0]*n[2] + m[2]*n[3],
		m[1]*n[2] + m[3]*n[3], m[0]*n[4] + m[2]*n[5] + m[4], m[1]*n[4] + m[3]*n[5] + m[5],
	}
}

func (m matrix) at(x, y float64) [2]float64 {
	return [2]float64{m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]}
}

// transform reads a list of transformations.
func transform(t *testing.T, list string) matrix {
	t.Helper()
	m := matrix{1, 0, 0, 1, 0, 0}
	for _, one := range strings.SplitAfter(list, ")") {
		name, rest, ok := strings.Cut(strings.TrimSpace(one), "(")
		if !ok {
			continue
		}
		var v [2]float64
		words := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("(), ", r) })
		for i := range min(2, len(words)) {
			if _, err := fmt.Sscan(words[i], &v[i]); err != nil {
				t.Fatalf("%s: %v", one, err)
			}
		}
		switch name {
		case "translate":
			m = m.times(matrix{1, 0, 0, 1, v[0], v[1]})
		case "scale":
			m = m.times(matrix{v[0], 0, 0, v[1], 0, 0})
		case "rotate":
			sin, cos := math.Sincos(v[0] * math.Pi / 180)
			m = m.times(matrix{cos, sin, -sin, cos, 0, 0})
		default:
			t.Fatalf("unknown transformation %s", one)
		}
	}
	return m
}

// lettering is a text of a picture and its four corners.
type lettering struct {
	words   string
	corners [4][2]float64
}

// letterings are the texts of an SVG picture.
func letterings(t *testing.T, svg []byte) (list []lettering) {
	t.Helper()
	stack := []matrix{{1, 0, 0, 1, 0, 0}}
	in := xml.NewDecoder(strings.NewReader(string(svg)))
	var x, y, long, size float64
	inText := false
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		top := stack[len(stack)-1]
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			for _, a := range e.Attr {
				value := a.Value
				switch a.Name.Local {
				case "transform":
					top = top.times(transform(t, value))
				case "x":
					_, err = fmt.Sscan(value, &x)
				case "y":
					_, err = fmt.Sscan(value, &y)
				case "textLength":
					_, err = fmt.Sscan(value, &long)
				case "style":
					if _, after, ok := strings.Cut(value, "font-size:"); ok {
						before, _, _ := strings.Cut(after, "px")
						_, err = fmt.Sscan(before, &size)
					}
				}
				if err != nil && inText {
					t.Fatal(a, err)
				}
			}
			stack = append(stack, top)
		case xml.EndElement:
			stack, inText = stack[:len(stack)-1], false
		case xml.CharData:
			if words := strings.TrimSpace(string(e)); inText && words != "" { // letters reach from a fifth below the line to seven tenths above
				list = append(list, lettering{words, [4][2]float64{top.at(x, y-0.7*size), top.at(x+long, y-0.7*size), top.at(x+long, y+0.2*size), top.at(x, y+0.2*size)}})
			}
		}
	}
}

// touch tells whether two texts share a place: no side of either parts them.
func touch(a, b *lettering) bool {
	for _, c := range [][4][2]float64{a.corners, b.corners} {
		for i := range 2 {
			nx, ny := c[i+1][1]-c[i][1], c[i][0]-c[i+1][0]
			reach := func(l *lettering) (lo, hi float64) {
				lo, hi = math.Inf(1), math.Inf(-1)
				for _, p := range l.corners {
					v := p[0]*nx + p[1]*ny
					lo, hi = min(lo, v), max(hi, v)
				}
				return lo, hi
			}
			a0, a1 := reach(a)
			b0, b1 := reach(b)
			if a1 <= b0 || b1 <= a0 {
				return false
			}
		}
	}
	return true
}

// TestTextsDoNotOverlap: in every picture of the shipped settings, of every recorded folder and size, no text touches another or leaves the
// picture; with long names, many series and points on one spot neither.
func TestTextsDoNotOverlap(t *testing.T) {
	settings := strings.NewReplacer("    - gpu_utilization_and_throughput_over_time\n", "    - gpu_utilization_and_throughput_over_time\n    - time_to_first_token\n    - request_latency\n    - distribution_of_input_sequence_lengths_to_output_sequence_lengths\n    - time_to_first_token_vs_input_sequence_lengths\n    - token_to_token_latency_vs_output_token_position\n").Replace(string(Default))
	pictures := map[string]*chart.Chart{}
	for _, folder := range []string{"single_c4", "single_gpu_c2", "multi_c1_c4_c8"} {
		list, _ := drawn(t, folder, settings)
		for name, c := range list {
			pictures[filepath.Join(folder, name)] = c
		}
	}
	crowd := &chart.Chart{Title: strings.Repeat("A title that is too long ", 9), Subtitle: strings.Repeat("below it another ", 20), X: chart.Axis{Title: strings.Repeat("x axis ", 40)}, Y: chart.Axis{Title: strings.Repeat("y axis ", 30)}, Notes: []string{strings.Repeat("a note ", 60), "another"}}
	for i := range 40 {
		crowd.Traces = append(crowd.Traces, chart.Trace{Name: fmt.Sprintf("group %d %s", i, strings.Repeat("of a model with a long name ", 3)), Kind: chart.Scatter, Mode: chart.LinesMarkers,
			X: []float64{1, 2 + float64(i)/50, 2}, Y: []float64{1, 1 + float64(i), 20}, Text: []string{"concurrency 1", "concurrency 10", "concurrency 100"}, Style: chart.Style{Color: "#023eff", Width: 2, Size: 9}})
	}
	pictures["crowd"] = crowd
	if len(pictures) < 20 {
		t.Fatalf("only %d pictures", len(pictures))
	}
	for name, c := range pictures {
		for _, size := range []render.Size{Sizes["small"], Sizes["large"]} {
			svg, err := render.SVG(c, chart.Themes["light"], size)
			if err != nil {
				t.Fatal(name, err)
			}
			texts := letterings(t, svg)
			if len(texts) < 5 {
				t.Errorf("%s: only %d texts", name, len(texts))
			}
			for i := range texts {
				for _, p := range texts[i].corners {
					if p[0] < 0 || p[1] < 0 || p[0] > size.Width || p[1] > size.Height {
						t.Errorf("%s, %.0f wide: %q leaves the picture", name, size.Width, texts[i].words)
						break
					}
				}
				for k := range i {
					if touch(&texts[i], &texts[k]) {
						t.Errorf("%s, %.0f wide: %q touches %q", name, size.Width, texts[i].words, texts[k].words)
					}
				}
			}
		}
	}
}
