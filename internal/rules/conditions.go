package rules

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/dataset/public"
	"aiperf/internal/setting"
)

// The beginnings of keys.
const (
	measured = "phases.profiling."
	data     = "datasets.main."
	prompts  = "datasets.main.prompts."
)

// phase is the measured phase; an empty one where there is none, which config tells.
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

// schedule names the fixed schedule, and how it came about.
func (s *Subject) schedule() string {
	if promoted(s) {
		return s.Promoted
	}
	return "{" + measured + "type=fixed_schedule}"
}

// withFile reports whether there is an input file.
func withFile(s *Subject) bool { return s.File != nil }

// ownData reports whether conversations come from outside: a file or a public set.
func ownData(s *Subject) bool {
	d := s.Dataset()
	return d.Type != config.DatasetSynthetic || d.Path != "" || d.Records != nil || s.wrote(data+"dataset")
}

func generated(s *Subject) bool { return !ownData(s) }

// unpublished reports whether the conversations come from no published set.
func unpublished(s *Subject) bool { return s.Dataset().Type != config.DatasetPublic }

// published is the public set that the conversations come from; nil = none.
func (s *Subject) published() *public.Set {
	if d := s.Dataset(); d.Type == config.DatasetPublic {
		return public.Find(d.Dataset)
	}
	return nil
}

// agentless reports whether the conversations are no recorded agents.
func agentless(s *Subject) bool {
	set := s.published()
	return !(set != nil && set.Agents) && !(s.File != nil && s.File.Format.Agents)
}

// columnless reports whether the conversations come from no trace of columns.
func columnless(s *Subject) bool { return s.File == nil || !s.File.Format.Columns }

// untraced reports whether there is no recorded traffic to replay.
func untraced(s *Subject) bool { return (s.File == nil || !s.File.Format.Trace) && agentless(s) }

// blockless reports whether conversations from outside have no hash ids, or tell how many tokens one stands for.
func blockless(s *Subject) bool {
	return s.published() != nil || s.File != nil && (!s.File.Format.Trace || s.File.Format.OwnBlocks)
}

// verbatim reports whether bodies come ready from a file.
func verbatim(s *Subject) bool { return s.File != nil && s.File.Format.Verbatim() }

// pool reports whether contents are drawn from a file.
func pool(s *Subject) bool { return s.File != nil && s.File.Format.Sampled }

// ranks reports whether the endpoint type takes a query and passages.
func ranks(s *Subject) bool { return s.Endpoint != nil && s.Endpoint.Ranks() }

// neither reports whether the endpoint type takes and gives no text.
func neither(s *Subject) bool {
	return s.Endpoint != nil && !s.Endpoint.TokenizesInput && !s.Endpoint.ProducesTokens
}

// untold reports whether the endpoint type produces no tokens.
func untold(s *Subject) bool { return s.Endpoint != nil && !s.Endpoint.ProducesTokens }

// is reports whether the endpoint type is known and of a name.
func is(name string) func(*Subject) bool {
	return func(s *Subject) bool { return s.Endpoint != nil && s.Run.Endpoint.Type == name }
}

// other reports whether the endpoint type is known and not of a name.
func other(name string) func(*Subject) bool {
	return func(s *Subject) bool { return s.Endpoint != nil && s.Run.Endpoint.Type != name }
}

// not turns a condition round.
func not(when func(*Subject) bool) func(*Subject) bool {
	return func(s *Subject) bool { return !when(s) }
}

// all joins conditions.
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

// unawaited reports whether nobody waits for the model, though how to is set: to something else than the defaults.
func unawaited(s *Subject) bool {
	e, standard := &s.Run.Endpoint, config.Default().Endpoint
	return e.WaitForModelTimeout == 0 && (e.WaitForModelMode != standard.WaitForModelMode || e.WaitForModelEvery != standard.WaitForModelEvery)
}

// marker is where a marker goes that defeats prefix caches.
func marker(s *Subject) string { return s.Dataset().CacheBustTarget() }

// marked reports whether there is one.
func marked(s *Subject) bool { return marker(s) != config.CacheBustNone }

// asked is the mean output length that generated prompts or a file's rows without one ask for.
func asked(s *Subject) float64 {
	d := s.Dataset()
	if d.OSL != nil || d.Prompts == nil {
		return d.OSL.MeanOr(0)
	}
	return d.Prompts.OSL.MeanOr(0)
}

// simulated reports whether every server is the embedded one.
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

// once reports whether the benchmark runs a single time.
func once(s *Subject) bool { return oneTrial(s) && s.Sweep == nil }

// records reports whether record files are written.
func records(s *Subject) bool { return len(s.Artifacts.Records) > 0 || s.Artifacts.Raw }

// noSummary reports whether no summary JSON is written.
func noSummary(s *Subject) bool { return !s.Artifacts.Summary.Has("json") }

// lists are the axes of a sweep over settings of which a flag takes a list.
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

// span is the least and the most of the numbers that a setting has, several when it is swept; ok is false where it has none.
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
