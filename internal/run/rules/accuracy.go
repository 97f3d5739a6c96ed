package rules

import (
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/accuracy/grade"
)

// accuracyRules checks the settings of a benchmark whose answers are graded.
var accuracyRules = []rule{
	{row: "48", keys: []string{"accuracy"}, when: not(graded), tell: func(*Subject) string {
		return "needs {accuracy.benchmark}: one of " + strings.Join(accuracy.Names(), ", ")
	}},
	{row: "48", tell: func(s *Subject) string {
		if !graded(s) {
			return ""
		}
		a := s.Accuracy
		return told(accuracy.Check(accuracy.Options{Benchmark: a.Benchmark, Tasks: a.Tasks, Shots: a.NShots, CoT: a.EnableCoT, System: a.SystemPrompt, Spell: s.Spell}))
	}},
	{row: "48", keys: []string{"accuracy.grader"}, when: graded, tell: func(s *Subject) string {
		_, err := grade.Find(s.Accuracy.Grader)
		return told(err)
	}},
	{row: "accuracy 1", keys: []string{data + "path", data + "dataset", data + "records"}, when: all(graded, ownData),
		text: "and {accuracy.benchmark}: its problems are the requests; leave one of them out"},
	{row: "accuracy 1", keys: []string{data + "sampling"}, when: all(graded, func(s *Subject) bool { return s.Dataset().Sampling != config.SampleSequential }),
		text: "and {accuracy.benchmark}: its problems are sent in their order"},
	{row: "accuracy 1", tell: func(s *Subject) string {
		switch {
		case !graded(s):
			return ""
		case fixed(s):
			return s.schedule() + single
		case users(s):
			return "{" + measured + "type=" + string(config.PhaseUserCentric) + "}" + single
		}
		return ""
	}},
	{row: "accuracy 1", keys: []string{data + "prompts", data + "osl", data + "system_prompt", data + "entries"}, when: graded,
		text: "has no effect: the problems of {accuracy.benchmark} are the requests", level: warned},
	{row: "accuracy 1", keys: []string{"endpoint.type"}, when: all(graded, func(s *Subject) bool {
		return s.Endpoint != nil && (!s.Endpoint.TokenizesInput || !s.Endpoint.ProducesTokens)
	}),
		text: "and {accuracy.benchmark}: this endpoint type does not produce text from text"},
	{row: "accuracy 1", keys: []string{"accuracy.benchmark"}, when: all(graded, not(unvaried)),
		text: ": answers vary unless the temperature is 0; {endpoint.extra} temperature:0 gives scores comparable with published ones", level: warned},
}

const single = " and {accuracy.benchmark}: its problems are single requests without times"

// graded reports whether the run uses a benchmark.
func graded(s *Subject) bool { return s.Accuracy != nil && s.Accuracy.Benchmark != "" }

// unvaried reports whether requests ask for a temperature of 0.
func unvaried(s *Subject) bool {
	return slices.ContainsFunc(s.Run.Endpoint.Extra, func(e config.Member) bool {
		v, err := strconv.ParseFloat(string(e.Value), 64)
		return e.Key == "temperature" && err == nil && v == 0
	})
}

// told returns the text of an error, "" for nil.
func told(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
