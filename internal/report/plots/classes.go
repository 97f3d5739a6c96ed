package plots

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"

	"aiperf/internal/report/runfiles"
)

// Classes divides runs into baselines and treatments.
type Classes struct {
	Baselines  []string          `yaml:"baselines"`
	Treatments []string          `yaml:"treatments"`
	Default    string            `yaml:"default"`
	Names      map[string]string `yaml:"group_display_names"`
	Pattern    string            `yaml:"group_extraction_pattern"` // its first group is the name of the experiment

	pattern *regexp.Regexp
}

// The two classes.
const (
	baseline  = "baseline"
	treatment = "treatment"
)

// check validates and completes the classes.
func (c *Classes) check() error {
	if c.Default == "" {
		c.Default = treatment
	}
	if c.Default != baseline && c.Default != treatment {
		return fmt.Errorf("default %q; allowed are baseline and treatment", c.Default)
	}
	for _, p := range append(append([]string{}, c.Baselines...), c.Treatments...) {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	if c.Pattern == "" {
		c.Pattern = `^(baseline|treatment_\d+)`
	}
	var err error
	if c.pattern, err = regexp.Compile(c.Pattern); err != nil {
		return fmt.Errorf("group_extraction_pattern: %w", err)
	}
	if c.pattern.NumSubexp() < 1 {
		return fmt.Errorf("group_extraction_pattern %q has no group in parentheses", c.Pattern)
	}
	return nil
}

// fits reports whether a shell pattern matches a name or a path; * also matches slashes.
func fits(patterns []string, names ...string) bool {
	for _, p := range patterns {
		re := globbed(p)
		for _, name := range names {
			if re.MatchString(name) {
				return true
			}
		}
	}
	return false
}

// globbed converts a shell pattern to a regular expression.
func globbed(p string) *regexp.Regexp {
	out := "(?s)^"
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '*':
			out += ".*"
		case '?':
			out += "."
		case '[':
			end := i + 1
			for end < len(p) && (p[end] != ']' || end == i+1) {
				end++
			}
			set := p[i+1 : min(end, len(p))]
			if set != "" && set[0] == '!' {
				set = "^" + set[1:]
			}
			out += "[" + set + "]"
			i = end
		default:
			out += regexp.QuoteMeta(p[i : i+1])
		}
	}
	re, err := regexp.Compile(out + "$")
	if err != nil {
		return regexp.MustCompile("^" + regexp.QuoteMeta(p) + "$") // an invalid set is taken literally
	}
	return re
}

// class returns a run's class and its experiment.
func (c *Classes) class(r *runfiles.Run) (kind, group string) {
	full, err := filepath.Abs(r.Dir)
	if err != nil {
		full = r.Dir
	}
	kind = c.Default
	switch {
	case fits(c.Baselines, r.Name, full):
		kind = baseline
	case fits(c.Treatments, r.Name, full):
		kind = treatment
	}
	parent := filepath.Base(filepath.Dir(full))
	for _, name := range []string{r.Name, parent} {
		if m := c.pattern.FindStringSubmatch(name); m != nil && m[1] != "" {
			return kind, m[1]
		}
	}
	if fits(c.Baselines, parent) || fits(c.Treatments, parent) {
		return kind, parent
	}
	return kind, r.Name
}
