package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/suggest"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// handler computes a result of a finished sweep.
type handler struct {
	compute func(s *metric.SweepSummary, p *processing) (any, error)
	needs   []string // required parameters
	takes   []string // optional parameters
}

// handlers maps the names in sweep.post_process.handler to the handlers.
var handlers = map[string]handler{
	"degradation_knee_detect": {degradationKnee, []string{"threshold_pct", "metric_tag", "stat", "swept_param"}, nil},
	"sla_breach_knee":         {slaBreach, []string{"swept_param"}, []string{"sla_filters"}},
	"ttft_curve_fit":          {ttftCurve, []string{"metric_tag", "stat", "swept_param"}, []string{"r_squared_floor"}},
	"itl_surface_fit":         {itlSurface, []string{"metric_tag", "stat", "concurrency_param", "osl_param"}, nil},
	"pareto_sweep_export":     {paretoExport, []string{"x_metric", "x_stat", "y_metric", "y_stat"}, []string{"isl_key", "osl_key", "concurrency_key"}},
	"genai_perf_analyze":      {analyzeReport, nil, []string{"load", "value", "entries"}},
}

// processing holds the parameters of a handler.
type processing struct {
	Threshold   float64            `yaml:"threshold_pct"`
	Metric      string             `yaml:"metric_tag"`
	Stat        string             `yaml:"stat"`
	Swept       string             `yaml:"swept_param"`
	Filters     []config.SLAFilter `yaml:"sla_filters"` // replaces those of the sweep
	Concurrency string             `yaml:"concurrency_param"`
	OSL         string             `yaml:"osl_param"`
	Floor       float64            `yaml:"r_squared_floor"`
	XMetric     string             `yaml:"x_metric"`
	XStat       string             `yaml:"x_stat"`
	YMetric     string             `yaml:"y_metric"`
	YStat       string             `yaml:"y_stat"`
	ISLKey      string             `yaml:"isl_key"` // of pareto_sweep_export: names of swept values
	OSLKey      string             `yaml:"osl_key"`
	LoadKey     string             `yaml:"concurrency_key"`
	Load        string             `yaml:"load"`    // of genai_perf_analyze: last word of the path of the load
	Value       float64            `yaml:"value"`   // value of the load if it is not swept
	Entries     int                `yaml:"entries"` // entries of the dataset if they are not swept
}

// checkHandler refuses an unknown handler, and unknown, missing or unreadable parameters.
func checkHandler(p *config.PostProcess) error {
	if p == nil {
		return nil
	}
	if _, known := handlers[p.Handler]; !known {
		return fmt.Errorf("sweep.post_process.handler %q is not one of %s", p.Handler, strings.Join(Handlers(), ", "))
	}
	var all []string
	for _, f := range ParamFaults(p) {
		all = append(all, strings.TrimSuffix("sweep.post_process.params."+f.Key, ".")+" "+f.Text)
	}
	if len(all) > 0 {
		return errors.New(strings.Join(all, "; "))
	}
	return nil
}

// ParamFault is a fault of a parameter of a handler.
type ParamFault struct{ Key, Text string }

// ParamFaults returns the faults of the parameters of a known handler: unknown names, values of the wrong type or without a meaning, and missing
// required parameters.
func ParamFaults(p *config.PostProcess) (faults []ParamFault) {
	h, known := handlers[p.Handler]
	if !known {
		return nil
	}
	if !p.Params.IsZero() && p.Params.Kind != yaml.MappingNode {
		return []ParamFault{{"", "is not a mapping"}}
	}
	names := append(slices.Clone(h.needs), h.takes...)
	given := map[string]bool{}
	for i := 0; i+1 < len(p.Params.Content); i += 2 {
		key, value := p.Params.Content[i].Value, p.Params.Content[i+1]
		given[key] = true
		if !slices.Contains(names, key) {
			hint := ""
			if near := suggest.Name(key, names); near != "" {
				hint = " (did you mean " + near + "?)"
			}
			faults = append(faults, ParamFault{key, fmt.Sprintf("is not a parameter of %s%s; known are %s", p.Handler, hint, strings.Join(names, ", "))})
			continue
		}
		one := yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{p.Params.Content[i], value}}
		if err := one.Decode(&processing{}); err != nil {
			faults = append(faults, ParamFault{key, fmt.Sprintf("cannot be read: %q", value.Value)})
		} else if _, ok := metric.StatByName(value.Value); !ok && (key == "stat" || strings.HasSuffix(key, "_stat")) {
			faults = append(faults, ParamFault{key, fmt.Sprintf("%q is not a statistic", value.Value)})
		}
	}
	for _, name := range h.needs {
		if !given[name] {
			faults = append(faults, ParamFault{name, "is missing: " + p.Handler + " needs it"})
		}
	}
	return faults
}

// Handlers lists the names of the handlers.
func Handlers() []string { return slices.Sorted(maps.Keys(handlers)) }
