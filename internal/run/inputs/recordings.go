package inputs

import (
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/weka"
)

// AgentOptions returns the options for recorded agents.
func AgentOptions(b *config.Benchmark, d *config.Dataset) weka.Options {
	t := &b.Environment.Dataset.Weka
	o := weka.Options{
		Detection: weka.Detection{
			Split: t.SplitAgents, SeamGap: float64(t.SeamMaxGap), SeamOverlap: t.SeamMinOverlap,
			AuxRequests: t.AuxMaxRequests, AuxRatio: t.AuxRatio, AuxFloor: t.AuxFloor, AuxModel: t.AuxCrossModel,
			ReductionOut: t.ReductionMaxOut, ReductionRate: t.ReductionRatio, GroupMin: t.GroupMin,
		},
		Tools: t.ToolMessages, Instant: d.IgnoreTraceDelays, ThinkTime: d.UseThinkTimeOnly,
	}
	if p := b.Profiling(); p != nil {
		o.Order = p.Replays()
	}
	if d.TraceIdleGapCap != nil {
		s := float64(*d.TraceIdleGapCap)
		o.IdleCap = &s
	}
	return o
}

// JoinOptions returns how recorded agents are matched with the sub-agents that they started.
func JoinOptions(b *config.Benchmark) weka.Join {
	t := &b.Environment.Dataset.TraceLab
	return weka.Join{Agents: t.SubagentJoin, Codex: t.CodexSubagentJoin, Least: t.MinSpawn}
}

// ColumnOptions returns the options for a trace in columns.
func ColumnOptions(b *config.Benchmark, d *config.Dataset) custom.Columnar {
	c := custom.Columnar{
		SessionColumn: b.Environment.Dataset.BasetenColumn, Share: config.Value(d.SessionSampleRatio), Speedup: config.Value(d.ReplaySpeedup),
		ClosedLoop: d.OpenLoopReplay != nil && !*d.OpenLoopReplay, Strict: d.OpenLoopStrict,
		NoHints: d.OmitKVHints, FreeLength: d.ForceMinTokens != nil && !*d.ForceMinTokens,
	}
	if d.MaxIdleGapCap != nil {
		ms := float64(*d.MaxIdleGapCap) * 1000
		c.IdleCap = &ms
	}
	return c
}
