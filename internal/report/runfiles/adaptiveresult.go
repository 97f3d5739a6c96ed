package runfiles

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"aiperf/internal/measure/metric"
)

// adaptiveFile lists the adaptive phases and their files.
const adaptiveFile = "adaptive_scale_manifest.json"

// Adaptive returns the results of the adaptive phases in their order; nil = there are none.
func (r *Run) Adaptive() (list []metric.AdaptiveResult, err error) {
	var manifest struct {
		Phases []struct {
			Name    string `json:"phase_name"`
			Events  string `json:"events_path"`
			Summary string `json:"summary_path"`
		} `json:"adaptive_phases"`
	}
	if err := r.document(adaptiveFile, &manifest); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for _, p := range manifest.Phases {
		if !filepath.IsLocal(p.Events) || !filepath.IsLocal(p.Summary) {
			continue // not written by a run of ours
		}
		one := metric.AdaptiveResult{Phase: p.Name, LastGood: math.NaN(), FirstBad: math.NaN()}
		if err := r.adaptiveSummary(p.Summary, &one); err != nil {
			return nil, err
		}
		if err := r.adaptiveWindows(p.Events, &one); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// adaptiveSummary reads the result; a run that was killed has none.
func (r *Run) adaptiveSummary(name string, s *metric.AdaptiveResult) error {
	var sum struct {
		Why   string   `json:"completed_reason"`
		Kept  *float64 `json:"last_passing_value"`
		Broke *float64 `json:"first_failing_value"`
	}
	if err := r.document(name, &sum); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	s.Why = sum.Why
	if sum.Kept != nil {
		s.LastGood = *sum.Kept
	}
	if sum.Broke != nil {
		s.FirstBad = *sum.Broke
	}
	return nil
}

// levelWords maps the operators of conditions to symbols.
var levelWords = map[string]string{"lt": "<", "le": "≤", "gt": ">", "ge": "≥"}

// level formats a condition metric:stat:op:threshold for people.
func level(key string) string {
	parts := strings.Split(key, ":")
	if len(parts) != 4 || levelWords[parts[2]] == "" {
		return key
	}
	return strings.ReplaceAll(parts[0], "_", " ") + " " + parts[1] + " " + levelWords[parts[2]] + " " + parts[3]
}

// adaptiveWindows reads the windows, and the load after each.
func (r *Run) adaptiveWindows(name string, s *metric.AdaptiveResult) error {
	var (
		begun int64
		keys  []string // of the conditions, in order of appearance
		seen  []map[string]float64
	)
	err := r.lines(name, func(v *fastjson.Value) error {
		at, last := v.GetInt64("timestamp_ns"), len(s.Windows)-1
		s.Variable = string(v.GetStringBytes("control_variable"))
		if begun == 0 {
			begun = at
		}
		if string(v.GetStringBytes("event")) != "adaptive_window" {
			if last >= 0 {
				s.Windows[last].Next = v.GetFloat64("control_value_after")
			}
			return nil
		}
		w := metric.AdaptiveWindow{
			End: time.Duration(at - begun), Load: v.GetFloat64("control_value_before"), Requests: v.GetInt64("completed"), Errors: v.GetInt64("errored"),
			Held: string(v.GetStringBytes("phase")) == "sustain", Level: "open", Next: v.GetFloat64("control_value_after"),
		}
		switch passed := v.Get("sla_passed"); {
		case passed == nil || passed.Type() == fastjson.TypeNull:
		case passed.GetBool():
			w.Level = "kept"
		default:
			w.Level = "broken"
		}
		values := map[string]float64{}
		if o := v.GetObject("sla_values"); o != nil {
			o.Visit(func(key []byte, v *fastjson.Value) {
				if f, err := v.Float64(); err == nil {
					values[string(key)] = f
				}
				if !slices.Contains(keys, string(key)) {
					keys = append(keys, string(key))
				}
			})
		}
		s.Windows, seen = append(s.Windows, w), append(seen, values)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	slices.Sort(keys)
	for _, key := range keys {
		s.Levels = append(s.Levels, level(key))
	}
	for i := range s.Windows {
		for _, key := range keys {
			v, ok := seen[i][key]
			if !ok {
				v = math.NaN()
			}
			s.Windows[i].Values = append(s.Windows[i].Values, v)
		}
	}
	return err
}
