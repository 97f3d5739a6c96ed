package cli

import "strings"

// rule is one combination of flags that is refused, or run with a warning. It looks at what was given, never at effective values.
type rule struct {
	row  string // of the contract: number in cli section 6, E number of timing section 8
	test func(r *resolver) (message string, wrong bool)
	warn bool // run all the same
}

// check applies every rule; all violations are reported.
func (r *resolver) check() {
	r.objectives()
	for _, table := range [][]rule{loadRules, dataRules, outputRules} {
		for _, one := range table {
			message, wrong := one.test(r)
			switch {
			case wrong && one.warn:
				r.warn("%s", message)
			case wrong:
				r.fail("%s", message)
			}
		}
	}
}

// together refuses two flags that are both given.
func together(a, b, why string) func(*resolver) (string, bool) {
	return func(r *resolver) (string, bool) {
		return r.as(a) + " and " + r.as(b) + ": " + why, r.has(a) && r.has(b)
	}
}

// needs refuses a flag without another one.
func needs(flag, other, why string) func(*resolver) (string, bool) {
	return func(r *resolver) (string, bool) {
		return r.as(flag) + " needs " + other + ": " + why, r.has(flag) && !r.has(other)
	}
}

// anyWhen refuses those of some flags that are given while a condition holds; the message names them.
func anyWhen(when func(*resolver) bool, message string, flags ...string) func(*resolver) (string, bool) {
	return func(r *resolver) (string, bool) {
		names := r.given(flags...)
		if len(names) == 0 || !when(r) {
			return "", false
		}
		return strings.Join(names, ", ") + " " + message, true
	}
}

// schedule says how the schedule came about and how to be rid of it.
func (r *resolver) schedule() string {
	if r.load.promoted {
		return "the fixed schedule of " + r.as("--input-file") + " " + r.run.Dataset().Path + " (its rows have times; --no-fixed-schedule turns it off)"
	}
	return r.as("--fixed-schedule")
}
