package config

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
)

// rows checks every value against the bounds and the choices of its row, whether it came from a flag, a file or the environment. The bounds of the
// measured phase apply to every phase. If several flags share a key, the bounds of the first one apply.
func (v *violations) rows(r *Run) {
	all := SharedRows()
	for i := range all {
		row := &all[i]
		rest, phase := strings.CutPrefix(row.Key, "phases.profiling.")
		switch {
		case row.Key == "" || RowsOf(row.Key)[0].Name() != row.Name() || row.NoEffect != "" && row.Env == "" || row.Manual && row.Kind == setting.Enum:
		case phase:
			for k := range r.Phases {
				v.row(r, row, "phases."+r.Phases[k].Name+"."+rest)
			}
		case strings.HasPrefix(row.Key, "phases."):
		default:
			v.row(r, row, row.Key)
		}
	}
}

func (v *violations) row(r *Run, row *setting.Row, key string) {
	at, omitted, ok := r.place(key, false)
	if !ok || at.Kind() == reflect.Pointer && at.IsNil() {
		return
	}
	optional := at.Kind() == reflect.Pointer
	at = reflect.Indirect(at)
	if at.IsZero() && !optional && (omitted || row.Zero) {
		return
	}
	path := r.LongKey(key)
	switch {
	case row.Kind == setting.Enum && at.Kind() == reflect.String && row.Choices != nil:
		choices := row.Values()
		if row.KeyChoices != nil {
			choices = row.KeyChoices
		}
		if !slices.Contains(choices, at.String()) {
			v.refuse(path, "%q is not one of %s", at.String(), strings.Join(choices, ", "))
		}
	case at.CanInt():
		v.number(path, row, float64(at.Int()))
	case at.CanFloat():
		v.number(path, row, at.Float())
	}
}

func (v *violations) number(path string, row *setting.Row, f float64) {
	bounds := row.Bounds
	if row.KeyBounds != "" {
		bounds = row.KeyBounds
	}
	if f == 0 && row.Zero || strings.Contains(path, ".cancellation.") && f == 0 && bounds == "" {
		return
	}
	err := setting.CheckBounds(f, bounds)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) && !row.Inf && row.Kind == setting.Float:
		v.refuse(path, "must be %s, not %v", strings.TrimPrefix(setting.BoundsText(bounds)+" and finite", " and "), f)
	case err != nil:
		v.refuse(path, "%v, not %v", err, f)
	}
}

// refuse adds the only error at a path: what other settings say of a value that is refused anyway does not help.
func (v *violations) refuse(path, format string, a ...any) {
	v.addIf(true, path, format, a...)
	v.refused[path] = true
}

// LongKey returns the full path of a setting's key in a file: below "benchmark:" or at the top level, with the names of the data set and the phases.
func (r *Run) LongKey(key string) string {
	head, rest, _ := strings.Cut(key, ".")
	switch {
	case slices.Contains(envelope, head):
		return key
	case head == "datasets" && len(r.Datasets) > 0:
		_, tail, _ := strings.Cut(rest, ".")
		return "benchmark.datasets." + r.Dataset().Name + "." + tail
	case head == "phases":
		kind, tail, below := strings.Cut(rest, ".")
		if p := r.firstOf(PhaseKind(kind)); p != nil && below {
			return "benchmark.phases." + p.Name + "." + tail
		}
	}
	return "benchmark." + key
}

// ShortKey returns the row's key (setting.Row.Key) for a path in a file.
func (r *Run) ShortKey(path string) string {
	key := strings.TrimPrefix(path, "benchmark.")
	parts := strings.Split(key, ".")
	switch {
	case parts[0] == "datasets" && len(parts) > 1:
		parts[1] = "main"
	case parts[0] == "phases" && len(parts) > 1:
		for i := range r.Phases {
			if p := &r.Phases[i]; p.Name == parts[1] && r.firstOf(p.Kind) == p {
				parts[1] = string(p.Kind)
			}
		}
	}
	return strings.Join(parts, ".")
}
