// Package rules states which settings of a run exclude, need or outdo each other. A rule is stated once, on the resolved run, whoever wrote
// the settings: it names them by key (setting.Row.Key) and is worded as the user wrote them, a flag or line and key of a file.
//
// What a run alone can tell is checked by config.Run.Violations; the rules here also look at what the endpoint type and the input file can
// do, and at what was given at all: a value that nobody wrote is no mistake.
package rules

import (
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/dataset/custom"
	"aiperf/internal/endpoint"
	"aiperf/internal/setting"
)

// Subject is a resolved run and what it was resolved from.
type Subject struct {
	*config.Run
	Endpoint *endpoint.Endpoint // nil: the type is not known
	File     *custom.Look       // what the input file holds; nil: there is none that could be read
	// Promoted words how the times of the input file became a fixed schedule that nobody asked for; "" = they did not.
	Promoted string
	// Given lists the settings at or below a key that the user wrote with another value than the default.
	Given func(key string) []Setting
	// Mentioned tells whether the user wrote a setting, whatever its value.
	Mentioned func(key string) bool
	Spell     setting.Spell
}

// Setting is one setting that somebody wrote.
type Setting struct {
	Text   string // the flag, or line and key of a file
	InFile bool
}

// Finding is what a rule has found.
type Finding struct {
	Text    string
	Warning bool // the run goes on
}

// severity says what becomes of a run that a rule speaks against.
type severity int

const (
	refused severity = iota
	warned           // it runs, and the user is told
	// idle settings change nothing here. A flag of that kind is a slip and refused; a file may keep settings for the day on which another
	// one is changed, so that it is told only.
	idle
)

// rule is one combination that is refused, or run with a warning.
type rule struct {
	row   string   // of the contract: number in cli section 6, E number of timing section 8
	keys  []string // it speaks when some of these are given, and names them; none = it looks at values only
	when  func(s *Subject) bool
	text  string                  // behind the names; {key} is a setting as the user wrote it, {key=value} the one that chooses a value
	tell  func(s *Subject) string // in place of text where it tells values; "" = nothing is wrong
	level severity
}

// Check applies every rule; all findings are reported.
func Check(s *Subject) (found []Finding) {
	for _, table := range [][]rule{loadRules, adaptiveRules, dataRules, mediaRules, endpointRules, accuracyRules, outputRules} {
		for i := range table {
			if one, wrong := table[i].apply(s); wrong {
				found = append(found, one)
			}
		}
	}
	return found
}

func (r *rule) apply(s *Subject) (found Finding, wrong bool) {
	given := s.given(r.keys...)
	if len(r.keys) > 0 && len(given) == 0 || r.when != nil && !r.when(s) {
		return found, false
	}
	text := r.text
	if r.tell != nil {
		if text = r.tell(s); text == "" {
			return found, false
		}
	}
	var names []string
	for _, one := range given {
		names = append(names, one.Text)
	}
	if !strings.HasPrefix(text, ":") {
		text = " " + text
	}
	found.Text = strings.TrimSpace(strings.Join(names, ", ") + s.Spell.Text(text))
	found.Warning = r.level == warned || r.level == idle && !slices.ContainsFunc(given, func(one Setting) bool { return !one.InFile })
	return found, true
}

// given lists what of some settings somebody wrote.
func (s *Subject) given(keys ...string) (all []Setting) {
	for _, key := range keys {
		for _, one := range s.Given(key) {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// wrote reports whether any of some settings is given.
func (s *Subject) wrote(keys ...string) bool { return len(s.given(keys...)) > 0 }

// both refuses two settings that are both given.
func both(row, a, b, why string) rule {
	return rule{row: row, keys: []string{a}, when: func(s *Subject) bool { return s.wrote(b) }, text: "and {" + b + "}: " + why}
}
