package view

import (
	"fmt"
	"strings"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/sim/mockserver"
)

// DescribePlan describes in words what a run is going to do, for the live views.
func DescribePlan(cfg *config.Benchmark) liveview.Plan {
	what := strings.ReplaceAll(cfg.Endpoint.Type, "_", " ")
	if cfg.Endpoint.Streaming {
		what += ", streaming"
	}
	p := liveview.Plan{
		Model: terminal.Line(strings.Join(cfg.Models.Names(), ", ")), Target: targets(cfg.Endpoint.URLs), What: []string{what}, Results: terminal.Line(cfg.Artifacts.Dir),
	}
	if profiling := cfg.Profiling(); profiling != nil {
		p.What = append(p.What, describeMeasured(cfg, profiling))
	}
	data := describeLengths(cfg.Dataset())
	if data != "" {
		p.What = append(p.What, data)
	}
	for _, one := range cfg.PhasesSent() {
		p.Phases = append(p.Phases, [2]string{phaseTitle(one.Name), describePhase(&one)})
	}
	about := []string{what}
	if data != "" {
		about = append(about, data)
	}
	about = append(about, strings.ReplaceAll(string(cfg.Dataset().Type), "_", " ")+" data")
	p.Phases = append(p.Phases, [2]string{"Requests", strings.Join(about, ", ")})
	return p
}

// describeMeasured describes the measured phases briefly: the load of the first one, or the names of several.
func describeMeasured(cfg *config.Benchmark, first *config.Phase) string {
	var names []string
	for _, one := range cfg.PhasesSent() {
		if one.Kind == config.KindProfiling {
			names = append(names, terminal.Line(one.Name))
		}
	}
	if len(names) < 2 {
		return describeLoadAndLimit(first)
	}
	return fmt.Sprintf("%d measured phases: %s", len(names), strings.Join(names, ", "))
}

// targets lists the servers without secrets.
func targets(urls []string) string {
	if len(urls) == 0 {
		return ""
	}
	text := terminal.Line(redact.URL(urls[0]))
	if strings.HasPrefix(text, mockserver.Scheme) { // the options of the simulated server are too long for this line
		text, _, _ = strings.Cut(text, "?")
	}
	if len(urls) > 1 {
		text += fmt.Sprintf(" and %d more", len(urls)-1)
	}
	return text
}

// describeLoad describes the load of a phase.
func describeLoad(p *config.Phase) string {
	switch {
	case p.Replays() && p.Kind == config.KindWarmup:
		return "the caches of " + plain(config.Value(p.Concurrency), "recorded agent")
	case p.Replays():
		return plain(config.Value(p.Concurrency), "recorded agent") + " at once, from the middle of their recordings"
	case p.Users != nil:
		return fmt.Sprintf("%s, %s requests/s", terminal.Plural(*p.Users, "user"), termdraw.Round(config.Value(p.Rate)))
	case p.Type == config.PhaseFixedSchedule:
		return "on the schedule of the dataset"
	case p.Rate != nil && p.Concurrency != nil:
		return fmt.Sprintf("%s requests/s (%s), at most %d in flight", termdraw.Round(*p.Rate), p.Type, *p.Concurrency)
	case p.Rate != nil:
		return fmt.Sprintf("%s requests/s (%s)", termdraw.Round(*p.Rate), p.Type)
	case p.RateSeries != "":
		return "at the rates of " + terminal.Line(p.RateSeries)
	case p.HasSeries():
		return fmt.Sprintf("at the rates of %d points", len(p.RatePoints))
	case p.Concurrency != nil:
		return fmt.Sprintf("%d in flight", *p.Concurrency)
	}
	return ""
}

// describeLimit describes what ends the sending of a phase.
func describeLimit(p *config.Phase) string {
	var parts []string
	if p.Requests != nil {
		parts = append(parts, plain(*p.Requests, "request"))
	}
	if p.Sessions != nil {
		parts = append(parts, plain(*p.Sessions, "session"))
	}
	if p.Duration != nil {
		parts = append(parts, termdraw.Round(p.Duration.Duration().Seconds())+" s")
	}
	return strings.Join(parts, " or ")
}

func plain(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return termdraw.Round(float64(n)) + " " + noun + "s"
}

func describeLoadAndLimit(p *config.Phase) string {
	text, limit := describeLoad(p), describeLimit(p)
	switch {
	case text == "":
		return limit
	case limit == "":
		return text
	case p.Duration != nil && p.Requests == nil && p.Sessions == nil:
		return text + " for " + limit
	}
	return text + ", " + limit
}

func describePhase(p *config.Phase) string {
	text := describeLoadAndLimit(p)
	if p.CacheWarmup != nil {
		text += ", then all of them without pauses for " + termdraw.Round(p.CacheWarmup.Duration().Seconds()) + " s"
	}
	if p.Duration == nil || p.GracePeriod == nil {
		return text
	}
	if p.GracePeriod.Infinite() {
		return text + ", then until the last answers arrive"
	}
	if g := p.GracePeriod.Duration().Seconds(); g > 0 {
		return text + ", then up to " + termdraw.Round(g) + " s for the last answers"
	}
	return text
}

// describeLengths describes the lengths of generated prompts and answers; "" if they are not generated.
func describeLengths(d *config.Dataset) string {
	if d.Prompts == nil {
		return ""
	}
	var parts []string
	for _, one := range []struct {
		name string
		of   *config.Distribution
	}{{"ISL", d.Prompts.ISL}, {"OSL", d.Prompts.OSL}} {
		if one.of == nil {
			continue
		}
		text := one.name + " " + termdraw.Round(one.of.MeanOr(0))
		switch spread := one.of.StddevOr0(); {
		case one.of.Shaped():
			text += " on average"
		case spread > 0:
			text += " ±" + termdraw.Round(spread)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
