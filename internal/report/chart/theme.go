package chart

// Theme holds the colours of a chart, as #rrggbb.
type Theme struct {
	Name              string
	Background, Panel string
	Text, Muted       string
	Grid              string
	Palette           []string // of traces without groups
	Groups            []string // of groups, in order
}

// Colours with a fixed meaning, the same in every theme.
const (
	Green = "#76B900"
	Gray  = "#999999"
	Line  = "#555555"
	Red   = "#E74C3C"
)

// The palettes "deep" and "bright" of seaborn: ten hues that also differ in lightness.
var (
	deep   = []string{"#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c", "#ccb974", "#64b5cd"}
	bright = []string{"#023eff", "#ff7c00", "#1ac938", "#e8000b", "#8b2be2", "#9f4800", "#f14cc1", "#a3a3a3", "#ffc400", "#00d7ff"}
)

// lightened is bright for a dark background: the blue of bright has too little contrast there.
var lightened = append([]string{"#6f8dff"}, bright[1:]...)

// Themes are the themes by name.
var Themes = map[string]*Theme{
	"light": {
		Name: "light", Background: "#FFFFFF", Panel: "#FFFFFF", Text: "#0a0a0a", Muted: "#555555", Grid: "#CCCCCC",
		Palette: deep, Groups: append([]string{Green}, bright...),
	},
	"dark": {
		Name: "dark", Background: "#1a1a1a", Panel: "#252525", Text: "#E0E0E0", Muted: "#A8A8A8", Grid: "#404040",
		Palette: append([]string{Green, "#F4E5C3"}, lightened...), Groups: append([]string{Green}, lightened...),
	},
}

// Color returns colour k of the palette; it starts again at the end.
func (t *Theme) Color(k int) string { return t.Palette[k%len(t.Palette)] }

// Symbols lists the markers of groups, so that people who cannot tell two colours apart see different markers.
var Symbols = []string{"", "square", "diamond", "triangle", "cross"}
