package resolve

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/objective"
	"aiperf/internal/measure/record"
	"aiperf/internal/series/gate"
)

// ParseGoodput reads "tag:number tag:number", or "tag<number" with an optional unit; the last value of a tag counts.
func ParseGoodput(text string) (config.SLOs, error) {
	slos := config.SLOs{}
	for _, item := range objective.Words(text) {
		tag, v, err := threshold(item)
		if err != nil {
			return nil, err
		}
		if v < 0 || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: the threshold %g must be finite and not negative", tag, v)
		}
		slos.Set(tag, v)
	}
	if len(slos) == 0 {
		return nil, fmt.Errorf("the value is empty; write tag<number, for example 'ttft<200ms request_latency<2s'")
	}
	return slos, nil
}

// threshold reads one objective for a request: tag:number, or a limit without a statistic.
func threshold(item string) (tag string, v float64, err error) {
	if !strings.ContainsAny(item, "<>") {
		name, number, ok := strings.Cut(item, ":")
		if !ok || name == "" || number == "" {
			return "", 0, fmt.Errorf("%q has no limit; write METRIC<VALUE, for example ttft<200ms", item)
		}
		if long := objective.ShortNames[strings.ToLower(name)]; long != "" {
			name = long
		}
		if v, err = setting.ParseFloat(number, true); err == nil {
			return name, v, nil
		}
		if _, known := metric.Lookup(name); known && !strings.ContainsAny(number, ",") {
			l := objective.Limit{Tag: name}
			if inUnit, bad := l.ParseValue(number); bad == nil {
				return name, inUnit, nil
			}
		}
		return "", 0, fmt.Errorf("%s: %q %w; separate the items with spaces", name, number, err)
	}
	l, err := objective.Parse(item)
	good, certain := l.Good()
	switch {
	case err != nil:
		return "", 0, err
	case l.Stat != "":
		return "", 0, fmt.Errorf("%q: goodput judges every request alone, without %s; write %s%s%g", item, l.Stat, l.Tag, l.Op, l.Value)
	case certain && !good:
		return "", 0, fmt.Errorf("%q describes a bad request; write %s", item, l.Opposite())
	case !certain && l.Op[0] == '>':
		return "", 0, fmt.Errorf("%q: requests are good at or below a threshold of %s; write %s<%g", item, l.Tag, l.Tag, l.Value)
	}
	return l.Tag, l.Value, nil
}

// objectives warns of thresholds whose metric this run does not have, and says how to get it; the run ignores them. It refuses metrics that are not
// per request, and a goodput without any remaining threshold.
func (r *resolver) objectives() {
	if len(r.run.SLOs) == 0 || r.endpoint == nil {
		return
	}
	where := r.spell("slos")
	kept, dropped := 0, []string(nil)
	for _, one := range r.run.SLOs {
		err := r.objective(one)
		var gated *metric.GoalError
		switch {
		case err == nil:
			kept++
		case errors.As(err, &gated) && gated.Gated:
			dropped = append(dropped, one.Tag+" "+gated.Why)
		default:
			r.fail("%s: %s", where, strings.TrimPrefix(err.Error(), r.spell("slos")+": "))
			return
		}
	}
	if kept == 0 {
		r.fail("%s: no objective is left: %s", where, strings.Join(dropped, "; "))
		return
	}
	for _, why := range dropped {
		r.warn("%s: %s; it is ignored", where, why)
	}
}

// objective returns why a threshold cannot be judged in this run; nil if it can.
func (r *resolver) objective(one config.SLO) error {
	_, err := metric.NewSelection(metric.Options{
		Spell:     r.spell,
		Streaming: r.run.Endpoint.Streaming, ProducesTokens: r.endpoint.ProducesTokens, TokenizesInput: r.endpoint.TokenizesInput,
		ImageInput: r.endpoint.Images, AudioInput: r.endpoint.Audio, VideoOutput: r.endpoint.Produces == record.Video, FixedSchedule: r.load.fixed,
		ServerTokens: r.run.Endpoint.UseServerTokenCount, Goodput: one.Tag + ":" + config.FormatFloat(one.Threshold),
	})
	return err
}

// conditions refuses conditions that are malformed, and those on metrics that this run does not have: they could not be judged after the load. The cells
// of a sweep may differ in what they measure, so its conditions are judged only afterwards.
func (r *resolver) conditions(where string, texts []string) {
	for _, text := range texts {
		g, err := gate.Parse(text)
		switch {
		case err != nil:
			r.fail("%s: %v", where, GateError(err))
			continue
		case r.endpoint == nil || r.run.Sweep != nil:
			continue
		}
		var missing *metric.GoalError
		if err := r.objective(config.SLO{Tag: g.Tag, Threshold: 1}); errors.As(err, &missing) && missing.Gated {
			r.fail("%s: %s %s", where, g.Tag, missing.Why)
		}
	}
}

// GoodputMetrics lists the metrics that a service level may name in some run.
func GoodputMetrics() (tags []string) {
	for _, one := range metric.All() {
		_, err := metric.NewSelection(metric.Options{Goodput: one.Tag + ":1"})
		var gated *metric.GoalError
		if err == nil || errors.As(err, &gated) && gated.Gated {
			tags = append(tags, one.Tag)
		}
	}
	return tags
}

// FormatGoodput formats objectives as "tag:number tag:number".
func FormatGoodput(slos config.SLOs) string {
	var list []string
	for _, one := range slos {
		list = append(list, one.Tag+":"+config.FormatFloat(one.Threshold))
	}
	return strings.Join(list, " ")
}
