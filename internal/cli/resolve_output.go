package cli

import (
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/tokenizer"
)

// output fills what is written and where.
func (r *resolver) output() {
	a := &r.run.Artifacts
	a.Dir = r.set.Text("--artifact-dir", config.DefaultDir(&r.run.Benchmark))
	if err := dirExists(a.Dir); err != nil {
		r.fail("%s %s: %v", r.as("--artifact-dir"), a.Dir, err)
	}
	a.Prefix = r.set.Text("--profile-export-prefix", "")
	switch r.set.Text("--export-level", "records") {
	case "summary":
		a.Records = nil
	case "raw":
		a.Raw = true
	}
	if f := r.set.Floats("--slice-duration"); f != nil {
		d := config.Seconds(f[0])
		a.SliceDuration = &d
	}
	a.Trace, a.ShowTraceTiming = r.on("--export-http-trace"), r.on("--show-trace-timing")
	if r.has("--goodput") {
		slos, err := parseGoodput(r.set.Text("--goodput", ""))
		if err != nil {
			r.fail("%s: %v", r.as("--goodput"), err)
		}
		r.run.SLOs = slos
	}
	r.run.GPUTelemetry.Enabled = !r.on("--no-gpu-telemetry")
	r.run.ServerMetrics.Enabled = !r.on("--no-server-metrics")
}

// runtime fills how the tool itself runs and shows itself.
func (r *resolver) runtime() {
	rt := &r.run.Runtime
	rt.Workers, rt.RecordProcessors = first(r.set.Ints("--workers-max")), first(r.set.Ints("--record-processor-service-count"))
	if f := r.set.Floats("--stats-interval"); f != nil {
		s := config.Seconds(f[0])
		rt.StatsInterval = &s
	}
	switch {
	case r.has("--zmq-host"):
		rt.Communication = &config.Communication{Type: "tcp", Host: r.set.Text("--zmq-host", "")}
	case r.has("--zmq-ipc-path"):
		rt.Communication = &config.Communication{Type: "ipc", Path: r.set.Text("--zmq-ipc-path", "")}
	}
	rt.UI = r.view()
	r.run.Logging.Level = r.level()
}

// view chooses the live view. The dashboard stands for simple until it is built, unless it is asked for by name.
func (r *resolver) view() config.UI {
	asked := config.UI(r.set.Text("--ui", ""))
	switch {
	case asked == config.UIDashboard && !r.terminal:
		r.warn("%s dashboard needs a terminal; using simple", r.as("--ui"))
		return config.UISimple
	case asked == config.UIDashboard:
		r.fail("%s dashboard: not built yet; built are simple and none", r.as("--ui"))
		return config.UISimple
	case asked != "":
		return asked
	case r.on("--verbose") || r.on("--extra-verbose") || r.terminal:
		return config.UISimple
	}
	return config.UINone
}

// level is the log level: -vv beats -v beats --log-level, wherever they stand.
func (r *resolver) level() string {
	verbose := 0
	if g := r.set.Get("--verbose"); g != nil {
		verbose = len(g.Spelled)
	}
	switch {
	case r.on("--extra-verbose") || verbose > 1:
		return "TRACE"
	case r.on("--verbose"):
		return "DEBUG"
	}
	return r.set.Text("--log-level", r.run.Logging.Level)
}

// tokenizer names the tokenizer; a model name that looks like a stand-in gets the built-in one.
func (r *resolver) tokenizer() {
	t := &r.run.Tokenizer
	t.Name = r.set.Text("--tokenizer", "")
	t.Revision = r.set.Text("--tokenizer-revision", t.Revision)
	t.TrustRemoteCode = r.on("--tokenizer-trust-remote-code")
	t.ApplyChatTemplate = r.on("--apply-chat-template")
	if t.TrustRemoteCode {
		r.warn("%s: code of a repository is never run; the tokenizer's files are used", r.as("--tokenizer-trust-remote-code"))
	}
	if t.Name != "" || len(r.run.Models.Items) == 0 || !needsTokenizer(r.run) {
		return
	}
	names := r.run.Models.Names()
	if slices.ContainsFunc(names, func(n string) bool { return !tokenizer.IsPlaceholder(n) }) {
		return
	}
	t.Name = "builtin"
	if r.has("--model") || len(r.set.Words) > 0 {
		r.warn("model %s looks like a stand-in: counting with the builtin tokenizer; --tokenizer names another", strings.Join(names, ", "))
	}
}
