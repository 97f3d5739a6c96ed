package resolve

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config"
	"aiperf/internal/run/kube"
	"aiperf/internal/run/podserver"
)

// ReadEnvironment reads the AIPERF_* variables of an environment ("KEY=value") into the settings that their rows name.
func ReadEnvironment(environ []string, into *config.Environment) (problems, warnings []string) {
	known, names := variables()
	run := &config.Run{Benchmark: config.Benchmark{Environment: *into}}
	environ = append([]string(nil), environ...)
	sort.Strings(environ)
	for _, entry := range environ {
		key, value, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(key, config.EnvPrefix)
		if !ours || value == "" || isNoSetting(key) {
			continue
		}
		row, ok := known[name]
		switch {
		case ok && row.Key == "":
			warnings = append(warnings, key+" is known and has no effect here")
		case ok:
			if row.Kind == setting.Bool {
				value = asFlag(value)
			}
			parsed, err := row.Parse(value)
			if err == nil {
				err = run.Put(row.Key, parsed)
			}
			if err != nil {
				problems = append(problems, fmt.Sprintf("environment variable %s: %q %v", key, value, err))
			}
		default:
			hint := ""
			if near := suggest.Name(key, names); near != "" {
				hint = "; did you mean " + near + "?"
			}
			warnings = append(warnings, key+" is set, but no such variable exists"+hint)
		}
	}
	*into = run.Environment
	return problems, warnings
}

// isNoSetting reports whether a variable is not a setting of a run: it says what a process is in a run on several machines or in a cluster, or is a default of
// the command kube.
func isNoSetting(key string) bool {
	switch key {
	case plugin.PathVariable, "AIPERF_JOIN", "AIPERF_TOKEN", "AIPERF_NAME", kube.PodIPVariable, kube.CommandVariable, "AIPERF_NAMESPACE", podserver.PodLogVariable,
		"AIPERF_IMAGE":
		return true
	}
	return config.IsSecretName(key)
}

// asFlag converts a boolean variable to the spelling of flags: as in the Python tool, variables also accept on, off and first letters.
func asFlag(value string) string {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "on", "t", "y":
		return "true"
	case "off", "f", "n":
		return "false"
	}
	return value
}

// variables returns the rows of all variables by name, and the full names. Rows without a key are not supported by this build.
func variables() (known map[string]setting.Row, names []string) {
	known = map[string]setting.Row{}
	for _, row := range config.SharedRows() {
		if row.Env != "" {
			known[row.Env] = row
		}
	}
	for _, name := range config.UnsupportedVariables {
		known[name] = setting.Row{Env: name}
	}
	for name := range known {
		names = append(names, config.EnvPrefix+name)
	}
	sort.Strings(names)
	return known, names
}

// warnIdleEnvironment warns of every environment setting that differs from its default and has no effect, whether a variable or a file sets it.
func (r *resolver) warnIdleEnvironment() {
	for _, row := range config.SharedRows() {
		if row.Env == "" || row.NoEffect == "" || reflect.DeepEqual(r.run.Lookup(row.Key), standard.Lookup(row.Key)) {
			continue
		}
		name := config.EnvPrefix + row.Env
		if written := r.written(row.Key); len(written) > 0 {
			name = written[0].Text
		}
		if row.NotBuilt {
			r.fail("%s: %s", name, row.NoEffect)
		} else {
			r.warn("%s has no effect: %s", name, row.NoEffect)
		}
	}
}
