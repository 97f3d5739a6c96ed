package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Allowed values of the keys of an adaptive phase.
var (
	controlWords  = []string{"concurrency", "prefill_concurrency", "request_rate", "users"}
	policyWords   = []string{"sla_margin", "fixed_percent_step"}
	strategyWords = []string{"ramp_until_fail"}
)

// Adaptive holds the settings of an adaptive phase, with every default filled in.
type Adaptive struct {
	Variable      string  // one of controlWords
	Min, Max      float64 // Max 0: not specified
	Window        Seconds // length of a judged window
	Sustain       Seconds // how long the highest passing load lasts; 0: not specified
	Least         int     // minimum number of finished requests for a window to count
	Policy        string  // one of policyWords
	BaseStep      int
	MaxMultiplier int
	StepPercent   float64
}

// Whole reports whether the variable is a whole number.
func (a *Adaptive) Whole() bool { return a.Variable != "request_rate" }

// Adaptive returns the phase's adaptive settings. If the highest value is not set, it is the phase's own value of the variable.
func (p *Phase) Adaptive() *Adaptive {
	a := &Adaptive{
		Variable: p.AdaptiveVariable, Min: valueOr(p.AdaptiveMin, 1), Window: valueOr(p.AdaptiveWindow, 30), Sustain: Value(p.AdaptiveSustain), Least: valueOr(p.AdaptiveLeast, 1),
		Policy: p.AdaptivePolicy, BaseStep: valueOr(p.AdaptiveBaseStep, 10), MaxMultiplier: valueOr(p.AdaptiveMaxMultiplier, 4), StepPercent: valueOr(p.AdaptiveStepPercent, 25),
	}
	if a.Variable == "" {
		a.Variable = controlWords[0]
	}
	if a.Policy == "" {
		a.Policy = policyWords[0]
	}
	own := map[string]float64{
		"concurrency": float64(Value(p.Concurrency)), "prefill_concurrency": float64(Value(p.PrefillConcurrency)), "request_rate": Value(p.Rate), "users": float64(Value(p.Users)),
	}
	a.Max = valueOr(p.AdaptiveMax, own[a.Variable])
	return a
}

