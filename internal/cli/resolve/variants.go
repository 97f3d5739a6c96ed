package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config"
)

// variants returns the sweep of explicitly listed cells: "name: key=value, key=value".
func (r *resolver) variants() *config.Sweep {
	list := r.set.Texts("--variant")
	if len(list) < 2 {
		r.fail("%s: one variant is not a sweep; give the flag at least twice", r.spelled("--variant"))
		return nil
	}
	if lists := r.swept(); len(lists) > 0 {
		r.fail("%s and a list in %s exclude each other", r.spelled("--variant"), strings.Join(lists, ", "))
		return nil
	}
	s := &config.Sweep{Type: config.SweepScenarios, IterationOrder: "repeated", SLAFilters: r.searchSLA()}
	for i, text := range list {
		one, err := r.variant(i, text)
		if err != nil {
			r.fail("%s %q: %v", r.spelled("--variant"), text, err)
			return nil
		}
		s.Runs = append(s.Runs, *one)
	}
	return s
}

// variant reads one of them. A key is a flag without its dashes, an alias of the measured phase, or a path.
func (r *resolver) variant(i int, text string) (*config.Scenario, error) {
	name, rest, named := strings.Cut(text, ":")
	if !named || strings.Contains(name, "=") {
		name, rest = fmt.Sprintf("v%d", i), text
	}
	one := &config.Scenario{Name: strings.TrimSpace(name)}
	body, seen := map[string]any{}, map[string]bool{}
	for pair := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fmt.Errorf("%q is not key=value", strings.TrimSpace(pair))
		}
		path, err := r.variantPath(key)
		switch {
		case err != nil:
			return nil, err
		case seen[path]:
			return nil, fmt.Errorf("%s is given twice", key)
		}
		seen[path] = true
		setPath(body, strings.Split(path, "."), r.variantValue(key, path, strings.TrimSpace(value)))
	}
	r.follow(body, seen)
	return one, one.Benchmark.Encode(body)
}

// variantValue returns the value of a variant's key as in a file: a flag that takes several values takes one here.
func (r *resolver) variantValue(key, path, word string) any {
	row, _, isFlag := Flags.Lookup("--" + key)
	switch {
	case path == "models.items":
		return []any{map[string]any{"name": unquoted(word)}}
	case isFlag && row.List:
		return []any{parseValue(word)}
	case isFlag && row.Name() == "--arrival-pattern":
		if strings.EqualFold(strings.ReplaceAll(unquoted(word), "-", "_"), "concurrency_burst") {
			return string(config.PhaseConcurrency)
		}
	}
	return parseValue(word)
}

// follow adds what the same flags would imply: a rate sets its type, a request count the same number of entries.
func (r *resolver) follow(body map[string]any, seen map[string]bool) {
	p := r.run.Profiling()
	if p == nil {
		return
	}
	at := "phases." + p.Name + "."
	if typ := at + "type"; !seen[typ] && !p.Type.HasRate() && p.Type != config.PhaseUserCentric && (seen[at+"rate"] || seen[at+"smoothness"]) {
		of := config.PhasePoisson
		switch {
		case seen[at+"users"]:
			of = config.PhaseUserCentric
		case seen[at+"smoothness"]:
			of = config.PhaseGamma
		}
		setPath(body, strings.Split(typ, "."), string(of))
		if ceiling := at + "concurrency"; !seen[ceiling] && !r.has("--concurrency") && !r.fromFile { // it made the load before; no limit was asked for
			setPath(body, strings.Split(ceiling, "."), nil)
		}
	}
	d := r.run.Dataset()
	entries := "datasets." + d.Name + ".entries"
	if r.fromFile || d.Type != config.DatasetSynthetic || seen[entries] || r.has("--num-dataset-entries") {
		return
	}
	for _, bound := range []string{"sessions", "requests"} {
		if seen[at+bound] {
			setPath(body, strings.Split(entries, "."), value(body, at+bound))
			return
		}
	}
}

// value returns the value at a path of mappings, see lay; it must exist.
func value(at any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch here := at.(type) {
		case map[string]any:
			at = here[key]
		case []any:
			at = here[slices.IndexFunc(here, func(e any) bool { return e.(map[string]any)["name"] == key })]
		}
	}
	return at
}

// variantPath returns the path for a key of a variant.
func (r *resolver) variantPath(key string) (string, error) {
	if row, _, ok := Flags.Lookup("--" + key); ok && row.Key != "" && !strings.Contains(key, ".") {
		return r.axisPath(row.Key), nil
	}
	path := r.run.FullPath(key)
	if !strings.Contains(path, ".") {
		text := fmt.Sprintf("there is no setting %s; a key is a flag without its dashes, or the path of a key in a file", key)
		var names []string
		for _, flag := range flagsOf(func(f *setting.Row) bool { return f.Key != "" }) {
			names = append(names, strings.TrimPrefix(flag, "--"))
		}
		if near := suggest.Name(key, names); near != "" {
			text += "; did you mean " + near + "?"
		}
		return "", errors.New(text)
	}
	return path, nil
}

// setPath stores a value at a path of mappings; phases and datasets are lists of named entries.
func setPath(at map[string]any, path []string, value any) {
	switch {
	case len(path) == 1:
		at[path[0]] = value
	case (path[0] == "phases" || path[0] == "datasets") && len(path) > 2:
		list, _ := at[path[0]].([]any)
		i := slices.IndexFunc(list, func(e any) bool { return e.(map[string]any)["name"] == path[1] })
		if i < 0 {
			list, i = append(list, map[string]any{"name": path[1]}), len(list)
			at[path[0]] = list
		}
		setPath(list[i].(map[string]any), path[2:], value)
	default:
		next, ok := at[path[0]].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[path[0]] = next
		}
		setPath(next, path[1:], value)
	}
}

// parseValue converts a word to a value of a file: a boolean, a number, else text.
func parseValue(word string) any {
	if i, err := strconv.Atoi(word); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(word, 64); err == nil {
		return f
	}
	switch strings.ToLower(word) {
	case "true":
		return true
	case "false":
		return false
	}
	return unquoted(word)
}

// unquoted removes the quotes around a text.
func unquoted(word string) string {
	if n := len(word); n > 1 && (word[0] == '"' || word[0] == '\'') && word[n-1] == word[0] {
		return word[1 : n-1]
	}
	return word
}
