package rules

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/public"
)

// Prefixes of keys.
const (
	measured = "phases.profiling."
	data     = "datasets.main."
	prompts  = "datasets.main.prompts."
)

// phase returns the measured phase, or an empty one if there is none, which config reports.
func (s *Subject) phase() *config.Phase {
	if p := s.Profiling(); p != nil {
		return p
	}
	return &config.Phase{}
}

func fixed(s *Subject) bool      { return s.phase().Type == config.PhaseFixedSchedule }
func users(s *Subject) bool      { return s.phase().Type == config.PhaseUserCentric }
func unstreamed(s *Subject) bool { return !s.Run.Endpoint.Streaming }
func promoted(s *Subject) bool   { return s.Promoted != "" }

// schedule names the fixed schedule and how it was chosen.
func (s *Subject) schedule() string {
	if promoted(s) {
		return s.Promoted
	}
	return "{" + measured + "type=fixed_schedule}"
}

// withFile reports whether there is an input file.
func withFile(s *Subject) bool { return s.File != nil }

// ownData reports whether conversations come from outside: a file or a public dataset.
func ownData(s *Subject) bool {
	d := s.Dataset()
	return d.Type != config.DatasetSynthetic || d.Path != "" || d.Records != nil || s.wrote(data+"dataset")
}

func generated(s *Subject) bool { return !ownData(s) }

// unpublished reports whether the conversations do not come from a public dataset.
func unpublished(s *Subject) bool { return s.Dataset().Type != config.DatasetPublic }

// published returns the public dataset of the conversations; nil = none.
func (s *Subject) published() *public.Set {
	if d := s.Dataset(); d.Type == config.DatasetPublic {
		return public.Find(d.Dataset)
	}
	return nil
}

// agentless reports whether the conversations are not recorded agents.
func agentless(s *Subject) bool {
	set := s.published()
	return !(set != nil && set.Agents) && !(s.File != nil && s.File.Format.Agents)
}

// columnless reports whether the conversations do not come from a trace in columns.
func columnless(s *Subject) bool { return s.File == nil || !s.File.Format.Columns }

// untraced reports whether there is no recorded traffic to replay.
func untraced(s *Subject) bool { return (s.File == nil || !s.File.Format.Trace) && agentless(s) }

// blockless reports whether conversations from outside have no hash ids, or say how many tokens a hash id stands for.
func blockless(s *Subject) bool {
	return s.published() != nil || s.File != nil && (!s.File.Format.Trace || s.File.Format.OwnBlocks)
}

// verbatim reports whether the file contains complete bodies.
func verbatim(s *Subject) bool { return s.File != nil && s.File.Format.Verbatim() }

// pool reports whether contents are drawn from a file.
func pool(s *Subject) bool { return s.File != nil && s.File.Format.Sampled }

// ranks reports whether the endpoint type takes a query and passages.
func ranks(s *Subject) bool { return s.Endpoint != nil && s.Endpoint.Ranks() }

// neither reports whether the endpoint type neither takes nor produces text.
func neither(s *Subject) bool {
	return s.Endpoint != nil && !s.Endpoint.TokenizesInput && !s.Endpoint.ProducesTokens
}

// untold reports whether the endpoint type produces no tokens.
func untold(s *Subject) bool { return s.Endpoint != nil && !s.Endpoint.ProducesTokens }

// is returns a condition: the endpoint type is known and has this name.
func is(name string) func(*Subject) bool {
	return func(s *Subject) bool { return s.Endpoint != nil && s.Run.Endpoint.Type == name }
}

// other returns a condition: the endpoint type is known and has another name.
func other(name string) func(*Subject) bool {
	return func(s *Subject) bool { return s.Endpoint != nil && s.Run.Endpoint.Type != name }
}

// not negates a condition.
func not(when func(*Subject) bool) func(*Subject) bool {
	return func(s *Subject) bool { return !when(s) }
}

// all returns a condition that is true if all conditions of the list are.
func all(list ...func(*Subject) bool) func(*Subject) bool {
	return func(s *Subject) bool {
		for _, one := range list {
			if !one(s) {
				return false
			}
		}
		return true
	}
}

// unawaited reports whether settings of the wait for the model differ from their defaults although the run does not wait.
func unawaited(s *Subject) bool {
	e, standard := &s.Run.Endpoint, config.Default().Endpoint
	return e.WaitForModelTimeout == 0 && (e.WaitForModelMode != standard.WaitForModelMode || e.WaitForModelEvery != standard.WaitForModelEvery)
}

// marker returns where the marker goes that defeats prefix caches.
func marker(s *Subject) string { return s.Dataset().CacheBustTarget() }

// marked reports whether prompts get such a marker.
func marked(s *Subject) bool { return marker(s) != config.CacheBustNone }

// asked returns the mean output length for generated prompts, and for rows of a file that give none.
func asked(s *Subject) float64 {
	d := s.Dataset()
	if d.OSL != nil || d.Prompts == nil {
		return d.OSL.MeanOr(0)
	}
	return d.Prompts.OSL.MeanOr(0)
}

// simulated reports whether every server is simulated.
func simulated(s *Subject) bool {
	for _, u := range s.Run.Endpoint.URLs {
		if !strings.HasPrefix(strings.ToLower(u), "mock://") {
			return false
		}
	}
	return len(s.Run.Endpoint.URLs) > 0
}

// oneTrial reports whether no run is repeated.
func oneTrial(s *Subject) bool { return s.MultiRun.NumRuns == 1 }

// once reports whether the benchmark runs only once.
func once(s *Subject) bool { return oneTrial(s) && s.Sweep == nil }

// records reports whether record files are written.
func records(s *Subject) bool { return len(s.Artifacts.Records) > 0 || s.Artifacts.Raw }

// noSummary reports whether no summary JSON is written.
func noSummary(s *Subject) bool { return !s.Artifacts.Summary.Has("json") }

// lists returns the axes of a sweep over settings for which a flag takes a list.
func (s *Subject) lists() (axes []config.Axis) {
	if s.Sweep == nil {
		return nil
	}
	for _, a := range s.Sweep.Parameters {
		sweeps := func(row setting.Row) bool { return row.Sweep }
		if len(a.Values) > 1 && slices.ContainsFunc(config.RowsOf(s.ShortKey(a.Path)), sweeps) {
			axes = append(axes, a)
		}
	}
	return axes
}

// span returns the smallest and the largest number of a setting, which has several in a sweep; ok is false if it has none.
func (s *Subject) span(key string) (least, most float64, ok bool) {
	values := []any{s.Lookup(key)}
	for _, a := range s.lists() {
		if s.ShortKey(a.Path) == key {
			values = a.Values
		}
	}
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if n := reflect.ValueOf(v); n.IsValid() && n.CanConvert(reflect.TypeFor[float64]()) {
			f := n.Convert(reflect.TypeFor[float64]()).Float()
			least, most = min(least, f), max(most, f)
		}
	}
	return least, most, least <= most
}
