package kube

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// debugLines is how many lines of a log a diagnosis shows.
const debugLines = 15

// Diagnosis writes what the cluster knows about a run: its state, its pods and what is wrong with them, events, and the end of the controller's output.
func Diagnosis(ctx context.Context, c Cluster, run *Run, verbose bool, out io.Writer) error {
	c = c.In(run.Namespace)
	fmt.Fprintf(out, "run %s in namespace %s: %s\n", run.Name, run.Namespace, run.State)
	if run.Problem != "" {
		fmt.Fprintf(out, "  %s\n", run.Problem)
	}
	for _, p := range run.pods {
		fmt.Fprintf(out, "pod %s: %s, node %s\n", text(p, "metadata", "name"), text(p, "status", "phase"), orElse(text(p, "spec", "nodeName"), "none"))
		if problem := Problem(p); problem != "" && problem != run.Problem {
			fmt.Fprintf(out, "  %s\n", problem)
		}
		for _, s := range list(p, "status", "containerStatuses") {
			if at(s, "state", "terminated") != nil {
				fmt.Fprintf(out, "  ended with status %d (%s)\n", number(s, "state", "terminated", "exitCode"), text(s, "state", "terminated", "reason"))
			}
		}
	}
	if len(run.pods) < run.Workers+1 {
		fmt.Fprintf(out, "%d of %d pods exist\n", len(run.pods), run.Workers+1)
	}
	for _, line := range eventsOf(ctx, c, run, verbose) {
		fmt.Fprintln(out, line)
	}
	pods := run.PodNames(RoleController)
	if verbose {
		pods = run.PodNames("")
	}
	for _, pod := range pods {
		log, err := c.Log(ctx, LogOptions{Pod: pod, Tail: debugLines})
		if err != nil {
			fmt.Fprintf(out, "log of %s: %v\n", pod, err)
			continue
		}
		lines, err := io.ReadAll(io.LimitReader(log, 64<<10))
		log.Close()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "last lines of %s:\n%s", pod, indent(lastLines(string(lines), debugLines)))
	}
	return nil
}

// eventsOf returns the warnings about the objects of a run; with verbose all of their events.
func eventsOf(ctx context.Context, c Cluster, run *Run, verbose bool) (lines []string) {
	fields := "type=Warning"
	if verbose {
		fields = ""
	}
	events, err := c.List(ctx, "Event", "", fields)
	if err != nil {
		return []string{"events: " + err.Error()}
	}
	for _, e := range events {
		name := text(e, "involvedObject", "name")
		if name == run.Name || strings.HasPrefix(name, run.Name+"-") {
			lines = append(lines, fmt.Sprintf("event %s %s %s: %s", text(e, "lastTimestamp"), name, text(e, "reason"), oneLine(text(e, "message"))))
		}
	}
	slices.Sort(lines)
	return lines
}

// lastLines returns the last lines of a text.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n" }
