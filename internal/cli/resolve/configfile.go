package resolve

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
)

// FromFile reads a run from --config and applies the flags on top of it.
func FromFile(set *setting.CommandLine, about Surroundings) (*config.Run, Findings) {
	environment := config.DefaultEnvironment()
	problems, warnings := ReadEnvironment(about.Environ, &environment)
	run, notes, err := config.Load(set.Text("--config", ""), environment, getenv(about.Environ))
	if err != nil {
		return nil, Findings{Problems: append(problems, set.Spelled("--config")+": "+err.Error())}
	}
	r := &resolver{Surroundings: about, set: set, run: run, fromFile: true, place: run.Spelling, Findings: Findings{Problems: problems, Warnings: slices.Concat(warnings, set.Warnings, notes)}}
	run.TakeFirst()
	r.plainNames()
	if len(run.Datasets) == 1 && run.Profiling() != nil {
		r.builtFile()
		r.idleKeys()
		r.sections()
		run.GivenByFlags(r.givenKeys())
	} else {
		r.urls() // check URLs first, so that a URL without a scheme causes no further errors
	}
	r.validate()
	r.askModel()
	return run, r.Findings
}

// givenKeys returns the keys that flags set.
func (r *resolver) givenKeys() (keys []string) {
	for _, g := range r.set.All() {
		if g.Row.Key != "" && r.has(g.Row.Name()) {
			keys = append(keys, g.Row.Key)
		}
	}
	return keys
}

// plainNames normalises names that only this package knows (of benchmarks, graders, formats, public datasets), as for flags.
func (r *resolver) plainNames() {
	if len(r.run.Datasets) != 1 {
		return
	}
	for i := range Flags.Rows {
		row := &Flags.Rows[i]
		if row.Kind != setting.Enum || row.Key == "" || row.Manual {
			continue
		}
		if v, ok := r.run.Lookup(row.Key).(string); ok {
			if name, known := setting.Choice(v, row.Values()); known && name != v {
				if err := r.run.Put(row.Key, name); err != nil {
					r.fail("%s: %v", r.place(r.run.LongKey(row.Key)), err)
				}
			}
		}
	}
}

// getenv returns a lookup function for an environment ("KEY=value").
func getenv(environ []string) config.Getenv {
	return func(name string) (string, bool) {
		for _, one := range slices.Backward(environ) {
			if key, value, ok := strings.Cut(one, "="); ok && key == name {
				return value, true
			}
		}
		return "", false
	}
}

// fileURLs completes and checks the URLs of a file.
func (r *resolver) fileURLs() {
	for i, given := range r.run.Endpoint.URLs {
		u, err := parseURLOf(r.scheme(), given)
		place := r.spell(fmt.Sprintf("benchmark.endpoint.urls[%d]", i))
		switch {
		case strings.Contains(given, config.Redacted):
			r.fail("%s is masked; give the URL with --url", place)
		case err != nil:
			r.fail("%s: %v", place, err)
		default:
			r.run.Endpoint.URLs[i] = u
		}
	}
}

// builtFile refuses settings of a file that this build does not support: every key whose settings are not built, unless a rule reports it.
func (r *resolver) builtFile() {
	run := r.run
	told := map[string]bool{}
	for _, row := range config.SharedRows() {
		if row.Key == "" || row.Env != "" || slices.ContainsFunc(config.RowsOf(row.Key), func(other setting.Row) bool { return !other.NotBuilt }) {
			continue
		}
		section := strings.Join(strings.SplitN(row.Key, ".", 4)[:min(3, strings.Count(row.Key, ".")+1)], ".")
		if !told[section] && !reflect.DeepEqual(run.Lookup(row.Key), standard.Lookup(row.Key)) && !r.neutral(row.Key) {
			told[section] = true
			r.fail("%s: not built yet", r.place(run.LongKey(row.Key)))
		}
	}
}

// neutral reports whether a key has the default effect although its section is not the default one.
func (r *resolver) neutral(key string) bool {
	switch v := r.run.Lookup(key).(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	}
	return false
}

// idleKeys warns of keys that are accepted but have no effect, as for flags.
func (r *resolver) idleKeys() {
	for _, row := range config.SharedRows() {
		if row.NoEffect == "" || row.Env != "" || row.Key == "" || r.set.Get(row.Name()) != nil {
			continue
		}
		if v := r.run.Lookup(row.Key); v != nil && v != "" && !reflect.DeepEqual(v, standard.Lookup(row.Key)) {
			r.warn("%s has no effect: %s", r.place(r.run.LongKey(row.Key)), row.NoEffect)
		}
	}
	for i, m := range r.run.Models.Items {
		if m.Weight != nil && r.run.Models.Strategy != config.ModelWeighted {
			r.warn("%s has no effect: the strategy is %s, not %s", r.place(fmt.Sprintf("benchmark.models.items[%d].weight", i)), r.run.Models.Strategy, config.ModelWeighted)
		}
	}
	if r.run.Tokenizer.TrustRemoteCode && !r.on("--tokenizer-trust-remote-code") {
		r.warn("%s has no effect: code of a repository is never run", r.place("benchmark.tokenizer.trust_remote_code"))
	}
}
