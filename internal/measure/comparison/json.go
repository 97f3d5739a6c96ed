package comparison

import (
	"encoding/json"
	"math"
	"slices"
)

// JSON returns a comparison as a JSON file. Relative figures are fractions, unbounded ends are null.
func (r *Result) JSON() ([]byte, error) { return document(r.members()) }

// JSON returns a comparison of two series as a JSON file: the comparison of each cell with its name.
func (s *Series) JSON() ([]byte, error) {
	cells := []map[string]any{}
	for _, c := range s.Cells {
		m := c.members()
		m["cell"], m["refused"] = c.Name, c.Refused
		cells = append(cells, m)
	}
	return document(map[string]any{
		"schema_version": "1.0", "kind": "comparison of series", "cells": cells, "only_a": append([]string{}, s.OnlyA...), "only_b": append([]string{}, s.OnlyB...), "verdict": s.Outcome,
	})
}

func document(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

func (r *Result) members() map[string]any {
	end := func(v float64) any {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		return v
	}
	runs, targets := []map[string]any{}, []map[string]any{}
	for _, side := range []struct {
		name string
		runs []Run
	}{{"a", r.A}, {"b", r.B}} {
		var seen []Target
		for _, run := range side.runs {
			if t := run.Target; !slices.Contains(seen, t) {
				seen = append(seen, t)
				targets = append(targets, map[string]any{"side": side.name, "label": t.Label, "url": t.URL, "model": t.Model, "answered_model": t.Answered, "server": t.Server})
			}
			runs = append(runs, map[string]any{"side": side.name, "path": run.Path, "n": len(run.Values["request_latency"]), "failed": run.Failed, "seconds": run.Seconds, "doubt": run.Doubt, "disturbed": run.Disturbed, "wake_delay_ms": run.Wake})
		}
	}
	metrics := []map[string]any{}
	for _, l := range r.Lines {
		metrics = append(metrics, map[string]any{
			"tag": l.Tag, "stat": l.Stat, "unit": l.Unit, "a": end(l.A), "b": end(l.B), "difference": end(l.Difference), "low": end(l.Low), "high": end(l.High),
			"low90": end(l.Low90), "high90": end(l.High90), "p": end(l.P), "p_holm": end(l.PHolm), "margin": l.Margin, "verdict": l.Outcome, "reason": l.Reason,
			"k_a": l.BatchesA, "k_b": l.BatchesB, "effective_a": end(l.EffectiveA), "effective_b": end(l.EffectiveB), "needed": l.Needed,
		})
	}
	return map[string]any{
		"schema_version": "1.0", "kind": "comparison", "refused": r.Refused, "basis": r.Basis, "confidence": r.Options.Confidence, "run_noise": r.Options.Noise,
		"differences": r.Other, "notes": r.Notes, "drift_a": end(r.DriftA), "drift_b": end(r.DriftB), "targets": targets, "runs": runs, "metrics": metrics, "verdict": r.Outcome,
	}
}
