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

func fixedSchedule(s *Subject) bool    { return s.phase().Type == config.PhaseFixedSchedule }
func userCentric(s *Subject) bool      { return s.phase().Type == config.PhaseUserCentric }
func notStreaming(s *Subject) bool     { return !s.Run.Endpoint.Streaming }
func scheduleFromFile(s *Subject) bool { return s.Promoted != "" }

// schedule names the fixed schedule and how it was chosen.
func (s *Subject) schedule() string {
	if scheduleFromFile(s) {
		return s.Promoted
	}
	return "{" + measured + "type=fixed_schedule}"
}

// hasFile reports whether there is an input file.
func hasFile(s *Subject) bool { return s.File != nil }

// externalData reports whether conversations come from outside: a file or a public dataset.
func externalData(s *Subject) bool {
	d := s.Dataset()
	return d.Type != config.DatasetSynthetic || d.Path != "" || d.Records != nil || s.isGiven(data+"dataset")
}

func syntheticData(s *Subject) bool { return !externalData(s) }

// notPublic reports whether the conversations do not come from a public dataset.
func notPublic(s *Subject) bool { return s.Dataset().Type != config.DatasetPublic }

// publicSet returns the public dataset of the conversations; nil = none.
func (s *Subject) publicSet() *public.Set {
	if d := s.Dataset(); d.Type == config.DatasetPublic {
		return public.Find(d.Dataset)
	}
	return nil
}

// noAgents reports whether the conversations are not recorded agents.
func noAgents(s *Subject) bool {
	set := s.publicSet()
	return !(set != nil && set.Agents) && !(s.File != nil && s.File.Format.Agents)
}

// noColumns reports whether the conversations do not come from a trace in columns.
func noColumns(s *Subject) bool { return s.File == nil || !s.File.Format.Columns }

// noTrace reports whether there is no recorded traffic to replay.
func noTrace(s *Subject) bool { return (s.File == nil || !s.File.Format.Trace) && noAgents(s) }

// blockSizeUnused reports whether conversations from outside have no hash ids, or say how many tokens a hash id stands for.
func blockSizeUnused(s *Subject) bool {
	return s.publicSet() != nil || s.File != nil && (!s.File.Format.Trace || s.File.Format.OwnBlocks)
}

// completeBodies reports whether the file contains complete bodies.
func completeBodies(s *Subject) bool { return s.File != nil && s.File.Format.Verbatim() }

// sampledFile reports whether contents are drawn from a file.
func sampledFile(s *Subject) bool { return s.File != nil && s.File.Format.Sampled }

// ranksPassages reports whether the endpoint type takes a query and passages.
func ranksPassages(s *Subject) bool { return s.Endpoint != nil && s.Endpoint.Ranks() }

// noText reports whether the endpoint type neither takes nor produces text.
func noText(s *Subject) bool {
	return s.Endpoint != nil && !s.Endpoint.TokenizesInput && !s.Endpoint.ProducesTokens
}

// noLength reports whether bodies of the endpoint type hold no output length.
func noLength(s *Subject) bool { return s.Endpoint != nil && s.Endpoint.NoLength }

// noTokens reports whether the endpoint type produces no tokens.
func noTokens(s *Subject) bool { return s.Endpoint != nil && !s.Endpoint.ProducesTokens }

// endpointIs returns a condition: the endpoint type is known and has this name.
func endpointIs(name string) func(*Subject) bool {
	return func(s *Subject) bool { return s.Endpoint != nil && s.Run.Endpoint.Type == name }
}

// endpointIsNot returns a condition: the endpoint type is known and has another name.
func endpointIsNot(name string) func(*Subject) bool {
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

// waitSettingsUnused reports whether settings of the wait for the model differ from their defaults although the run does not wait.
func waitSettingsUnused(s *Subject) bool {
	e, standard := &s.Run.Endpoint, config.Default().Endpoint
	return e.WaitForModelTimeout == 0 && (e.WaitForModelMode != standard.WaitForModelMode || e.WaitForModelEvery != standard.WaitForModelEvery)
}

// cacheBustTarget returns where the marker goes that defeats prefix caches.
func cacheBustTarget(s *Subject) string { return s.Dataset().CacheBustTarget() }

// bustsCache reports whether prompts get such a marker.
func bustsCache(s *Subject) bool { return cacheBustTarget(s) != config.CacheBustNone }

// outputLength returns the mean output length for generated prompts, and for rows of a file that give none.
func outputLength(s *Subject) float64 {
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

// singleRun reports whether the benchmark runs only once.
func singleRun(s *Subject) bool { return oneTrial(s) && s.Sweep == nil }

// writesRecords reports whether record files are written.
func writesRecords(s *Subject) bool { return len(s.Artifacts.Records) > 0 || s.Artifacts.Raw }

// noSummary reports whether no summary JSON is written.
func noSummary(s *Subject) bool { return !s.Artifacts.Summary.Has("json") }

// sweptAxes returns the axes of a sweep over settings for which a flag takes a list.
func (s *Subject) sweptAxes() (axes []config.Axis) {
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

// valueRange returns the smallest and the largest number of a setting, which has several in a sweep; ok is false if it has none.
func (s *Subject) valueRange(key string) (least, most float64, ok bool) {
	values := []any{s.Lookup(key)}
	for _, a := range s.sweptAxes() {
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
