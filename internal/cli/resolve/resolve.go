// Package resolve makes a configuration from parsed flags, the environment and a configuration file. It reports problems, warnings and notes in the
// words of the command line.
package resolve

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset/custom"
)

// Surroundings is what the meaning of a command line depends on besides its words.
type Surroundings struct {
	Environ  []string    // "KEY=value"
	Terminal bool        // standard output is a terminal
	Ask      ModelLister // returns the models of the server; nil = no request may be sent
	// Mounted reports whether a path is on a volume of the pods that send the run; nil = the run is sent from here.
	Mounted func(path string) bool
}

// resolver makes a run from flags, environment and files, and collects messages.
type resolver struct {
	Surroundings
	set         *setting.CommandLine
	fromFile    bool // the run comes from a file: settings without a flag stay unchanged
	run         *config.Run
	place       func(path string) string // returns where a value is in the file; nil without a file
	endpoint    *endpoint.Endpoint
	file        *custom.FileSample // nil without an input file
	load        loadFlags
	axes        config.Axes // that no flag can express: those of GenAI-Perf's sweeps
	modelWanted bool        // the user named no model; askModel asks the server
	simulated   bool        // askModel asked, and a simulated server of this program answered
	Findings
}

// Findings holds the messages about a command line. A problem means that the run must not be used; a note is only information.
type Findings struct {
	Problems, Warnings, Notes []string
	Unfetched                 bool // the tokenizer's vocabulary must be downloaded before the run
}

func (r *resolver) fail(format string, a ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, a...))
}

func (r *resolver) warn(format string, a ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, a...))
}

func (r *resolver) note(format string, a ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, a...))
}

// has reports whether a flag is given (a 0 that means off does not count).
func (r *resolver) has(flag string) bool { return r.set.Has(flag) }

// on reports whether a boolean flag is given as true.
func (r *resolver) on(flag string) bool { return r.set.True(flag, false) }

// spelled returns a flag as the user spelled it.
func (r *resolver) spelled(flag string) string { return r.set.Spelled(flag) }

// given lists which of some flags are given, as the user spelled them.
func (r *resolver) given(flags ...string) []string {
	var names []string
	for _, f := range flags {
		if r.has(f) {
			names = append(names, r.spelled(f))
		}
	}
	return names
}

// old notes how a flag of GenAI-Perf is translated.
func (r *resolver) old(flag, now string) { r.translated(r.spelled(flag), now) }

// translated notes how words of GenAI-Perf are translated, or refuses them.
func (r *resolver) translated(words, now string) {
	if r.on(config.NoLegacyFlags) {
		r.fail("%s of GenAI-Perf: write %s; %s refuses it", words, now, config.NoLegacyFlags)
		return
	}
	r.note("%s is a GenAI-Perf flag; it is run as %s", words, now)
}

// FromFlags makes a run from flags and environment. The run also sweeps the given axes, nil = none. It is complete only if there are no problems.
func FromFlags(set *setting.CommandLine, about Surroundings, axes config.Axes) (*config.Run, Findings) {
	r := &resolver{Surroundings: about, set: set, run: config.Default(), axes: axes}
	r.Problems, r.Warnings = ReadEnvironment(about.Environ, &r.run.Environment)
	r.Warnings = append(r.Warnings, set.Warnings...)
	r.sections()
	r.advise()
	r.validate()
	r.askModel()
	return r.run, r.Findings
}

// validate adds the problems of the resolved run. A setting with an earlier problem is not reported again.
func (r *resolver) validate() {
	r.judgedBy()
	before := r.Problems
	r.run.Spelling = r.spell
	for _, one := range r.run.Violations() {
		told := func(p string) bool {
			flag := r.spell(one.Key)
			return strings.HasPrefix(p, flag+":") || strings.HasPrefix(p, flag+" ") || strings.Contains(p, " and "+flag+":") // as the second of two that exclude each other
		}
		if one.Key == "benchmark.models" && (r.modelWanted || len(r.run.Endpoint.URLs) == 0) { // askModel finds it, or reports the error
			continue
		}
		if !slices.ContainsFunc(before, told) {
			r.Problems = append(r.Problems, one.Text)
		}
	}
}

