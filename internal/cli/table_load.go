package cli

import "aiperf/internal/cli/args"

// loadFlags are the flags of profile for when requests leave.
var loadFlags = concat(
	group("Load Generator", []args.Flag{
		{Names: []string{"--benchmark-duration"}, Kind: args.Float, Bounds: "> 0", Sweep: true, Tier: "S", Help: "stop sending after this many s"},
		{Names: []string{"--benchmark-grace-period"}, Kind: args.Float, Bounds: ">= 0", Default: "30", Inf: true, Tier: "S", Help: "wait this long for answers after the duration, in s"},
		{Names: []string{"--concurrency"}, Kind: args.Int, Bounds: ">= 1", Default: "1 without a rate, schedule or users; else unlimited", Sweep: true, Tier: "S", Help: "sessions in flight: the driver without a rate, else a ceiling"},
		{Names: []string{"--prefill-concurrency"}, Kind: args.Int, Bounds: ">= 1", Sweep: true, Tier: "S", Help: "requests that may wait for their first token; needs --streaming"},
		{Names: []string{"--request-rate"}, Kind: args.Float, Bounds: "> 0", Sweep: true, Tier: "S", Help: "requests per second, sent whatever the answers do"},
		{Names: []string{"--arrival-pattern", "--request-rate-mode"}, Kind: args.Enum, Choices: []string{"constant", "poisson", "gamma", "concurrency_burst"}, Default: "poisson", Tier: "S", Help: "law of the gaps between requests of a rate"},
		{Names: []string{"--arrival-smoothness", "--vllm-burstiness"}, Kind: args.Float, Bounds: "> 0", Default: "1", Tier: "S", Help: "shape of gamma gaps: 1 is poisson, larger is smoother"},
		{Names: []string{"--request-count", "--num-requests"}, Kind: args.Int, Bounds: ">= 1", Default: "max(10, 2 x concurrency); the rows of a schedule", Sweep: true, Tier: "S", Help: "stop after this many requests"},
		{Names: []string{"--concurrency-ramp-duration"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "raise the concurrency to its value in this many s"},
		{Names: []string{"--prefill-concurrency-ramp-duration"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "raise the prefill concurrency in this many s"},
		{Names: []string{"--request-rate-ramp-duration"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "raise the request rate in this many s"},
		{Names: []string{"--request-rate-series"}, Kind: args.Path, Absent: true, Tier: "U", Help: "file with a rate that changes over time"},
		{Names: []string{"--failed-request-threshold"}, Kind: args.Float, Bounds: ">= 0, <= 1", Tier: "U", Help: "end the run when more than this share of requests fails"},
		{Names: []string{"--trajectory-start-min-ratio"}, Kind: args.Float, Bounds: ">= 0, <= 1", Default: "0.25", NotBuilt: true, Tier: "U", Help: "earliest start inside a trajectory"},
		{Names: []string{"--trajectory-start-max-ratio"}, Kind: args.Float, Bounds: ">= 0, <= 1", Default: "0.75", NotBuilt: true, Tier: "U", Help: "latest start inside a trajectory"},
		{Names: []string{"--burst-phase-starts"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "start all trajectories of a phase together"},
		{Names: []string{"--trace-idle-gap-cap-seconds"}, Kind: args.Float, Bounds: ">= 0", NotBuilt: true, Tier: "U", Help: "longest idle gap inside a trace, in s"},
		{Names: []string{"--system-idle-gap-cap-seconds"}, Kind: args.Float, Bounds: ">= 0", NotBuilt: true, Tier: "U", Help: "longest idle gap of the whole system, in s"},
	}),
	group("User-Centric Rate", []args.Flag{
		{Names: []string{"--user-centric-rate"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "requests per second of all users together, each user waiting for its answers"},
		{Names: []string{"--num-users"}, Kind: args.Int, Bounds: ">= 1", Sweep: true, Tier: "S", Help: "number of those users"},
	}),
	group("Warmup", []args.Flag{
		{Names: []string{"--warmup-request-count", "--num-warmup-requests"}, Kind: args.Int, Bounds: "> 0", Zero: true, Tier: "S", Help: "warm up with this many requests"},
		{Names: []string{"--warmup-duration"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "warm up for this many s"},
		{Names: []string{"--agentic-cache-warmup-duration"}, Kind: args.Float, Bounds: "> 0", NotBuilt: true, Tier: "U", Help: "prime caches of an agentic replay, in s"},
		{Names: []string{"--agentic-warmup-grace-period"}, Kind: args.Float, Bounds: ">= 0", NotBuilt: true, Tier: "U", Help: "wait this long after that, in s"},
		{Names: []string{"--num-warmup-sessions"}, Hidden: []string{"--warmup-num-sessions"}, Kind: args.Int, Bounds: ">= 1", Tier: "S", Help: "warm up with this many sessions"},
		{Names: []string{"--warmup-concurrency"}, Kind: args.Int, Bounds: ">= 1", Default: "as in the run", Tier: "S", Help: "concurrency of the warm-up"},
		{Names: []string{"--warmup-prefill-concurrency"}, Kind: args.Int, Bounds: ">= 1", Default: "as in the run", Tier: "S", Help: "prefill concurrency of the warm-up"},
		{Names: []string{"--warmup-request-rate"}, Kind: args.Float, Bounds: "> 0", Default: "as in the run", Tier: "S", Help: "request rate of the warm-up"},
		{Names: []string{"--warmup-arrival-pattern"}, Kind: args.Enum, Choices: []string{"constant", "poisson", "gamma", "concurrency_burst"}, Default: "as in the run", Tier: "S", Help: "arrival pattern of the warm-up"},
		{Names: []string{"--warmup-grace-period"}, Kind: args.Float, Bounds: ">= 0", Default: "unlimited", Inf: true, Tier: "S", Help: "wait this long for answers after --warmup-duration, in s"},
		{Names: []string{"--warmup-concurrency-ramp-duration"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "concurrency ramp of the warm-up, in s"},
		{Names: []string{"--warmup-prefill-concurrency-ramp-duration"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "prefill ramp of the warm-up, in s"},
		{Names: []string{"--warmup-request-rate-ramp-duration"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "rate ramp of the warm-up, in s"},
	}),
	group("Request Cancellation", []args.Flag{
		{Names: []string{"--request-cancellation-rate"}, Kind: args.Float, Bounds: "> 0, <= 100", Zero: true, Tier: "S", Help: "percent of requests to cut short; 0 is none"},
		{Names: []string{"--request-cancellation-delay"}, Kind: args.Float, Bounds: ">= 0", Default: "0", Tier: "S", Help: "cut them this many s after they were sent"},
	}),
	group("Scenario", []args.Flag{
		{Names: []string{"--scenario"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "named set of locked values"},
		{Names: []string{"--unsafe-override"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "allow values that break the scenario's lock"},
	}),
)
