package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/report/artifact"
	"aiperf/internal/series/gate"
	"aiperf/internal/text/tokenizer"
)

// output fills in the settings of the results.
func (r *resolver) output() {
	a := &r.run.Artifacts
	r.bind("artifacts.")
	r.bind("junit")
	r.bind("fail_on_verdict")
	r.bind("allow_invalid")
	if r.run.JUnit != "" && r.Mounted == nil {
		if err := artifact.CanWrite(r.run.JUnit); err != nil {
			r.fail("%s: %v", r.spell("junit"), err)
		}
	}
	r.plots()
	if r.has("--fail-if") {
		r.run.FailIf = r.set.Texts("--fail-if")
	}
	r.conditions(r.spell("fail_if"), r.run.FailIf)
	if r.has("--objective") {
		given, err := FailConditions(r.set.Texts("--objective"))
		if err != nil {
			r.fail("%s: %v", r.spelled("--objective"), err)
		}
		r.conditions(r.spelled("--objective"), given)
		r.run.FailIf = append(slices.Clone(r.run.FailIf), given...)
	}
	if r.has("--resume") {
		a.Dir, r.run.Resume = r.set.Text("--resume", ""), true
	}
	if !r.modelWanted { // otherwise askModel does it
		r.directory()
	}
	switch r.set.Text("--export-level", "") {
	case "summary":
		a.Records, a.Raw = nil, false
	case "records":
		a.Records, a.Raw = config.Formats{"jsonl"}, false
	case "raw":
		a.Records, a.Raw = config.Formats{"jsonl"}, true
	}
	if r.has("--goodput") {
		slos, err := ParseGoodput(r.set.Text("--goodput", ""))
		if err != nil {
			r.fail("%s: %v", r.spelled("--goodput"), err)
		}
		merged := append(config.SLOs{}, r.run.SLOs...)
		for _, one := range slos {
			merged.Set(one.Tag, one.Threshold)
		}
		r.run.SLOs = merged
	}
}

// FailConditions converts objectives to the conditions that violate them.
func FailConditions(objectives []string) (conditions []string, err error) {
	for _, text := range objectives {
		one, bad := gate.Objective(text)
		if bad != nil {
			return nil, GateError(bad)
		}
		conditions = append(conditions, one)
	}
	return conditions, nil
}

// GateError adds the suggested spelling for a limit on the wrong side.
func GateError(err error) error {
	var side *gate.SideError
	if errors.As(err, &side) {
		return fmt.Errorf("%w; write --objective '%s', or --fail-if '%s'", err, side.Objective, side.Condition)
	}
	return err
}

// directory sets the artifact directory and refuses a file in its place.
func (r *resolver) directory() {
	a := &r.run.Artifacts
	if a.Dir == "" {
		series, _ := r.series() // a rule reports its errors
		a.Dir, a.KeepPrevious = config.DefaultDir(&r.run.Benchmark, series), true
	}
	if err := CheckDirectory(a.Dir); err != nil {
		r.fail("%s %s: %v", r.spell("artifacts.dir"), a.Dir, err)
	}
}

// plottedRecipes lists the recipes whose series is plotted by default.
var plottedRecipes = []string{"concurrency-ramp", "prefill-ttft-curve", "decode-itl-curve"}

// plots decides whether plots are drawn after the run: as the flag says, else the file (settings for plots enable them), else the recipe.
func (r *resolver) plots() {
	a := &r.run.Artifacts
	switch {
	case r.has("--auto-plot"):
		a.AutoPlot = r.on("--auto-plot")
	case r.on("--generate-plots"):
		r.old("--generate-plots", "--auto-plot, with five plots")
		a.AutoPlot = true
	case !r.run.Plot.IsZero(), r.run.Sweep != nil && slices.Contains(plottedRecipes, r.run.Sweep.RecipeName):
		a.AutoPlot = true
	}
	if r.on("--generate-plots") && slices.Contains([]string{"embeddings", "nim_embeddings", "chat_embeddings", "nim_rankings", "cohere_rankings", "hf_tei_rankings", "image_retrieval"}, r.run.Endpoint.Type) {
		r.fail("%s: there are no plots of %s", r.spelled("--generate-plots"), r.run.Endpoint.Type)
	}
}

// runtime fills in the settings of the tool itself.
func (r *resolver) runtime() {
	rt := &r.run.Runtime
	r.bind("runtime.")
	r.telemetry()
	r.streams()
	r.bind("environment.timing.no_fail_fast")
	switch {
	case r.has("--zmq-host"):
		rt.Communication = &config.Communication{Type: "tcp", Host: r.set.Text("--zmq-host", "")}
	case r.has("--zmq-ipc-path"):
		rt.Communication = &config.Communication{Type: "ipc", Path: r.set.Text("--zmq-ipc-path", "")}
	}
	rt.UI = r.view()
	r.livePanel()
	r.bind("tables")
	r.bind("machines.")
	if r.on("--verbose-report") {
		r.run.Tables = config.TablesAll
	}
	r.run.Logging.Level = r.level()
}

// view selects the live view.
func (r *resolver) view() config.UI {
	asked := config.UI(r.set.Text("--ui", ""))
	if r.fromFile && asked == "" && r.run.Runtime.UI != config.UINone {
		asked = r.run.Runtime.UI
	}
	switch {
	case asked == config.UIDashboard && !r.Terminal:
		r.warn("%s dashboard needs a terminal; using simple", r.spell("runtime.ui"))
		return config.UISimple
	case asked != "":
		return asked
	case r.on("--verbose") || r.on("--extra-verbose"): // even without a terminal, as in recorded command lines
		return config.UISimple
	case !r.Terminal:
		return config.UINone
	case r.run.Sweep != nil || r.run.MultiRun.NumRuns > 1:
		return config.UISimple
	}
	return config.UIDashboard
}

// level returns the log level: -vv takes precedence over -v, and -v over --log-level, in any order.
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

// tokenizer reads the settings of the tokenizer and selects one if none is given.
func (r *resolver) tokenizer() {
	r.bind("tokenizer.")
	if r.has("--tokenizer") {
		r.run.OneTokenizer()
	}
	if r.on("--tokenizer-trust-remote-code") {
		r.warn("%s: aiperf never runs code of a repository; it uses the tokenizer's files", r.spelled("--tokenizer-trust-remote-code"))
	}
	r.nameTokenizer()
}

// nameTokenizer selects the built-in tokenizer for a simulated server and for models with a placeholder name.
func (r *resolver) nameTokenizer() {
	t := &r.run.Tokenizer
	if t.Name != "" || len(r.run.Models.Items) == 0 || !NeedsTokenizer(r.run) {
		return
	}
	if r.simulated {
		t.Name = tokenizer.BuiltinName
		r.note("simulated server: counting with the builtin tokenizer (choose another with --tokenizer)")
		return
	}
	names := r.run.Models.Names()
	if slices.ContainsFunc(names, func(n string) bool { return !tokenizer.IsPlaceholder(n) }) {
		return
	}
	t.Name = "builtin"
	if r.has("--model") || len(r.set.Words) > 0 || r.fromFile {
		r.warn("model %s looks like a placeholder: counting with the builtin tokenizer (choose another with --tokenizer)", strings.Join(names, ", "))
	}
}
