package plan

import (
	"errors"
	"fmt"
	"os"

	"aiperf/internal/artifact"
	"aiperf/internal/config"
	"aiperf/internal/gate"
	"aiperf/internal/metric"
	"aiperf/internal/terminal"
)

// Gated is the exit status of runs that a gate failed.
const Gated = 3

// judge tries the gates of an invocation, writes what was asked for, and turns an exit status of 0 into Gated when one failed.
func (i *invocation) judge(subjects []gate.Subject, status int) (int, error) {
	gates, err := gate.Parsed(i.run.FailIf)
	if err != nil {
		return 1, fmt.Errorf("%s: %w", i.run.As("fail_if"), err)
	}
	results := gate.Judge(gates, subjects)
	for k := range results {
		if r := &results[k]; r.Failed {
			fmt.Fprintf(i.Err, "gate: %s\n", terminal.Text(r.Sentence()))
		}
	}
	if path := i.run.JUnit; path != "" {
		text, err := gate.JUnit(subjects, results)
		if err == nil {
			err = artifact.WriteFile(path, text)
		}
		if err != nil {
			return 1, fmt.Errorf("%s %s: %w", i.run.As("junit"), path, err)
		}
	}
	if path := i.StepSummary; path != "" {
		if err := appendFile(path, gate.StepSummary(subjects, results)); err != nil {
			fmt.Fprintf(i.Err, "warning: GITHUB_STEP_SUMMARY: %s\n", terminal.Text(err.Error()))
		}
	}
	if status == 0 && gate.Failures(results) > 0 {
		status = Gated
	}
	return status, nil
}

// appendFile adds to a file that other steps write to as well.
func appendFile(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if _, err = file.Write(text); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

// subjects are the cells of a series as gates see them.
func subjects(cells []config.Cell, byCell [][]*trial) (list []gate.Subject) {
	for k := range cells {
		s := gate.Subject{Name: cells[k].Label}
		for _, t := range byCell[k] {
			if t.ok() {
				s.Runs = append(s.Runs, t.run)
			} else {
				s.Fault = t.fault()
			}
		}
		if len(byCell[k]) == 0 {
			s.Fault = "not run"
		}
		list = append(list, s)
	}
	return list
}

// subject is the one run of an invocation.
func subject(run *metric.Run) gate.Subject {
	s := gate.Subject{Runs: []*metric.Run{run}}
	if status(run) != 0 {
		s.Fault = "no request succeeded"
		if run.IncompleteReason != "" {
			s.Fault = run.IncompleteReason
		}
	}
	return s
}
