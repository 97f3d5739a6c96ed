package rules

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/workload/adaptive"
)

// adaptiveRules checks the settings of adaptive phases, and finds such settings without an adaptive phase.
var adaptiveRules = []rule{
	{row: "14.2", problem: conditionErrors},
	{row: "14.2", when: func(s *Subject) bool { return s.Sweep != nil && s.Sweep.Type == config.SweepSearch }, problem: func(s *Subject) string {
		for i := range s.Phases {
			if p := &s.Phases[i]; p.AdaptiveScale {
				return "{phases." + p.Name + ".adaptive_scale} and {sweep.type}: both search for the load; give one of them"
			}
		}
		return ""
	}},
	{row: "14.2", problem: func(s *Subject) string {
		var list []string
		for i := range s.Phases {
			p := &s.Phases[i]
			if p.AdaptiveScale {
				continue
			}
			for key, given := range map[string]bool{
				"sla": len(p.SLA) > 0, "adaptive_sustain_duration": p.AdaptiveSustain != nil, "adaptive_control_max": p.AdaptiveMax != nil, "adaptive_control_min": p.AdaptiveMin != nil,
				"adaptive_assessment_period": p.AdaptiveWindow != nil, "adaptive_min_completed_requests": p.AdaptiveLeast != nil, "adaptive_control_variable": p.AdaptiveVariable != "",
				"adaptive_scale_strategy_type": p.AdaptiveStrategy != "", "adaptive_scale_step_policy": p.AdaptivePolicy != "", "adaptive_scale_base_step": p.AdaptiveBaseStep != nil,
				"adaptive_scale_max_step_multiplier": p.AdaptiveMaxMultiplier != nil, "adaptive_scale_step_percent": p.AdaptiveStepPercent != nil,
			} {
				if given {
					list = append(list, "{phases."+p.Name+"."+key+"}")
				}
			}
		}
		if len(list) == 0 {
			return ""
		}
		slices.Sort(list)
		return strings.Join(list, ", ") + " " + Agree(len(list), "has no effect without adaptive_scale: true")
	}, level: warning},
}

// conditionErrors returns what is wrong with the service levels of adaptive phases; "" = nothing.
func conditionErrors(s *Subject) string {
	var wrong []string
	for i := range s.Phases {
		p := &s.Phases[i]
		if !p.AdaptiveScale {
			continue
		}
		list := Conditions(p)
		for k := range list {
			at := fmt.Sprintf("{phases.%s.sla}, condition %d: ", p.Name, k+1)
			if why := adaptive.Check(list, k); why != "" {
				wrong = append(wrong, at+why)
			}
			if adaptive.NeedsStream(list[k].Metric) && !s.Benchmark.Endpoint.Streaming {
				wrong = append(wrong, at+list[k].Metric+" needs {endpoint.streaming}: only a stream shows its first token")
			}
		}
	}
	return strings.Join(wrong, "\n")
}

// Conditions returns the conditions of a phase's service level.
func Conditions(p *config.Phase) (list []adaptive.Condition) {
	for _, f := range p.SLA {
		if f.Stat == "" {
			f.Stat = "p95"
		}
		list = append(list, adaptive.Condition{Metric: f.MetricTag, Stat: f.Stat, Op: f.Op, Threshold: f.Threshold})
	}
	return list
}
