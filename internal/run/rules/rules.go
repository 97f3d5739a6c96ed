// Package rules defines which settings of a run exclude, need or override each other. Each rule is defined once, for the resolved run, wherever the
// settings come from. It names them by key (setting.Row.Key); messages spell them as the user wrote them: a flag, or line and key of a file.
//
// config.Run.Violations checks what depends only on the run. The rules here also use the endpoint type, the contents of the input file, and which
// settings the user gave: a default value is never a mistake.
package rules

import (
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset/custom"
)

// Subject is a resolved run and the facts that the rules check it against.
type Subject struct {
	*config.Run
	Endpoint *endpoint.Endpoint // nil = the type is unknown
	File     *custom.FileSample // contents of the input file; nil = there is none, or it cannot be read
	// Promoted says how the times of the input file led to a fixed schedule that the user did not ask for; "" = they did not.
	Promoted string
	// Given lists the settings at or below a key that the user set to another value than the default.
	Given func(key string) []Setting
	// Mentioned reports whether the user gave a setting, whatever its value.
	Mentioned func(key string) bool
	Spell     setting.Spell
}

// Setting is one setting that the user gave.
type Setting struct {
	Text   string // the flag, or line and key of a file
	InFile bool
}

// Finding is one problem that a rule found.
type Finding struct {
	Text    string
	Warning bool // the run continues
}

// severity is the consequence of a broken rule.
type severity int

const (
	refusal severity = iota
	warning          // the run continues with a warning
	// unused settings have no effect. As a flag such a setting is a mistake and refused. A file may contain it for later changes, so that it is only a
	// warning there.
	unused
)

// rule is one combination of settings that is refused or leads to a warning.
type rule struct {
	row     string   // in the specification: number in cli section 6, E number of timing section 8
	keys    []string // the rule applies if one of these is given, and names them; none = it only checks values
	when    func(s *Subject) bool
	text    string                  // follows the names; {key} is a setting as the user wrote it, {key=value} the setting that selects a value
	problem func(s *Subject) string // replaces text if it contains values; "" = no problem
	level   severity
}

// Check applies every rule and returns all findings.
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
	if r.problem != nil {
		if text = r.problem(s); text == "" {
			return found, false
		}
	}
	var names []string
	for _, one := range given {
		names = append(names, one.Text)
	}
	if !strings.HasPrefix(text, ":") {
		text = " " + Agree(len(names), text)
	}
	found.Text = strings.TrimSpace(strings.Join(names, ", ") + s.Spell.Text(text))
	found.Warning = r.level == warning || r.level == unused && !slices.ContainsFunc(given, func(one Setting) bool { return !one.InFile })
	return found, true
}

// Agree returns a text that follows a list of names, with its first verb in the plural if there are several names.
func Agree(names int, text string) string {
	verb, rest, _ := strings.Cut(text, " ")
	if plural, ok := map[string]string{"has": "have", "needs": "need", "is": "are"}[verb]; ok && names > 1 {
		return plural + " " + rest
	}
	return text
}

// given lists the settings with these keys that the user gave.
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

// isGiven reports whether the user gave any of these settings.
func (s *Subject) isGiven(keys ...string) bool { return len(s.given(keys...)) > 0 }

// exclusive returns a rule that refuses two settings that are both given.
func exclusive(row, a, b, why string) rule {
	return rule{row: row, keys: []string{a}, when: func(s *Subject) bool { return s.isGiven(b) }, text: "and {" + b + "}: " + why}
}
