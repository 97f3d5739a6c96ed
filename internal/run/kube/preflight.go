package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Check is one finding about a cluster before a run.
type Check struct {
	Name  string `json:"name"`
	State string `json:"state"` // one of the constants below
	Text  string `json:"text"`
}

// The states of a Check.
const (
	Passed  = "ok"
	Noted   = "note"    // the run is possible, but look at it
	Unknown = "unknown" // it could not be checked
	Refused = "problem" // the run would fail
)

// PreflightOptions say what a run would need.
type PreflightOptions struct {
	Spec    *Spec    // image, workers, places and requests of the pods
	Secrets []string // that must exist
	Probe   []string // arguments with which the program in the image tests the server; nil = no test
	Server  string   // its URL; "" = not given
}

// right is a right that runs need in their namespace.
type right struct{ group, resource, part, verb string }

// rights are all rights that runs need.
func rights() (list []right) {
	for _, verb := range []string{"create", "list", "delete"} {
		list = append(list, right{"batch", "jobs", "", verb})
		for _, resource := range []string{"configmaps", "secrets", "services"} {
			list = append(list, right{"", resource, "", verb})
		}
	}
	return append(list, right{"", "secrets", "", "get"}, right{"", "pods", "", "list"}, right{"", "pods", "log", "get"}, right{"", "pods", "portforward", "create"})
}

func (r right) String() string {
	name := r.resource
	if r.part != "" {
		name += "/" + r.part
	}
	return r.verb + " " + name
}

// Preflight checks a cluster before a run. It creates one Job for the image and the server, and deletes it.
func Preflight(ctx context.Context, c Cluster, o PreflightOptions) []Check {
	checks := checkRights(ctx, c)
	if checks[0].State == Refused && checks[0].Name == "cluster" {
		return checks
	}
	checks = append(checks, checkServerRights(ctx, c, o.Server)...)
	checks = append(checks, checkQuota(ctx, c, o.Spec)...)
	checks = append(checks, checkNodes(ctx, c, o.Spec))
	for _, name := range append(append([]string(nil), o.Secrets...), o.Spec.PullSecrets...) {
		check := Check{"secret " + name, Passed, "it exists"}
		if _, err := c.Get(ctx, "Secret", name); err != nil {
			check.State, check.Text = Refused, err.Error()
		}
		checks = append(checks, check)
	}
	if o.Spec.Image != "" {
		checks = append(checks, probe(ctx, c, o)...)
	}
	return checks
}

// checkRights asks the API server for each right.
func checkRights(ctx context.Context, c Cluster) []Check {
	var missing []string
	for _, r := range rights() {
		allowed, err := isAllowed(ctx, c, c.Namespace(), r)
		if err != nil {
			return []Check{{"cluster", Refused, err.Error()}}
		}
		if !allowed {
			missing = append(missing, r.String())
		}
	}
	checks := []Check{{"cluster", Passed, "it answers; namespace " + c.Namespace()}}
	if missing != nil {
		return append(checks, Check{"rights", Refused, "your account may not " + strings.Join(missing, ", ") + "; ask for a Role with these rights in the namespace"})
	}
	return append(checks, Check{"rights", Passed, fmt.Sprintf("all %d that are needed", len(rights()))})
}

// needs returns how much of what a quota may limit the pods of a run need.
func needs(s *Spec) map[string]float64 {
	n := map[string]float64{"pods": float64(s.Workers + 1), "count/pods": float64(s.Workers + 1), "count/jobs.batch": 2, "count/configmaps": 1, "configmaps": 1, "count/secrets": 1, "secrets": 1, "count/services": 1, "services": 1}
	for resource := range s.WorkerRequests {
		worker, _ := ParseQuantity(s.WorkerRequests[resource])         // the flag was checked
		controller, _ := ParseQuantity(s.ControllerRequests[resource]) // as above
		n["requests."+resource] = worker*float64(s.Workers) + controller
		n[resource] = n["requests."+resource]
	}
	return n
}

