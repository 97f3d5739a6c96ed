package explanation

import (
	"encoding/json"
	"math"

	"aiperf/internal/measure/association"
)

// SchemaVersion is the version of the JSON form.
const SchemaVersion = "1.0"

// number returns a value for JSON; null if it is not finite.
func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// JSON returns the explanation as JSON; docs/explain-json.md describes the fields.
func (e *Explanation) JSON() ([]byte, error) {
	direction := "above"
	if e.Low {
		direction = "below"
	}
	facts := make([]map[string]any, 0, len(e.Facts))
	for i := range e.Facts {
		facts = append(facts, e.Facts[i].json())
	}
	stretches := make([]map[string]any, 0, len(e.Bunches.Stretches))
	for _, s := range e.Bunches.Stretches {
		stretches = append(stretches, map[string]any{"start_ns": s.From, "end_ns": s.To, "slow": s.Slow, "rest": s.Rest})
	}
	missing := e.Missing
	if missing == nil {
		missing = []string{}
	}
	out := map[string]any{
		"schema_version": SchemaVersion, "kind": "explanation", "metric": e.Metric.Tag, "unit": e.Unit,
		"threshold": map[string]any{"direction": direction, "percentile": e.Level, "value": e.Threshold},
		"slow":      map[string]any{"count": e.Slow, "median": e.Median[1]}, "rest": map[string]any{"count": e.Rest, "median": e.Median[0]},
		"failed": e.Failed, "seconds": e.Seconds, "significant": len(e.Named()) > 0, "facts": facts,
		"bunches":      map[string]any{"count": e.Bunches.Count, "p": number(e.Bunches.P), "p_holm": number(e.Bunches.Holm), "together": e.Bunches.Together, "time_share": e.Bunches.Share, "stretches": stretches},
		"not_recorded": missing,
	}
	if e.Server != nil {
		out["server_model"] = e.Server.json()
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

func (f *Finding) json() map[string]any {
	kind := "number"
	if f.TwoValued {
		kind = "share"
	}
	side := func(s association.Side) map[string]any {
		if f.TwoValued {
			return map[string]any{"known": s.Known, "share": s.Share}
		}
		return map[string]any{"known": s.Known, "share_above_0": s.Share, "median": s.Median, "p25": s.Quarters[0], "p75": s.Quarters[1]}
	}
	return map[string]any{
		"name": f.Name, "label": f.Label, "unit": f.Unit, "kind": kind, "effect": f.Effect, "low": f.Low, "high": f.High, "p": number(f.P), "p_holm": number(f.Holm),
		"significant": f.Significant(), "by_definition": f.Definition, "slow": side(f.Slow), "rest": side(f.Rest), "sentence": f.Sentence,
	}
}
