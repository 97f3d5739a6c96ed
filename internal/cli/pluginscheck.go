package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/base/terminal"
	"aiperf/internal/wire/endpoint"
)

// requiredMethods are the methods that the program of a plug-in must have, by category.
var requiredMethods = map[string][]string{
	"endpoint": {"format", "parse"}, "custom_dataset_loader": {"load"}, "accuracy_benchmark": {"load"}, "accuracy_grader": {"grade"},
	"data_exporter": {"export"}, "gpu_telemetry_collector": {"collect"}, "search_planner": {"next"}, "arrival_pattern": {"intervals"},
}

// validatePlugins checks the manifests and the plug-ins of this machine, and starts each program once.
func (p *Program) validatePlugins(installed *plugin.Set) error {
	var manifests, entries, programs []string
	for _, problem := range installed.Problems() {
		if problem.Refused {
			manifests = append(manifests, problem.Text)
		} else {
			p.warnf("%s", problem.Text)
		}
	}
	for i := range installed.Entries() {
		e := &installed.Entries()[i]
		mistakes := entryMistakes(e)
		for _, m := range mistakes {
			entries = append(entries, e.ID()+" - "+m)
		}
		command := e.Command()
		if len(command) == 0 {
			continue
		}
		if _, err := exec.LookPath(command[0]); err != nil {
			programs = append(programs, fmt.Sprintf("%s - %s: the program cannot be started: %v%s", e.ID(), e.Position(), err, program.StartAdvice(command[0], err)))
		} else if len(mistakes) == 0 {
			if err := greets(e); err != nil {
				programs = append(programs, e.ID()+" - "+strings.TrimPrefix(err.Error(), "plug-in "+e.ID()+": "))
			}
		}
	}
	var b strings.Builder
	b.WriteString("Validating plugins...\n\n")
	failed := false
	for _, check := range []struct {
		name     string
		findings []string
	}{{"Manifests", manifests}, {"Entries", entries}, {"Programs", programs}} {
		failed = failed || len(check.findings) > 0
		b.WriteString(p.mark(len(check.findings) == 0) + " " + check.name + "\n")
		for _, line := range check.findings {
			b.WriteString("    " + terminal.Line(line) + "\n")
		}
	}
	verdict, code := "All checks passed", "32"
	if failed {
		verdict, code = "Validation failed", "31"
	}
	if p.Colour {
		verdict = "\x1b[" + code + "m" + verdict + "\x1b[0m"
	}
	fmt.Fprintf(&b, "\n%s\n", verdict)
	if _, err := fmt.Fprint(p.Out, b.String()); err != nil {
		return err
	}
	if failed {
		return exitStatus(1)
	}
	return nil
}

// mark is the sign of a check that passed or failed.
func (p *Program) mark(ok bool) string {
	switch {
	case p.Colour && ok:
		return "\x1b[32m✓\x1b[0m"
	case p.Colour:
		return "\x1b[31m✗\x1b[0m"
	case ok:
		return "(OK)"
	}
	return "(FAIL)"
}

// entryMistakes returns what is wrong with an entry, without its program.
func entryMistakes(e *plugin.Entry) (list []string) {
	if e.Class != "" {
		if module, class, ok := strings.Cut(e.Class, ":"); !ok || module == "" || class == "" {
			return []string{fmt.Sprintf("%s: %q is not a class (expected module:Class)", e.Position(), e.Class)}
		}
		return nil
	}
	if e.Category == endpoint.Category {
		list = endpoint.Mistakes(e)
		for i := range list {
			list[i] = strings.Replace(list[i], ": "+e.ID()+":", ":", 1)
		}
	}
	return list
}

// greets starts the program of a plug-in and ends it after its greeting.
func greets(e *plugin.Entry) error {
	ctx, cancel := context.WithTimeout(context.Background(), greetingLimit)
	defer cancel()
	running, err := program.Under(ctx, nil)(e, requiredMethods[e.Category]...)
	if err != nil {
		return err
	}
	return running.Close()
}

// greetingLimit bounds the start and the end of a program.
const greetingLimit = 30 * time.Second
