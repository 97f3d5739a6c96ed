package load

import "fmt"

// check returns an error if a scenario cannot run. The error names fields; the layer that knows the flags words it for users.
func (scenario *Scenario) check() error {
	if len(scenario.Phases) == 0 {
		return fmt.Errorf("a scenario needs at least one phase")
	}
	for i := range scenario.Phases {
		if err := scenario.Phases[i].check(); err != nil {
			return fmt.Errorf("phase %d (%q): %w", i+1, scenario.Phases[i].Name, err)
		}
	}
	if scenario.Phases[0].Seamless {
		return fmt.Errorf("phase 1 (%q): the first phase cannot be seamless", scenario.Phases[0].Name)
	}
	return scenario.checkShare()
}

// rule is one condition that a phase must not meet.
type rule struct {
	violated bool
	text     string
}

// ofMode returns the rules of the phase's mode.
func (p *Phase) ofMode() []rule {
	return []rule{
		{p.Mode != ClosedLoop && p.Mode != Rate && p.Mode != FixedSchedule && p.Mode != UserCentric && p.Mode != AgenticReplay,
			fmt.Sprintf("mode %q: allowed are burst, request_rate, fixed_schedule, user_centric, agentic_replay", p.Mode)},
		{p.Mode == ClosedLoop && p.Concurrency < 1 && p.Prefill < 1, fmt.Sprintf("concurrency %d: burst needs at least 1, or a prefill limit", p.Concurrency)},
		{p.Mode == Rate && len(p.Series) == 0 && !(p.Rate > 0), fmt.Sprintf("rate %v: must be above 0", p.Rate)},
		{p.Mode == Rate && p.Pattern != Constant && p.Pattern != Poisson && p.Pattern != Gamma && (p.Pattern != External || p.Intervals == nil), fmt.Sprintf("pattern %q: allowed are constant, poisson, gamma", p.Pattern)},
		{p.Mode == AgenticReplay && p.Concurrency < 1, fmt.Sprintf("concurrency %d: a replay needs at least 1", p.Concurrency)},
		{p.Mode == AgenticReplay && !(0 <= p.Replay.From && p.Replay.From <= p.Replay.To && p.Replay.To <= 1), fmt.Sprintf("entry between %v and %v of a recording: allowed are 0 to 1", p.Replay.From, p.Replay.To)},
		{p.Mode == UserCentric && !(p.Rate > 0), fmt.Sprintf("user-centric rate %v: must be above 0", p.Rate)},
		{p.Mode == UserCentric && p.Users < 1, fmt.Sprintf("users %d: must be at least 1", p.Users)},
	}
}

func (p *Phase) check() error {
	for _, r := range append(p.ofMode(), []rule{
		{p.Mode != FixedSchedule && !(p.Mode == AgenticReplay && p.Warmup) && p.Requests <= 0 && p.Sessions <= 0 && p.Duration <= 0, "no stop rule: give requests, sessions or duration"},
		{p.Warmup && p.Seamless, "a warm-up phase cannot be seamless"},
		{!p.movable(), fmt.Sprintf("moving %q: the phase has no such setting, or adjusts it itself", p.Moving.Quantity)},
		{p.Moving.Quantity != "" && !(p.Moving.From > 0 && p.Moving.From <= p.highest()),
			fmt.Sprintf("moving %s from %v: must be above 0 and at most %v", p.Moving.Quantity, p.Moving.From, p.highest())},
		{p.Cancellation.Percent < 0 || p.Cancellation.Percent > 100, fmt.Sprintf("cancellation %v %%: allowed are 0 to 100", p.Cancellation.Percent)},
	}...) {
		if r.violated {
			return fmt.Errorf("%s", r.text)
		}
	}
	for i, point := range p.Series {
		if !(point.Rate > 0) || point.At < 0 || i > 0 && point.At <= p.Series[i-1].At {
			return fmt.Errorf("rate series, point %d (%v s, %v/s): times must start at 0 or later and increase, rates must be above 0", i+1, point.At, point.Rate)
		}
	}
	return nil
}
