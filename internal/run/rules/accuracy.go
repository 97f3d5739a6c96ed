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
	{row: "48", keys: []string{"accuracy"}, when: not(gradesAnswers), problem: func(*Subject) string {
		return "needs {accuracy.benchmark}: one of " + strings.Join(accuracy.Names(), ", ")
	}},
	{row: "48", problem: func(s *Subject) string {
		if !gradesAnswers(s) {
			return ""
		}
		a := s.Accuracy
		return errorText(accuracy.Check(accuracy.Options{Benchmark: a.Benchmark, Tasks: a.Tasks, Shots: a.NShots, CoT: a.EnableCoT, System: a.SystemPrompt, Spell: s.Spell}))
	}},
	{row: "48", keys: []string{"accuracy.grader"}, when: gradesAnswers, problem: func(s *Subject) string {
		_, err := grade.Find(s.Accuracy.Grader)
		return errorText(err)
	}},
	{row: "accuracy 1", keys: []string{data + "path", data + "dataset", data + "records"}, when: all(gradesAnswers, externalData),
		text: "and {accuracy.benchmark}: its problems are the requests; leave one of them out"},
	{row: "accuracy 1", keys: []string{data + "sampling"}, when: all(gradesAnswers, func(s *Subject) bool { return s.Dataset().Sampling != config.SampleSequential }),
		text: "and {accuracy.benchmark}: its problems are sent in their order"},
	{row: "accuracy 1", problem: func(s *Subject) string {
		switch {
		case !gradesAnswers(s):
			return ""
		case fixedSchedule(s):
			return s.schedule() + single
		case userCentric(s):
			return "{" + measured + "type=" + string(config.PhaseUserCentric) + "}" + single
		}
		return ""
	}},
	{row: "accuracy 1", keys: []string{data + "prompts", data + "osl", data + "system_prompt", data + "entries"}, when: gradesAnswers,
		text: "has no effect: the problems of {accuracy.benchmark} are the requests", level: warning},
	{row: "accuracy 1", keys: []string{"endpoint.type"}, when: all(gradesAnswers, func(s *Subject) bool {
		return s.Endpoint != nil && (!s.Endpoint.TokenizesInput || !s.Endpoint.ProducesTokens)
	}),
		text: "and {accuracy.benchmark}: this endpoint type does not produce text from text"},
	{row: "accuracy 1", keys: []string{"accuracy.benchmark"}, when: all(gradesAnswers, not(zeroTemperature)),
		text: ": answers vary unless the temperature is 0; {endpoint.extra} temperature:0 gives scores comparable with published ones", level: warning},
}

const single = " and {accuracy.benchmark}: its problems are single requests without times"

// gradesAnswers reports whether the run uses a benchmark.
func gradesAnswers(s *Subject) bool { return s.Accuracy != nil && s.Accuracy.Benchmark != "" }

// zeroTemperature reports whether requests ask for a temperature of 0.
func zeroTemperature(s *Subject) bool {
	return slices.ContainsFunc(s.Run.Endpoint.Extra, func(e config.Member) bool {
		v, err := strconv.ParseFloat(string(e.Value), 64)
		return e.Key == "temperature" && err == nil && v == 0
	})
}

// errorText returns the text of an error, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
