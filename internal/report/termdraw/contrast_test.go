package termdraw

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// luminance is the relative luminance of a colour (WCAG 2, of sRGB).
func luminance(rgb int) float64 {
	linear := func(c int) float64 {
		v := float64(c&255) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8) + 0.0722*linear(rgb)
}

// contrast is the ratio of WCAG 2 between two colours, 1 to 21.
func contrast(a, b int) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func number(t *testing.T, hex string) (rgb int) {
	t.Helper()
	if _, err := fmt.Sscanf(hex, "#%06x", &rgb); err != nil {
		t.Fatalf("%s: %v", hex, err)
	}
	return rgb
}

// Contrast that text needs: usual text, and bold or marks next to words of the same meaning.
const (
	textContrast = 4.5
	markContrast = 3
)

func TestContrastOfPictures(t *testing.T) {
	if got := contrast(0, 0xffffff); math.Abs(got-21) > 1e-9 {
		t.Fatalf("black on white: %v", got)
	}
	for name, h := range map[string]*Palette{"dark": &Dark, "light": &Light} {
		ground := number(t, h.Ground)
		for ink := range inks {
			if ink == Question { // the ground on the text's colour
				continue
			}
			if got := contrast(number(t, h.hueOf(ink)), ground); got < textContrast {
				t.Errorf("%s, ink %d: %s has %.2f", name, ink, h.hueOf(ink), got)
			}
		}
	}
}

// TestContrastOnLight: of the 256 colours those for light grounds are read on white and on the paper of Solarized; the own yellow of common
// terminals is not, which is why there are others.
func TestContrastOnLight(t *testing.T) {
	levels := []int{0, 95, 135, 175, 215, 255}
	for _, c := range []string{lightColours.red, lightColours.green, lightColours.yellow, lightColours.cyan} {
		at, err := strconv.Atoi(strings.TrimPrefix(c, indexed))
		if err != nil || at < 16 || at > 231 {
			t.Fatalf("%s is none of the cube that all terminals have alike", c)
		}
		n := at - 16
		rgb := levels[n/36]<<16 | levels[n/6%6]<<8 | levels[n%6]
		for _, ground := range []int{0xffffff, 0xfdf6e3, 0xeeeeee} {
			if got := contrast(rgb, ground); got < textContrast {
				t.Errorf("colour %d (#%06x) on #%06x: %.2f", at, rgb, ground, got)
			}
		}
	}
	if got := contrast(0xc4a000, 0xffffff); got > markContrast {
		t.Errorf("Tango's yellow on white: %.2f", got)
	}
}

// TestContrastOfTerminals: the four of the 16 colours that are used, as common dark terminals have them.
func TestContrastOfTerminals(t *testing.T) {
	for name, p := range map[string]struct{ ground, red, green, yellow, cyan int }{
		"xterm":            {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x00cdcd},
		"GNOME (Tango)":    {0x171421, 0xc01c28, 0x26a269, 0xa2734c, 0x2aa1b3},
		"Windows Terminal": {0x0c0c0c, 0xc50f1f, 0x13a10e, 0xc19c00, 0x3a96dd},
		"VS Code":          {0x1e1e1e, 0xcd3131, 0x0dbc79, 0xe5e510, 0x11a8cd},
	} {
		if got := contrast(p.red, p.ground); got < 2.9 { // always bold, and always next to a word or a mark
			t.Errorf("%s: red has %.2f", name, got)
		}
		for _, c := range []int{p.green, p.yellow, p.cyan} {
			if got := contrast(c, p.ground); got < markContrast {
				t.Errorf("%s: #%06x has %.2f", name, c, got)
			}
		}
	}
}
