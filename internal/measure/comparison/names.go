package comparison

import (
	"path/filepath"
	"slices"
	"strings"
)

// longestName is the longest short name of a side, in characters.
const longestName = 40

// Sides returns short names of the sides: the first of label, URL, model and directory in which they differ.
func (r *Result) Sides() (a, b string) {
	for _, of := range []func(*Run) string{
		func(one *Run) string { return one.Target.Label },
		func(one *Run) string { return strings.TrimSuffix(one.Target.URL, "/") },
		func(one *Run) string { return one.Target.Model },
		func(one *Run) string { return filepath.Base(seriesOf(one.Path)) },
		func(one *Run) string {
			if len(r.A)+len(r.B) > 2 {
				return "" // a list of runs is too long for a name
			}
			return filepath.Base(one.Path)
		},
	} {
		if a, b = together(r.A, of), together(r.B, of); a != b && a != "" && b != "" {
			return shortened(a), shortened(b)
		}
	}
	return "A", "B"
}

// seriesOf returns the directory that was given for a run: that of its series, if it has one.
func seriesOf(path string) string {
	if above := filepath.Dir(path); filepath.Base(above) == "profile_runs" || filepath.Base(above) == "blocks" {
		return filepath.Dir(above)
	}
	return path
}

// Described says what the runs of a side measured: "m at http://host:8000".
func Described(side []Run) string {
	return together(side, func(r *Run) string { return r.Target.String() })
}

// together joins the different texts of the runs of a side.
func together(side []Run, of func(*Run) string) string {
	var list []string
	for i := range side {
		if text := of(&side[i]); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}

// shortened cuts a text in its middle, where URLs differ least.
func shortened(text string) string {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "http://"), "https://")
	all := []rune(text)
	if len(all) <= longestName {
		return text
	}
	half := (longestName - 1) / 2
	return string(all[:half]) + "…" + string(all[len(all)-half:])
}

// Brief returns one line per outcome: the statistics that have it, with what a table of the figures lacks: reasons, and what would decide.
func (r *Result) Brief() (lines []string) {
	for _, o := range []Outcome{Worse, Better, Cannot, Same} {
		var whys []string
		names := map[string][]string{}
		for i := range r.Lines {
			l := &r.Lines[i]
			if l.Outcome != o {
				continue
			}
			why := l.why()
			if names[why] == nil {
				whys = append(whys, why)
			}
			names[why] = append(names[why], l.name())
		}
		var parts []string
		for _, why := range whys {
			part := strings.Join(names[why], ", ")
			if why != "" {
				part += " (" + why + ")"
			}
			parts = append(parts, part)
		}
		if parts != nil {
			lines = append(lines, strings.ToUpper(string(o)[:1])+string(o)[1:]+": "+strings.Join(parts, "; ")+".")
		}
	}
	return lines
}
