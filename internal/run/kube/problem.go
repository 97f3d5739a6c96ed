package kube

import (
	"context"
	"fmt"
	"strings"
)

// waitingReasons are reasons why a container does not start, and that waiting does not fix, with what they mean.
var waitingReasons = map[string]string{
	"ErrImagePull":               "its image cannot be pulled",
	"ImagePullBackOff":           "its image cannot be pulled",
	"ErrImageNeverPull":          "its image is not on the node, and the pull policy is Never",
	"InvalidImageName":           "the name of its image is not valid",
	"CreateContainerConfigError": "its container cannot be created",
	"CreateContainerError":       "its container cannot be created",
	"RunContainerError":          "its container cannot be started",
	"CrashLoopBackOff":           "its container crashes",
}

// Problem says in one sentence what is wrong with a pod; "" = nothing.
func Problem(pod Object) string {
	name := text(pod, "metadata", "name")
	for _, c := range list(pod, "status", "containerStatuses") {
		reason, message := text(c, "state", "waiting", "reason"), text(c, "state", "waiting", "message")
		if meaning := waitingReasons[reason]; meaning != "" {
			return strings.TrimSuffix(fmt.Sprintf("pod %s: %s (image %s): %s", name, meaning, text(c, "image"), oneLine(message)), ": ")
		}
		if text(c, "state", "terminated", "reason") == "OOMKilled" {
			return fmt.Sprintf("pod %s was ended because it used more memory than its limit", name)
		}
	}
	if reason := text(pod, "status", "reason"); reason != "" && text(pod, "status", "phase") == "Failed" {
		return fmt.Sprintf("pod %s: %s: %s", name, reason, oneLine(text(pod, "status", "message")))
	}
	for _, c := range list(pod, "status", "conditions") {
		if text(c, "type") == "PodScheduled" && text(c, "status") == "False" && text(c, "reason") == "Unschedulable" {
			return fmt.Sprintf("pod %s fits on no node: %s", name, oneLine(text(c, "message")))
		}
	}
	return ""
}

// hopeless reports whether waiting does not fix the problem of a pod. A pod that fits on no node may fit on the next one.
func hopeless(pod Object) bool {
	for _, c := range list(pod, "status", "containerStatuses") {
		if waitingReasons[text(c, "state", "waiting", "reason")] != "" {
			return true
		}
	}
	return false
}

// oneLine limits a message of the cluster to one line.
func oneLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	const longest = 300
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + "…"
	}
	return line
}

// Refusals returns why the cluster created no pods for the Jobs of a run, one sentence each: quotas, or rules about the security of pods.
func Refusals(ctx context.Context, c Cluster, run *Run) []string {
	events, err := c.List(ctx, "Event", "", "reason=FailedCreate")
	if err != nil {
		return nil // nobody needs the right to read events
	}
	var all []string
	for _, e := range events {
		if strings.HasPrefix(text(e, "involvedObject", "name"), run.Name+"-") && text(e, "involvedObject", "kind") == "Job" {
			all = append(all, fmt.Sprintf("the cluster creates no pod for Job %s: %s", text(e, "involvedObject", "name"), oneLine(text(e, "message"))))
		}
	}
	return all
}