// checkQuota compares what a run needs with what the quotas of the namespace leave.
func checkQuota(ctx context.Context, c Cluster, s *Spec) []Check {
	quotas, err := c.List(ctx, "ResourceQuota", "", "")
	if err != nil {
		return []Check{{"quota", Unknown, err.Error()}}
	}
	var checks []Check
	need := needs(s)
	for _, q := range quotas {
		hard, _ := at(q, "status", "hard").(Object)
		for _, resource := range sorted(hard) {
			limit, err1 := ParseQuantity(fmt.Sprint(hard[resource]))
			used, err2 := ParseQuantity(text(q, "status", "used", resource))
			if n, ok := need[resource]; ok && err1 == nil && err2 == nil && used+n > limit {
				checks = append(checks, Check{"quota", Refused, fmt.Sprintf("quota %s leaves %s of %s, the run needs %s; use fewer workers or smaller requests", text(q, "metadata", "name"), short(limit-used), resource, short(n))})
			}
		}
	}
	if checks == nil {
		checks = []Check{{"quota", Passed, fmt.Sprintf("%d quotas allow the run", len(quotas))}}
	}
	return checks
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// checkNodes counts the nodes that accept workers.
func checkNodes(ctx context.Context, c Cluster, s *Spec) Check {
	nodes, err := c.List(ctx, "Node", "", "")
	if err != nil {
		return Check{"nodes", Unknown, "they may not be listed; the scheduler decides"}
	}
	fit, room := 0, 0.0
	request, _ := ParseQuantity(s.WorkerRequests["cpu"]) // the flag was checked
	for _, n := range nodes {
		if !accepts(n, s) {
			continue
		}
		fit++
		cpu, _ := ParseQuantity(text(n, "status", "allocatable", "cpu")) // 0 = unknown
		if request > 0 {
			room += float64(int(cpu / request))
		}
	}
	switch {
	case fit == 0:
		return Check{"nodes", Refused, fmt.Sprintf("none of %d nodes accepts the pods: check the node selector and the tolerations", len(nodes))}
	case request > 0 && room < float64(s.Workers):
		return Check{"nodes", Noted, fmt.Sprintf("%d nodes accept the pods and have room for %.0f workers at most, %d are wanted", fit, room, s.Workers)}
	case fit < s.Workers:
		return Check{"nodes", Noted, fmt.Sprintf("%d workers share %d nodes, and their network cards", s.Workers, fit)}
	}
	return Check{"nodes", Passed, fmt.Sprintf("%d nodes accept the pods", fit)}
}

// accepts reports whether a node takes pods of a run.
func accepts(node Object, s *Spec) bool {
	if closed, _ := at(node, "spec", "unschedulable").(bool); closed || !condition(node, "Ready") {
		return false
	}
	for name, value := range s.NodeSelector {
		if text(node, "metadata", "labels", name) != value {
			return false
		}
	}
	for _, taint := range list(node, "spec", "taints") {
		if text(taint, "effect") != "PreferNoSchedule" && !tolerated(taint, s.Tolerations) {
			return false
		}
	}
	return true
}

func tolerated(taint Object, all []Toleration) bool {
	for _, t := range all {
		if t.Key == text(taint, "key") && (t.Value == "" || t.Value == text(taint, "value")) && (t.Effect == "" || t.Effect == text(taint, "effect")) {
			return true
		}
	}
	return false
}

// ProbeResult is what the program in a pod found out.
type ProbeResult struct {
	Checks []Check `json:"checks"`
	Began  int64   `json:"began_ns"` // by the clock of the node, Unix ns
	Ended  int64   `json:"ended_ns"`
}

// probeTime is the longest wait for the pod of a probe.
const probeTime = 2 * time.Minute

// probe runs the image in a pod, where it tests the server.
func probe(ctx context.Context, c Cluster, o PreflightOptions) []Check {
	s := *o.Spec
	s.Name += "-" + strconv.FormatInt(time.Now().UnixNano()%1e6, 36)
	job := s.probeJob(o.Probe)
	begin := time.Now()
	made, err := c.Create(ctx, job)
	if err != nil {
		return []Check{{"image", Unknown, err.Error()}}
	}
	var server *clockBounds
	if at, err := time.Parse(time.RFC3339, text(made, "metadata", "creationTimestamp")); err == nil {
		b := boundsOf(begin, time.Now(), at, time.Second)
		server = &b
	}
	name := text(made, "metadata", "name")
	defer func() { _ = c.Delete(context.WithoutCancel(ctx), "Job", name) }() // it also ends by its own limit
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	for {
		pods, err := c.List(ctx, "Pod", probeLabel+"="+s.Name, "")
		if err != nil && isFinal(err) {
			return []Check{{"image", Unknown, err.Error()}}
		}
		for _, pod := range pods {
			if problem := Problem(pod); problem != "" && hopeless(pod) {
				return []Check{{"image", Refused, problem}}
			}
			if phase := text(pod, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
				return probed(ctx, c, pod, o, begin, server)
			}
		}
		select {
		case <-ctx.Done():
			if refused := Refusals(context.WithoutCancel(ctx), c, &Run{Name: s.Name}); refused != nil {
				return []Check{{"image", Refused, refused[0]}}
			}
			return []Check{{"image", Unknown, fmt.Sprintf("the pod of the test did not run within %v", probeTime)}}
		case <-time.After(pollPeriod / 4):
		}
	}
}

// probed reads what a probe has printed.
func probed(ctx context.Context, c Cluster, pod Object, o PreflightOptions, begin time.Time, server *clockBounds) []Check {
	out, err := c.Log(ctx, LogOptions{Pod: text(pod, "metadata", "name"), Tail: -1})
	if err != nil {
		return []Check{{"image", Unknown, err.Error()}}
	}
	defer out.Close()
	printed, err := io.ReadAll(io.LimitReader(out, 64<<10))
	var result ProbeResult
	if err != nil || json.Unmarshal(printed, &result) != nil || result.Ended == 0 {
		return []Check{{"image", Refused, fmt.Sprintf("%s runs, but is not this version of aiperf: %s", o.Spec.Image, oneLine(string(printed)))}}
	}
	checks := append([]Check{{"image", Passed, o.Spec.Image + " can be pulled and runs"}}, result.Checks...)
	node := clockBounds{time.Until(time.Unix(0, result.Ended)), time.Unix(0, result.Began).Sub(begin)}
	return append(checks, checkClocks(server, &node)...)
}

// probeLabel is the label of the pods of probes.
const probeLabel = "aiperf/probe"

// probeJob returns the Job of a probe. Its pod has the volumes that the user mounts, a folder for temporary files, and variables from Secrets.
func (s *Spec) probeJob(args []string) Object {
	labels := Object{nameLabel: program, probeLabel: s.Name}
	pod := s.pod("", args)
	pod["metadata"] = Object{"labels": labels}
	if spec, ok := pod["spec"].(Object); ok {
		spec["volumes"] = append([]any{Object{"name": "tmp", "emptyDir": Object{}}}, s.userVolumes()...)
		for _, c := range list(spec, "containers") {
			c["env"] = append([]any{Object{"name": "HOME", "value": "/tmp"}}, s.userVariables()...)
			c["volumeMounts"] = append([]any{Object{"name": "tmp", "mountPath": "/tmp"}}, s.userMounts()...)
			delete(c, "readinessProbe")
			delete(c, "livenessProbe")
			delete(c, "ports")
		}
	}
	return Object{"apiVersion": "batch/v1", "kind": "Job", "metadata": Object{"name": s.Name, "labels": labels}, "spec": Object{
		"backoffLimit": 0, "activeDeadlineSeconds": int(2 * probeTime.Seconds()), "ttlSecondsAfterFinished": 60, "template": pod,
	}}
}
