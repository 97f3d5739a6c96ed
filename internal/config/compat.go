package config

import (
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
)

// NoLegacyFlags is the flag that rejects GenAI-Perf's flags.
const NoLegacyFlags = "--no-legacy-flags"

// GroupGenAIPerf is the help heading of the flags that only GenAI-Perf had.
const GroupGenAIPerf = "GenAI-Perf compatibility"

var genaiPerfCompatibilityRows = group(GroupGenAIPerf, []setting.Row{
	{Flags: []string{NoLegacyFlags}, Kind: setting.Bool, Help: "refuse flags and values of GenAI-Perf"},
	{Flags: []string{"--service-kind"}, Kind: setting.Enum, Choices: []string{"openai", "triton", "tensorrtllm_engine", "dynamic_grpc"}, NoEffect: "--endpoint-type decides", Help: "accepted from GenAI-Perf"},
	{Secret: redact.Address, Flags: []string{"--server-metrics-urls", "--server-metrics-url"}, Key: "gpu_telemetry.urls", Manual: true, Kind: setting.Text, List: true, Help: "GenAI-Perf's name of --gpu-telemetry"},
	{Flags: []string{"--output-tokens-mean-deterministic"}, Kind: setting.Bool, Help: "make the server produce exactly --osl tokens"},
	{Flags: []string{"--measurement-interval", "-p"}, Key: "phases.profiling.duration", Manual: true, Unit: "ms", Kind: setting.Int, Bounds: ">= 1", Help: "GenAI-Perf's window, in ms; the run lasts three windows"},
	{Flags: []string{"--stability-percentage", "-s"}, Kind: setting.Float, NoEffect: "a run has one window; see --num-profile-runs", Help: "accepted from GenAI-Perf"},
	{Flags: []string{"--generate-plots"}, Key: "artifacts.auto_plot", Manual: true, Kind: setting.Bool, Help: "draw GenAI-Perf's five plots after the run"},
	{Flags: []string{"--session-concurrency"}, Key: "phases.profiling.concurrency", Manual: true, Pace: true, Kind: setting.Int, Bounds: ">= 1", Zero: true, Help: "GenAI-Perf's name of --concurrency"},
	{Flags: []string{"--checkpoint-dir"}, Kind: setting.Path, NoEffect: "--resume continues a stopped sweep", Help: "accepted from GenAI-Perf"},
	{Flags: []string{"--enable-checkpointing"}, Kind: setting.Bool, NoEffect: "--resume continues a stopped sweep", Help: "accepted from GenAI-Perf"},
	{Flags: []string{"--override-config"}, Kind: setting.Bool, NoEffect: "flags always win over the file", Help: "accepted from GenAI-Perf"},
	{Flags: []string{"--max-threads"}, Kind: setting.Int, NoEffect: "see --workers-max", Help: "accepted from GenAI-Perf"},
})
