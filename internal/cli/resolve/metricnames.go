package resolve

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/objective"
	"aiperf/internal/series/plan"
)

// judgedBy rejects unknown metric and handler names before the series starts, since an error after hours would waste the run. Names from recipes are
// not checked.
func (r *resolver) judgedBy() {
	if c := r.run.MultiRun.Convergence; c != nil {
		r.metricAt("multi_run.convergence.metric", "--convergence-metric", c.Metric)
	}
	s := r.run.Sweep
	if s == nil {
		return
	}
	for i, f := range s.SLAFilters {
		r.metricAt(fmt.Sprintf("sweep.sla_filters[%d].metric_tag", i), "", f.MetricTag)
	}
	for i, t := range s.SLATiers {
		for k, f := range t.Filters {
			r.metricAt(fmt.Sprintf("sweep.sla_tiers[%d].filters[%d].metric_tag", i, k), "", f.MetricTag)
		}
	}
	for i, o := range s.Objectives {
		r.metricAt(fmt.Sprintf("sweep.objectives[%d].metric", i), "--search-metric", o.Metric)
	}
	for i, c := range s.OutcomeConstraints {
		r.metricAt(fmt.Sprintf("sweep.outcome_constraints[%d].metric", i), "", c.Metric)
	}
	p := s.PostProcess
	if p == nil {
		return
	}
	if names := plan.Handlers(); p.Handler != "" && !slices.Contains(names, p.Handler) {
		r.fail("%s %s", r.spell("sweep.post_process.handler"), unknownName("handler", p.Handler, names))
	}
	for _, one := range plan.ParamFaults(p) {
		r.fail("%s %s", r.spell(strings.TrimSuffix("sweep.post_process.params."+one.Key, ".")), one.Text)
	}
	for i := 0; i+1 < len(p.Params.Content); i += 2 {
		switch key := p.Params.Content[i].Value; key {
		case "metric_tag", "x_metric", "y_metric":
			r.metricAt("sweep.post_process.params."+key, "--degradation-metric-tag", p.Params.Content[i+1].Value)
		}
	}
}

// metricAt refuses an unknown metric name of a flag, or of a file at a path.
func (r *resolver) metricAt(path, flag, tag string) {
	where := ""
	switch {
	case flag != "" && r.has(flag):
		where = r.spelled(flag)
	case r.place != nil && r.run.Written(path):
		where = r.place(path)
	}
	if _, known := metric.Lookup(tag); known || tag == "" || where == "" {
		return
	}
	r.fail("%s %s", where, unknownMetric(tag))
}

// unknownMetric returns the error text for an unknown metric.
func unknownMetric(tag string) string {
	if long := objective.ShortNames[strings.ToLower(tag)]; long != "" {
		return fmt.Sprintf("%q: write the full name, %s", tag, long)
	}
	var names []string
	for _, one := range metric.All() {
		names = append(names, one.Tag)
	}
	hint := ""
	if near := suggest.Name(tag, names); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return fmt.Sprintf("%q: there is no such metric%s (aiperf help metrics lists them)", tag, hint)
}

// unknownName returns the error text for an unknown name, with the most similar names and all known ones.
func unknownName(kind, name string, known []string) string {
	hint := ""
	if near := suggest.Name(name, known); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	return fmt.Sprintf("%q: there is no such %s%s; known are %s", name, kind, hint, strings.Join(known, ", "))
}
