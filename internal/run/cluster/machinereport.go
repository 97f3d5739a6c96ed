package cluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/run/watch"
	"aiperf/internal/workload/load"
)

// result returns the result of all machines together.
func (l *machineLoad) result(ctx context.Context) (*load.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := &load.Result{Phases: l.hub.Phases(), Interrupted: ctx.Err() != nil, TooManyFail: l.fails}
	for _, f := range all.Phases {
		all.TooManyFail = all.TooManyFail || f.TooManyFails // a single machine judges its failures itself
	}
	for _, p := range l.parts {
		if p.report != nil && p.report.Unreachable != nil && all.Unreachable == nil {
			all.Unreachable = p.report.Unreachable
		}
	}
	return all, l.err
}

// Stats implements run.MachineLoad.
func (l *machineLoad) Stats() watch.MachineStats {
	var list []watch.MachineStats
	for _, p := range l.parts {
		if p.report != nil {
			list = append(list, p.report.Stats)
		}
	}
	return watch.Combine(list)
}

// Complete implements run.MachineLoad.
func (l *machineLoad) Complete() bool {
	return !slices.ContainsFunc(l.parts, func(p *part) bool { return p.report == nil || !p.account.Complete() })
}

// Quiet implements run.MachineLoad.
func (l *machineLoad) Quiet() (list []watch.QuietTimes) {
	for _, p := range l.parts {
		if p.report != nil {
			list = append(list, p.report.Quiet)
		}
	}
	return list
}

// Machines implements run.MachineLoad.
func (l *machineLoad) Machines() (list []metric.Machine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := int64(0)
	for i := range l.r.Scenario.Phases {
		if at := l.started[i]; !l.r.Scenario.Phases[i].Warmup && at != 0 && first == 0 {
			first = at
		}
	}
	for _, p := range l.parts {
		m := metric.Machine{
			Name: p.name, Host: p.host, Index: p.index, Complete: p.account.Complete(), Problem: p.problem, ClockOffset: p.now.Offset, ClockBound: time.Duration(p.now.Bound),
			OutOfSight: p.unseen, Delivered: p.account.Rows, Pieces: p.account.Pieces, Cores: p.cores,
		}
		for i := range p.now.Snapshots {
			m.Sent += p.now.Snapshots[i].Sent
		}
		m.SentAll = !p.fenced() && len(p.now.Snapshots) == len(l.r.Scenario.Phases) && !slices.ContainsFunc(p.now.Snapshots, func(s load.Snapshot) bool { return s.SentAll == 0 })
		if at := p.leftAt(); at != 0 {
			m.LostAt = max(1, time.Duration(at-first))
		}
		if p.fenced() && m.Problem == "" {
			m.Problem = "it lost sight of the controller and stopped by itself"
		}
		if r := p.report; r != nil {
			m.CPUShare, m.Stalls = r.Stats.CPUShare, r.Stats.Stalls.Count
			m.LagP99 = lagOf(r.Phases)
		}
		list = append(list, m)
	}
	return list
}

// fenced reports whether the machine lost sight of the controller and ended its part by itself.
func (p *part) fenced() bool { return p.report != nil && p.report.Fenced }

// leftAt returns since when a machine that was lost, or ended its part by itself, is missing in the load; 0 = it did not leave. A machine whose process
// was stopped ends its part only when it continues: it is missing since the controller gave it up.
func (p *part) leftAt() int64 {
	if !p.fenced() {
		return p.lostAt
	}
	stopped := int64(0)
	for i := range p.now.Snapshots {
		stopped = cmp.Or(p.now.Snapshots[i].SentAll, stopped)
	}
	if p.lostAt != 0 && stopped != 0 {
		return min(p.lostAt, stopped)
	}
	return cmp.Or(stopped, p.lostAt)
}

// lagOf returns p99 of the schedule lag of the measured phases.
func lagOf(phases []*load.PhaseStats) time.Duration {
	var h load.Histogram
	for _, f := range phases {
		if !f.Info.Warmup {
			h.Merge(&f.Schedule.Lag)
		}
	}
	return time.Duration(h.Quantile(0.99))
}
