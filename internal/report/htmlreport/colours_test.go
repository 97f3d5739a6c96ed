package htmlreport

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"

	"aiperf/internal/report/chart"
)

// tokens are the colours of the pages by theme and name.
func tokens(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for theme, start := range map[string]string{"light": `:root \{`, "dark": `:root\[data-theme="dark"\] \{`} {
		block := regexp.MustCompile(start + `([^}]*)\}`).FindStringSubmatch(asset("page.css"))
		if block == nil {
			t.Fatalf("no colours of %s", theme)
		}
		all[theme] = map[string]string{}
		for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]+);`).FindAllStringSubmatch(block[1], -1) {
			if len(m[2]) == 4 {
				m[2] = "#" + m[2][1:2] + m[2][1:2] + m[2][2:3] + m[2][2:3] + m[2][3:4] + m[2][3:4]
			}
			all[theme][m[1]] = m[2]
		}
	}
	return all
}

// TestContrast: of pages and pictures, in both themes, texts have 4.5 against their ground and what is drawn 3 (WCAG 2.2, AA).
func TestContrast(t *testing.T) {
	if got := chart.Contrast("#767676", "#ffffff"); math.Abs(got-4.54) > 0.005 { // the grey that is known to be just enough
		t.Fatalf("%v", got)
	}
	check := func(what, a, b string, least float64) {
		if got := chart.Contrast(a, b); got < least {
			t.Errorf("%s: %s on %s has %.2f, less than %v", what, a, b, got, least)
		}
	}
	for theme, c := range tokens(t) {
		if len(c) < 24 {
			t.Fatalf("%s has %d colours", theme, len(c))
		}
		for _, ground := range []string{"bg", "panel"} {
			for _, name := range []string{"ink", "mute", "link"} {
				check(theme+" "+name, c[name], c[ground], 4.5)
			}
		}
		for _, name := range []string{"ok", "warn", "bad"} {
			check(theme+" "+name, c[name], c[name+"-bg"], 4.5)
			check(theme+" ink in a box", c["ink"], c[name+"-bg"], 4.5)
		}
		for _, name := range []string{"p50", "p90", "p99", "dot", "wait", "prefill", "decode", "fail", "warmup", "phase", "slow"} {
			check(theme+" "+name, c[name], c["panel"], 3)
		}
	}
	for name, theme := range chart.Themes {
		for _, ground := range []string{theme.Background, theme.Panel} {
			check(name+" text", theme.Text, ground, 4.5)
			check(name+" notes", theme.Muted, ground, 4.5)
		}
		for _, hue := range append(append([]string{chart.Gray, chart.Red, chart.Green}, theme.Palette...), theme.Groups...) {
			if edge := theme.Edge(hue); edge != "" {
				hue = edge
			}
			check(name+" series", hue, theme.Panel, 3)
		}
	}
}

// deficiencies are how people without one kind of cone see linear red, green and blue (Machado, Oliveira, Fernandes 2009, severity 1).
var deficiencies = map[string][9]float64{
	"protan": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deutan": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritan": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
	"none":   {1, 0, 0, 0, 1, 0, 0, 0, 1},
}

// lab is a colour in CIE L*a*b* (D65) as somebody sees it.
func lab(t *testing.T, hex string, as [9]float64) [3]float64 {
	t.Helper()
	v, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	var linear, seen [3]float64
	for i := range linear {
		one := float64(v>>(16-8*i)&255) / 255
		if one <= 0.04045 {
			one /= 12.92
		} else {
			one = math.Pow((one+0.055)/1.055, 2.4)
		}
		linear[i] = one
	}
	for i := range seen {
		seen[i] = min(max(as[3*i]*linear[0]+as[3*i+1]*linear[1]+as[3*i+2]*linear[2], 0), 1)
	}
	f := func(v float64) float64 {
		if v > 216./24389 {
			return math.Cbrt(v)
		}
		return (24389./27*v + 16) / 116
	}
	x := f((0.4124564*seen[0] + 0.3575761*seen[1] + 0.1804375*seen[2]) / 0.95047)
	y := f(0.2126729*seen[0] + 0.7151522*seen[1] + 0.0721750*seen[2])
	z := f((0.0193339*seen[0] + 0.1191920*seen[1] + 0.9503041*seen[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestColourBlind: colours next to each other in a picture can be distinguished by everybody: different meanings are 12 or more apart (CIE
// 1976) for every deficiency, or what is drawn with them differs in its dashes or its marker as well.
func TestColourBlind(t *testing.T) {
	least := 12.0
	check := func(what, a, b string) {
		for name, as := range deficiencies {
			p, q := lab(t, a, as), lab(t, b, as)
			if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d < least {
				t.Errorf("%s: %s and %s are %.1f apart for %s", what, a, b, d, name)
			}
		}
	}
	for theme, c := range tokens(t) {
		for _, pair := range [][2]string{
			{"wait", "prefill"}, {"prefill", "decode"}, {"wait", "fail"}, {"decode", "fail"}, {"prefill", "fail"}, {"wait", "decode"}, // parts of a request
			{"p50", "p90"}, {"p50", "p99"}, {"p90", "p99"}, {"p50", "fail"}, {"p50", "decode"},
		} {
			check(theme+" "+pair[0]+", "+pair[1], c[pair[0]], c[pair[1]])
		}
	}
	for name, theme := range chart.Themes { // three lines over time, and the first groups
		for _, list := range [][]string{theme.Palette[:2], theme.Groups[:5]} {
			for i := range list {
				for k := range i {
					if len(list) == 5 && chart.Symbols[i] != chart.Symbols[k] {
						continue // their markers differ
					}
					check(fmt.Sprintf("%s, series %d and %d", name, k, i), list[i], list[k])
				}
			}
		}
		for i := range theme.Groups {
			for k := range i {
				if i%len(chart.Symbols) == k%len(chart.Symbols) {
					check(fmt.Sprintf("%s, groups %d and %d", name, k, i), theme.Groups[i], theme.Groups[k])
				}
			}
		}
	}
}