// spell returns the path of a value as the user wrote it: the given flag, else file and line, else the flag that exists. With "=value" it names the
// setting that selects the value.
func (r *resolver) spell(path string) string {
	path, value, chosen := strings.Cut(path, "=")
	key := r.run.ShortKey(path)
	if chosen {
		if flag := choosers[key+"="+value]; flag != "" && (r.place == nil || r.has(flag)) {
			return r.spelled(flag)
		}
		return r.spell(path) + " " + value
	}
	if i := strings.IndexByte(key, '['); i > 0 {
		key = key[:i]
	}
	if axis, ok := strings.CutPrefix(key, "sweep.parameters."); ok {
		key = r.run.ShortKey(axis)
	}
	if key == "models" {
		key = "models.items"
	}
	flag := ""
	for _, row := range config.RowsOf(key) {
		switch {
		case row.Name() != "" && r.has(row.Name()):
			return r.spelled(row.Name())
		case flag == "":
			flag = row.Name()
		}
	}
	switch {
	case r.place != nil:
		return r.place(r.run.LongKey(path))
	case flag != "":
		return flag
	case key == "phases.profiling":
		return "the run"
	case key == "phases.warmup":
		return "the warm-up"
	}
	return path
}

// choosers maps values of a key to flags that select them.
var choosers = map[string]string{
	measuredPhase + "type=fixed_schedule": "--fixed-schedule",
	measuredPhase + "type=user_centric":   "--user-centric-rate",
}

// sections fills every section of the run and checks the combination.
func (r *resolver) sections() {
	r.warnIdleEnvironment()
	r.oldNames()
	r.bind("scenario")
	r.bind("unsafe_override")
	r.endpointSection()
	r.models()
	r.dataset()
	r.accuracy()
	r.loadShape()
	r.phases()
	r.repetition()
	r.lock()
	r.tokenizer()
	r.output()
	r.runtime()
	r.check()
}

// oldNames notes which of GenAI-Perf's flags have no effect here, and what others are translated to.
func (r *resolver) oldNames() {
	for _, g := range r.set.All() {
		if g.Row.NoEffect != "" {
			r.warn("%s has no effect: %s", r.spelled(g.Row.Name()), g.Row.NoEffect)
		}
	}
	if r.has("--measurement-interval") {
		if r.on(config.NoLegacyFlags) {
			r.fail("%s of GenAI-Perf: write --benchmark-duration; %s refuses it", r.spelled("--measurement-interval"), config.NoLegacyFlags)
		}
		r.warn("%s is run as --benchmark-duration of three times its length (GenAI-Perf measured three intervals)", r.spelled("--measurement-interval"))
	}
}

// models reads the names from --model, from one bare word, or "mock" for the embedded server.
func (r *resolver) models() {
	names := r.set.Texts("--model")
	if words := r.set.Words; len(words) > 0 {
		switch {
		case strings.Contains(words[0], "://") && !r.has("--url"):
			r.fail("%q is not a flag; write --url %s", words[0], words[0])
			r.modelWanted = true // nothing else is said about the model
			return
		case len(words) == 1 && !r.has("--model") && truthWord(words[0]):
			r.fail("unexpected word %q: a flag that is on or off, such as --streaming, takes no word after it. Write --streaming or --streaming=false; a model of this name is --model %s", words[0], words[0])
			r.modelWanted = true
			return
		case len(words) == 1 && !r.has("--model"):
			for name := range strings.SplitSeq(words[0], ",") {
				if name = strings.TrimSpace(name); name != "" {
					names = append(names, name)
				}
			}
		case r.has("--model"):
			r.fail("unexpected word %q: profile takes flags only", words[0])
		default:
			r.fail("unexpected words %q: one bare word is the model, the rest are flags", strings.Join(words, " "))
		}
	}
	r.bind("models.")
	if len(names) == 0 && len(r.run.Models.Items) > 0 {
		return
	}
	if len(names) == 0 && !r.has("--model") && len(r.set.Words) == 0 {
		if !r.mocked() {
			r.modelWanted = true
			return
		}
		names = []string{"mock"}
	}
	r.run.Models.Items = nil
	for _, n := range names {
		r.run.Models.Items = append(r.run.Models.Items, config.Model{Name: n})
	}
}

// truthWord reports whether a word is a yes or a no.
func truthWord(word string) bool {
	return slices.Contains([]string{"yes", "no", "true", "false", "on", "off", "1", "0"}, strings.ToLower(word))
}

// mocked reports whether every URL is the embedded server.
func (r *resolver) mocked() bool {
	for _, u := range r.run.Endpoint.URLs {
		if !IsMock(u) {
			return false
		}
	}
	return len(r.run.Endpoint.URLs) > 0
}
