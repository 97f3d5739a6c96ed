package synth

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/rng"
)

// Style selects the benchmark whose lengths and random prompts are imitated.
type Style string

// Styles of lengths.
const (
	VLLM   Style = "vllm"
	SGLang Style = "sglang"
)

// Ratio is the width of the length windows, relative to their means.
type Ratio struct {
	Style         Style
	Input, Output float64
}

// ParseRatio parses a ratio: one number, or {"input": x, "output": y} in the style of vLLM.
func ParseRatio(text string, style Style) (Ratio, error) {
	r := Ratio{Style: style}
	text = strings.TrimSpace(text)
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		r.Input, r.Output = f, f
		return r, r.check()
	}
	var both map[string]float64
	if err := json.Unmarshal([]byte(text), &both); err != nil || both == nil {
		return r, fmt.Errorf(`%q: must be a number or, in the style of vllm, {"input": 0.3, "output": 0.5}`, text)
	}
	if style == SGLang {
		return r, fmt.Errorf("%s: sglang has a single ratio for input and output; give one number", text)
	}
	if keys := slices.Sorted(maps.Keys(both)); !slices.Equal(keys, []string{"input", "output"}) {
		return r, fmt.Errorf("the keys must be input and output, got %s", strings.Join(keys, ", "))
	}
	r.Input, r.Output = both["input"], both["output"]
	return r, r.check()
}

func (r Ratio) check() error {
	for _, v := range []float64{r.Input, r.Output} {
		switch {
		case r.Style == SGLang && !(v >= 0 && v <= 1):
			return fmt.Errorf("must be from 0 to 1, got %g", v)
		case r.Style != SGLang && !(v >= 0 && v < 1):
			return fmt.Errorf("must be at least 0 and below 1, got %g", v)
		}
	}
	return nil
}

// Window is the range of lengths, in tokens. Lengths are drawn uniformly, both ends included.
type Window struct {
	Style         Style
	Input, Output [2]int
	special       int // tokens subtracted from a drawn length
}

// Window returns the window around the mean lengths. special is the number of tokens that the tokenizer adds to a text.
func (r Ratio) Window(isl, osl, special int) Window {
	w := Window{Style: r.Style}
	if r.Style == SGLang {
		w.special = special
		w.Input = [2]int{max(1, int(float64(isl)*r.Input)), isl}
		w.Output = [2]int{max(1, int(float64(osl)*r.Output)), osl}
		return w
	}
	mean := float64(max(0, isl-special))
	w.Input = [2]int{max(0, int(math.Floor(mean*(1-r.Input)))), int(math.Ceil(mean * (1 + r.Input)))}
	w.Output = [2]int{max(1, int(math.Floor(float64(osl)*(1-r.Output)))), max(1, int(math.Ceil(float64(osl)*(1+r.Output))))}
	return w
}

// windowLengths draws lengths from a window.
type windowLengths struct {
	Window
	drawn [][2]int // drawn ahead, like in the imitated benchmark
	next  int
	live  *rng.Numpy
}

func newWindowLengths(w Window, root *rng.Root) *windowLengths {
	return &windowLengths{Window: w, live: root.Stream("models.range_ratio.distribution").Numpy()}
}

// ahead draws the lengths of n requests from the generator of the style, all inputs first. It returns that generator.
func (l *windowLengths) ahead(n int, root *rng.Root) *generator {
	g := &generator{}
	if l.Style == SGLang {
		g.legacy = root.Legacy()
	} else {
		g.numpy = root.Numpy()
	}
	l.drawn = make([][2]int, n)
	for i := range l.drawn {
		l.drawn[i][0] = l.input(g)
	}
	for i := range l.drawn {
		l.drawn[i][1] = g.Integers(l.Output[0], l.Output[1]+1)
	}
	return g
}

func (l *windowLengths) input(g integers) int {
	n := g.Integers(l.Input[0], l.Input[1]+1)
	if l.Style == SGLang {
		n = max(1, n-l.special)
	}
	return n
}

// draw returns the input and output length of the next turn.
func (l *windowLengths) draw() (isl, osl int) {
	if l.next < len(l.drawn) {
		pair := l.drawn[l.next]
		l.next++
		return pair[0], pair[1]
	}
	return l.input(l.live), l.live.Integers(l.Output[0], l.Output[1]+1)
}