// valueOr returns the value that p points to, or otherwise if p is nil.
func valueOr[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

// adaptive checks the settings of an adaptive phase. Package rules checks the metrics and statistics of its service level.
func (v *violations) adaptive(path string, p *Phase) {
	if p.AdaptiveVariable != "" {
		v.oneOf(path+".adaptive_control_variable", p.AdaptiveVariable, controlWords...)
	}
	if p.AdaptivePolicy != "" {
		v.oneOf(path+".adaptive_scale_step_policy", p.AdaptivePolicy, policyWords...)
	}
	if p.AdaptiveStrategy != "" {
		v.oneOf(path+".adaptive_scale_strategy_type", p.AdaptiveStrategy, strategyWords...)
	}
	a := p.Adaptive()
	finite := func(f float64) bool { return f > 0 && !math.IsInf(f, 0) }
	v.addIf(p.AdaptiveMin != nil && !finite(a.Min), path+".adaptive_control_min", "must be > 0")
	v.addIf(p.AdaptiveMax != nil && !finite(a.Max), path+".adaptive_control_max", "must be > 0")
	v.addIf(!(a.Window >= 1) || a.Window.Infinite(), path+".adaptive_assessment_period", "must be >= 1 s")
	v.addIf(p.AdaptiveSustain != nil && !(a.Sustain > 0), path+".adaptive_sustain_duration", "must be > 0")
	v.addIf(a.Least < 1, path+".adaptive_min_completed_requests", "must be >= 1")
	v.addIf(a.BaseStep < 1, path+".adaptive_scale_base_step", "must be >= 1")
	v.addIf(a.MaxMultiplier < 1, path+".adaptive_scale_max_step_multiplier", "must be >= 1")
	v.addIf(!finite(a.StepPercent), path+".adaptive_scale_step_percent", "must be > 0")
	if !p.AdaptiveScale {
		return
	}
	at := path + ".adaptive_scale"
	v.addIf(p.Kind == KindWarmup, at, "is for measured phases: a warm-up has no service level")
	v.addIf(p.Duration == nil, at, "needs %s: it may never find its limit", v.spelling(path+".duration"))
	v.addIf(p.AdaptiveSustain == nil, at, "needs %s", v.spelling(path+".adaptive_sustain_duration"))
	v.addIf(len(p.SLA) == 0, at, "needs %s: the conditions that the load must meet", v.spelling(path+".sla"))
	v.addIf(p.Type == PhaseFixedSchedule, at, "is not for type %s, whose times are given", p.Type)
	v.addIf(p.Replays(), at, "and %s: recorded agents set their own load", v.spelling(path+".timing_mode"))
	v.variable(path, p, a)
}

// variable checks the variable that an adaptive phase changes.
func (v *violations) variable(path string, p *Phase, a *Adaptive) {
	at := path + ".adaptive_scale"
	switch a.Variable {
	case "concurrency":
		v.addIf(p.ConcurrencyRamp != nil, at, "moves the concurrency, and so does %s: give one of them", v.spelling(path+".concurrency_ramp"))
		v.addIf(p.Concurrency != nil && a.Min > float64(*p.Concurrency), path+".adaptive_control_min", "%g is above %s %d", a.Min, v.spelling(path+".concurrency"), Value(p.Concurrency))
		v.addIf(a.Max > maxConcurrency, path+".adaptive_control_max", "%g is above %d, more than one machine has ports for", a.Max, maxConcurrency)
	case "prefill_concurrency":
		v.addIf(p.PrefillRamp != nil, at, "moves the prefill concurrency, and so does %s: give one of them", v.spelling(path+".prefill_ramp"))
		v.addIf(p.Concurrency == nil, at, "moves the prefill concurrency, which also needs %s", v.spelling(path+".concurrency"))
		v.addIf(p.Concurrency != nil && a.Max > float64(*p.Concurrency), path+".adaptive_control_max", "%g is above %s %d", a.Max, v.spelling(path+".concurrency"), Value(p.Concurrency))
	case "request_rate":
		v.addIf(!p.Type.HasRate() || p.Rate == nil, at, "moves the request rate, which needs a phase with %s", v.spelling(path+".rate"))
		v.addIf(p.RateRamp != nil, at, "moves the request rate, and so does %s: give one of them", v.spelling(path+".rate_ramp"))
		v.addIf(p.HasSeries(), at, "moves the request rate, and so does %s: give one of them", v.spelling(path+".rate_series"))
	case "users":
		v.addIf(p.Type != PhaseUserCentric, at, "moves the number of users, which needs type %s", PhaseUserCentric)
	}
	v.addIf(a.Max == 0, at, "needs %s: nothing says how far %s may go", v.spelling(path+".adaptive_control_max"), a.Variable)
	v.addIf(a.Max > 0 && a.Max <= a.Min, at, "goes from %g to %g: %s must be above %s", a.Min, a.Max, v.spelling(path+".adaptive_control_max"), v.spelling(path+".adaptive_control_min"))
	for _, bound := range []struct {
		key   string
		value float64
	}{{"adaptive_control_min", a.Min}, {"adaptive_control_max", a.Max}} {
		v.addIf(a.Whole() && bound.value != math.Trunc(bound.value), path+"."+bound.key, "%g is not a whole number, as %s must be", bound.value, a.Variable)
	}
}

// adaptiveBlock maps the keys of a mapping at adaptive_scale to the phase's full keys.
var adaptiveBlock = map[string]string{
	"enabled": "adaptive_scale", "sla": "sla", "control_variable": "adaptive_control_variable", "control_min": "adaptive_control_min", "control_max": "adaptive_control_max",
	"min_concurrency": "adaptive_control_min", "max_concurrency": "adaptive_control_max", "window": "adaptive_assessment_period",
	"assessment_period": "adaptive_assessment_period", "min_completed_requests": "adaptive_min_completed_requests", "sustain_duration": "adaptive_sustain_duration",
}

// adaptiveParts are the nested mappings in it.
var adaptiveParts = map[string]map[string]string{
	"control": {"variable": "adaptive_control_variable", "min": "adaptive_control_min", "max": "adaptive_control_max"},
	"strategy": {
		"type": "adaptive_scale_strategy_type", "step_policy": "adaptive_scale_step_policy", "base_step": "adaptive_scale_base_step",
		"max_step_multiplier": "adaptive_scale_max_step_multiplier", "step_percent": "adaptive_scale_step_percent",
	},
}

// spreadAdaptive expands the short forms of an adaptive phase: a mapping at adaptive_scale, and a mapping of metrics instead of the list of
// conditions.
func spreadAdaptive(p *yaml.Node) (wrong []string) {
	if p.Kind != yaml.MappingNode {
		return nil
	}
	if block := step(p, "adaptive_scale"); block != nil && block.Kind == yaml.MappingNode {
		removeKey(p, "adaptive_scale")
		on := boolean(true)
		on.Line = block.Line
		wrong = spread(p, block, "adaptive_scale", adaptiveBlock, adaptiveParts)
		ensure(p, "adaptive_scale", on)
	}
	if sla := step(p, "sla"); sla != nil && sla.Kind == yaml.MappingNode {
		wrong = append(wrong, listConditions(sla)...)
	}
	return wrong
}

// spread moves the members of a mapping to the phase's full keys.
func spread(p, block *yaml.Node, path string, keys map[string]string, parts map[string]map[string]string) (wrong []string) {
	for i := 0; i+1 < len(block.Content); i += 2 {
		key, v := block.Content[i], block.Content[i+1]
		part, whole := parts[key.Value]
		to, known := keys[key.Value]
		switch {
		case v.ShortTag() == "!!null":
		case whole && v.Kind == yaml.MappingNode:
			wrong = append(wrong, spread(p, v, path+"."+key.Value, part, nil)...)
		case whole:
			wrong = append(wrong, fmt.Sprintf("line %d: %s.%s must be a mapping", v.Line, path, key.Value))
		case !known:
			list := slices.Sorted(maps.Keys(keys))
			list = append(list, slices.Sorted(maps.Keys(parts))...)
			wrong = append(wrong, fmt.Sprintf("line %d: unknown key %s.%s; known are %s", key.Line, path, key.Value, strings.Join(list, ", ")))
		case step(p, to) != nil:
			wrong = append(wrong, fmt.Sprintf("line %d: %s.%s: the phase says its %s already", key.Line, path, key.Value, to))
		default:
			add(p, to, v)
		}
	}
	return wrong
}

// listConditions converts {metric: {statistic: {operator: threshold}}} to a list of conditions.
func listConditions(sla *yaml.Node) (wrong []string) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: sla.Line, Column: sla.Column}
	fault := func(n *yaml.Node, what string) {
		wrong = append(wrong, fmt.Sprintf("line %d: sla: %s; write {metric: {statistic: {operator: threshold}}}, or a list of {metric_tag, stat, op, threshold}", n.Line, what))
	}
	for i := 0; i+1 < len(sla.Content); i += 2 {
		metric, byStat := sla.Content[i], sla.Content[i+1]
		if byStat.Kind != yaml.MappingNode {
			fault(byStat, metric.Value+" has no statistics")
			continue
		}
		for j := 0; j+1 < len(byStat.Content); j += 2 {
			stat, byOp := byStat.Content[j], byStat.Content[j+1]
			if byOp.Kind != yaml.MappingNode {
				fault(byOp, metric.Value+" "+stat.Value+" has no operators")
				continue
			}
			for k := 0; k+1 < len(byOp.Content); k += 2 {
				one := mapping()
				one.Line = byOp.Content[k].Line
				add(one, "metric_tag", text(metric.Value))
				add(one, "stat", text(stat.Value))
				add(one, "op", text(byOp.Content[k].Value))
				add(one, "threshold", byOp.Content[k+1])
				list.Content = append(list.Content, one)
			}
		}
	}
	if len(wrong) == 0 {
		*sla = *list
	}
	return wrong
}
