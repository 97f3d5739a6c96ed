package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/setting"
)

// parseGoodput reads "tag:number tag:number"; the last one of a tag wins.
func parseGoodput(text string) (config.SLOs, error) {
	slos := config.SLOs{}
	for _, item := range strings.Fields(text) {
		tag, number, ok := strings.Cut(item, ":")
		if !ok || tag == "" || number == "" {
			return nil, fmt.Errorf("%q is not tag:number", item)
		}
		v, err := setting.ParseFloat(number, true)
		if err != nil {
			return nil, fmt.Errorf("%s: %q %w; items are separated by blanks", tag, number, err)
		}
		if v < 0 || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: the threshold %s must be finite and not negative", tag, number)
		}
		slos.Set(tag, v)
	}
	if len(slos) == 0 {
		return nil, fmt.Errorf("the value is empty; write tag:number")
	}
	return slos, nil
}

// objectives warns of the thresholds whose metric this run does not have, and says what would bring it: the run leaves them out. What is no
// metric of a request is refused, and so is a goodput of which nothing is left.
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
		r.warn("%s: %s; it is left out", where, why)
	}
}

// objective says what keeps a threshold from being judged in this run, nil when nothing does.
func (r *resolver) objective(one config.SLO) error {
	_, err := metric.NewSelection(metric.Options{
		Spell:     r.spell,
		Streaming: r.run.Endpoint.Streaming, ProducesTokens: r.endpoint.ProducesTokens, TokenizesInput: r.endpoint.TokenizesInput,
		ImageInput: r.endpoint.Images, AudioInput: r.endpoint.Audio, VideoOutput: r.endpoint.Produces == record.Video, FixedSchedule: r.load.fixed,
		ServerTokens: r.run.Endpoint.UseServerTokenCount, Goodput: one.Tag + ":" + config.FormatFloat(one.Threshold),
	})
	return err
}

// levelTags are the metrics that a service level may name in some run.
func levelTags() (tags []string) {
	for _, one := range metric.All() {
		_, err := metric.NewSelection(metric.Options{Goodput: one.Tag + ":1"})
		var gated *metric.GoalError
		if err == nil || errors.As(err, &gated) && gated.Gated {
			tags = append(tags, one.Tag)
		}
	}
	return tags
}
