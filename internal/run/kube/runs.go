package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Run is a run on a cluster as its objects show it.
type Run struct {
	Name, Namespace, Kind string
	Model                 string
	Endpoints             []string // URLs of the servers
	Workers               int      // wanted
	Created               time.Time
	State                 State
	Problem               string // what keeps it from running, or how it failed; "" = nothing

	controller Object // Job; nil = it was deleted
	workers    Object
	pods       []Object
}

// State is the state of a run on a cluster.
type State string

// The states of a run.
const (
	Pending  State = "pending"  // pods do not run yet
	Queued   State = "queued"   // the Jobs are suspended
	Running  State = "running"  // the controller runs
	Finished State = "finished" // its files can be fetched
	Complete State = "complete" // the controller has ended
	Failed   State = "failed"
)

// Runs returns the runs of a namespace, the oldest first.
func Runs(ctx context.Context, c Cluster) ([]*Run, error) {
	return find(ctx, c, managedLabel+"="+program)
}

// Find returns a run. If no name is given, there must be exactly one of this kind; kind "" = any.
func Find(ctx context.Context, c Cluster, name, kind string) (*Run, error) {
	labels := managedLabel + "=" + program
	if name != "" {
		labels += "," + RunLabel + "=" + name
	}
	runs, err := find(ctx, c, labels)
	if err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r *Run) bool { return kind != "" && r.Kind != kind })
	switch {
	case len(runs) == 1:
		return runs[0], nil
	case len(runs) > 1:
		var names []string
		for _, r := range runs {
			names = append(names, r.Name)
		}
		return nil, fmt.Errorf("namespace %s has several runs: %s; name one", c.Namespace(), strings.Join(names, ", "))
	case name != "":
		return nil, &APIError{NotFound, "find a run", fmt.Sprintf("namespace %s has no run %s; aiperf kube list shows those of all namespaces", c.Namespace(), name)}
	}
	return nil, &APIError{NotFound, "find a run", fmt.Sprintf("namespace %s has no runs; start one with aiperf kube profile", c.Namespace())}
}

// find returns the runs that labels select.
func find(ctx context.Context, c Cluster, labels string) ([]*Run, error) {
	jobs, err := c.List(ctx, "Job", labels, "")
	if err != nil {
		return nil, err
	}
	pods, err := c.List(ctx, "Pod", labels, "")
	if err != nil {
		return nil, err
	}
	all := map[string]*Run{}
	of := func(o Object) *Run {
		name := text(o, "metadata", "labels", RunLabel)
		key := text(o, "metadata", "namespace") + "/" + name
		if all[key] == nil {
			all[key] = &Run{Name: name, Namespace: text(o, "metadata", "namespace"), Kind: text(o, "metadata", "labels", KindLabel)}
		}
		return all[key]
	}
	for _, o := range jobs {
		of(o).addJob(o)
	}
	for _, o := range pods {
		r := of(o)
		r.pods = append(r.pods, o)
	}
	var runs []*Run
	for _, r := range all {
		if r.isGoing() {
			continue
		}
		r.judge()
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b *Run) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name)) })
	return runs, nil
}

// isGoing reports whether a run was deleted, and the cluster is about to delete what is left of it.
func (r *Run) isGoing() bool {
	return r.controller == nil && (r.workers == nil || len(list(r.workers, "metadata", "ownerReferences")) > 0)
}

func (r *Run) addJob(o Object) {
	if text(o, "metadata", "deletionTimestamp") != "" {
		return
	}
	if text(o, "metadata", "labels", RoleLabel) == RoleWorker {
		r.workers = o
		return
	}
	r.controller = o
	r.Model, r.Endpoints = text(o, "metadata", "annotations", ModelNote), strings.Fields(text(o, "metadata", "annotations", EndpointNote))
	r.Workers, _ = strconv.Atoi(text(o, "metadata", "annotations", WorkersNote))      // 0 = unknown
	r.Created, _ = time.Parse(time.RFC3339, text(o, "metadata", "creationTimestamp")) // the zero time = unknown
}

// judge sets the state of the run and its problem.
func (r *Run) judge() {
	r.State = Pending
	pod := r.ControllerPod()
	suspended, _ := at(r.controller, "spec", "suspend").(bool)
	switch {
	case condition(r.controller, "Failed"):
		r.State, r.Problem = Failed, r.failure()
		return
	case condition(r.controller, "Complete"):
		r.State = Complete
		return
	case r.controller == nil:
		r.State, r.Problem = Failed, "the Job of the controller was deleted"
		return
	case suspended:
		r.State = Queued
	case pod != nil && text(pod, "status", "phase") == "Running":
		r.State = Running
		if started(pod) && !condition(pod, "Ready") {
			r.State = Finished
		}
	}
	for _, p := range r.pods {
		if problem := Problem(p); problem != "" {
			r.Problem = problem
			return
		}
	}
}

// failure says how the controller failed.
func (r *Run) failure() string {
	if pod := r.ControllerPod(); pod != nil {
		for _, c := range list(pod, "status", "containerStatuses") {
			if status := number(c, "state", "terminated", "exitCode"); status != 0 {
				return fmt.Sprintf("the controller ended with status %d (%s)", status, text(c, "state", "terminated", "reason"))
			}
		}
		if reason := text(pod, "status", "reason"); reason != "" {
			return fmt.Sprintf("pod %s: %s", text(pod, "metadata", "name"), reason)
		}
	}
	for _, c := range list(r.controller, "status", "conditions") {
		if text(c, "type") == "Failed" {
			return text(c, "message")
		}
	}
	return "the Job of the controller failed"
}

// condition reports whether a Job or a pod has a condition.
func condition(o Object, kind string) bool {
	for _, c := range list(o, "status", "conditions") {
		if text(c, "type") == kind {
			return text(c, "status") == "True"
		}
	}
	return false
}

// startTime is how long the controller may take from the start of its container to the start of the run.
const startTime = 8 * time.Second

// started reports whether the container of a pod has run long enough to be ready, if it ever will be.
func started(pod Object) bool {
	for _, c := range list(pod, "status", "containerStatuses") {
		at, err := time.Parse(time.RFC3339, text(c, "state", "running", "startedAt"))
		if err == nil {
			return time.Since(at) > startTime
		}
	}
	return false
}

// ControllerPod returns the newest pod of the controller; nil = there is none.
func (r *Run) ControllerPod() Object {
	var newest Object
	for _, p := range r.pods {
		if text(p, "metadata", "labels", RoleLabel) == RoleController && (newest == nil || text(p, "metadata", "creationTimestamp") > text(newest, "metadata", "creationTimestamp")) {
			newest = p
		}
	}
	return newest
}

// PodNames returns the names of the pods of a role, sorted; role "" = all.
func (r *Run) PodNames(role string) (names []string) {
	for _, p := range r.pods {
		if role == "" || text(p, "metadata", "labels", RoleLabel) == role {
			names = append(names, text(p, "metadata", "name"))
		}
	}
	slices.Sort(names)
	return names
}

// RunningWorkers returns how many pods of workers run.
func (r *Run) RunningWorkers() (n int) {
	for _, p := range r.pods {
		if text(p, "metadata", "labels", RoleLabel) == RoleWorker && text(p, "status", "phase") == "Running" {
			n++
		}
	}
	return n
}

// ErrNoPod means that a run has no pod of the controller.
var ErrNoPod = errors.New("the pod of the controller is gone, and the files with it")
