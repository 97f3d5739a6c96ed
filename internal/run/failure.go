package run

import (
	"fmt"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/preflight"
	"aiperf/internal/workload/load"
)

// maxErrorKinds is the number of distinct errors that one line lists.
const maxErrorKinds = 3

// reportFailure prints one line on the error stream that says why a run has no result. The report has the details but may go elsewhere. reported: the
// report follows on the same screen, so only the log gets the line. ended: an error ended the run; it is the cause, and the caller prints it.
func reportFailure(say *reporter, run *metric.Run, result *load.Result, templateFailures int64, reported, ended bool, as func(key string) string) {
	fail := say.Fail
	if reported {
		fail = func(text string) { say.Log.Error(text) }
	}
	if result != nil {
		var abandoned int
		for _, f := range result.Phases {
			abandoned += int(f.Abandoned)
		}
		if abandoned > 0 {
			say.Warn(terminal.Plural(abandoned, "cancelled request") + " never returned: no result file has a record of it")
		}
	}
	if result != nil && result.TooManyFail {
		text := threshold(result.Phases, as("phases.profiling.failed_request_threshold"))
		fail(text)
	}
	if result != nil && result.Unreachable != nil {
		fail("the run was stopped: " + unreachable(result.Unreachable, run.Profiling, as("environment.timing.no_fail_fast")))
	}
	if n := templateFailures; n > 0 {
		say.Warn(fmt.Sprintf("%s: the chat template rejected the messages of %d requests; their input tokens count only the texts", as("tokenizer.apply_chat_template"), n))
	}
	if text := failureReason(run.Profiling); text != "" && (!ended || run.Profiling.Failed > 0) {
		if list := run.Profiling.Errors; len(list) > 0 {
			if advice := preflight.Advice(&list[0].Error, as); advice != "" {
				text += "; " + advice
			}
		}
		fail(text)
	}
}

// threshold returns how many requests had failed when the failed-request threshold ended the run.
func threshold(phases []*load.PhaseStats, as string) string {
	for _, f := range phases {
		if f.TooManyFails {
			return fmt.Sprintf("the run was stopped: %d of %d finished requests of phase %s failed, more than %s allows",
				f.Errors, f.Completed, f.Info.Name, as)
		}
	}
	return "the run was stopped: more requests failed than " + as + " allows"
}

// unreachable returns why no more connections could be made.
func unreachable(u *load.UnreachableError, s *metric.Summary, as string) string {
	text := fmt.Sprintf("no connection to the server could be made: %d attempts failed in a row, from %.1f s to %.1f s of the phase", u.Failures, u.At.Seconds(), (u.At + u.For).Seconds())
	if len(s.Errors) > 0 {
		text += " (" + preflight.ErrorText(&s.Errors[0].Error) + ")"
	}
	return text + "; to continue anyway, give " + as
}

// failureReason returns why no request can be reported; "" if there are results.
func failureReason(s *metric.Summary) string {
	switch {
	case s.Valid > 0:
		return ""
	case s.Failed == 0:
		return "no request finished"
	}
	kinds := make([]string, 0, maxErrorKinds)
	for _, g := range s.Errors[:min(maxErrorKinds, len(s.Errors))] {
		kinds = append(kinds, fmt.Sprintf("%d × %s", g.Count, preflight.ErrorText(&g.Error)))
	}
	text := "the only request failed: " + strings.Join(kinds, "; ")
	if s.Failed > 1 {
		text = fmt.Sprintf("all %d requests failed: %s", s.Failed, strings.Join(kinds, "; "))
	}
	if more := len(s.Errors) - len(kinds); more > 0 {
		text += "; and " + terminal.Plural(more, "other kind") + " of error"
	}
	return text
}
