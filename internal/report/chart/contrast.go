package chart

import (
	"fmt"
	"math"
	"strconv"
)

// enough is the contrast that graphics need with their background (WCAG 2.2, 1.4.11).
const enough = 3

// channels returns red, green and blue of #rrggbb, each 0 to 1; gray if hex is not a colour.
func channels(hex string) [3]float64 {
	v, err := strconv.ParseUint(hex[min(1, len(hex)):], 16, 32)
	if err != nil {
		v = 0x808080
	}
	return [3]float64{float64(v>>16&255) / 255, float64(v>>8&255) / 255, float64(v&255) / 255}
}

// Contrast returns the contrast ratio of two colours #rrggbb, from 1 to 21, as WCAG 2.2 defines it.
func Contrast(a, b string) float64 {
	luminance := func(hex string) float64 {
		sum := 0.0
		for i, v := range channels(hex) {
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += v * [3]float64{0.2126, 0.7152, 0.0722}[i]
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Edge returns the colour of a thin rim around lines and markers with too little contrast against the panel of a theme: the same hue, closer to the
// colour of the text. It returns "" if the contrast is sufficient.
func (t *Theme) Edge(hex string) string {
	if hex == "" || Contrast(hex, t.Panel) >= enough {
		return ""
	}
	from, to := channels(hex), channels(t.Text)
	for share := 0.1; share < 1; share += 0.1 {
		mixed := "#"
		for i := range from {
			mixed += fmt.Sprintf("%02x", int(math.Round(255*(from[i]+(to[i]-from[i])*share))))
		}
		if Contrast(mixed, t.Panel) >= enough {
			return mixed
		}
	}
	return t.Text
}
