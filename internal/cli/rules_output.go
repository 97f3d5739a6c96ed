package cli

// once reports whether the benchmark runs a single time.
func once(r *resolver) bool { return r.run.MultiRun.NumRuns == 1 && r.run.Sweep == nil }

// outputRules say which output, telemetry and repetition flags exclude or need each other.
var outputRules = []rule{
	{row: "honest", test: func(r *resolver) (string, bool) {
		return r.as("--export-http-trace") + " has no effect with --export-level summary: no record files are written",
			r.on("--export-http-trace") && len(r.run.Artifacts.Records) == 0 && !r.run.Artifacts.Raw
	}, warn: true},
	{row: "67", test: func(r *resolver) (string, bool) {
		return r.as("--gpu-telemetry") + " and " + r.as("--no-gpu-telemetry") + " contradict each other", r.has("--gpu-telemetry") && r.on("--no-gpu-telemetry")
	}},
	{row: "67", test: func(r *resolver) (string, bool) {
		return r.as("--server-metrics") + " and " + r.as("--no-server-metrics") + " contradict each other", r.has("--server-metrics") && r.on("--no-server-metrics")
	}},
	{row: "67", test: together("--network-latency-automatic", "--network-latency-mean", "measure the round trip, or give it")},
	{row: "67", test: needs("--network-latency-ping-interval", "--network-latency-automatic", "nothing else is probed")},
	{row: "74", test: together("--zmq-host", "--zmq-ipc-path", "neither has an effect"), warn: true},
	{row: "75", test: anyWhen(func(r *resolver) bool { return r.run.MultiRun.NumRuns == 1 }, "needs --num-profile-runs above 1",
		"--profile-run-cooldown-seconds", "--profile-run-disable-warmup-after-first")},
	{row: "75", test: anyWhen(func(r *resolver) bool { return r.run.MultiRun.NumRuns == 1 }, "has no effect with one run; see --num-profile-runs",
		"--confidence-level"), warn: true},
	{row: "75", test: anyWhen(once, "needs --num-profile-runs above 1 or a sweep", "--set-consistent-seed")},
	{row: "75", test: anyWhen(once, "has no effect with one run; see --num-profile-runs", "--vary-seed-per-trial"), warn: true},
	{row: "75", test: anyWhen(func(r *resolver) bool { return r.run.MultiRun.NumRuns == 1 }, "needs --num-profile-runs above 1: it says how many runs there are at most", "--convergence-metric")},
	{row: "75", test: anyWhen(func(r *resolver) bool {
		return !r.has("--convergence-metric") && (!r.over || r.run.MultiRun.Convergence == nil)
	}, "needs --convergence-metric",
		"--convergence-stat", "--convergence-mode", "--convergence-threshold")},
	{row: "75", test: func(r *resolver) (string, bool) {
		c := r.run.MultiRun.Convergence
		return r.as("--convergence-mode") + " distribution compares single requests: it needs --export-level records or raw",
			c != nil && c.Mode == "distribution" && len(r.run.Artifacts.Records) == 0 && !r.run.Artifacts.Raw
	}},
	{row: "N", test: together("--resume", "--artifact-dir", "the series goes on in the directory of --resume")},
	{row: "N", test: anyWhen(once, "needs a series: --num-profile-runs above 1 or a sweep", "--resume")},
	{row: "8", test: anyWhen(func(r *resolver) bool { return r.run.Sweep == nil }, "has no effect without a list of values to sweep",
		"--sweep-type", "--parameter-sweep-mode", "--parameter-sweep-cooldown-seconds", "--parameter-sweep-same-seed", "--no-sweep-table"), warn: true},
}
