package kube_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubefake"
)

// keys are the keys of a run for tests.
var keys = map[string][]byte{"token": []byte("t"), kube.TokenKey: []byte("token-of-the-api")}

// TestApply: everything belongs to the controller's Job, and a failure leaves nothing behind.
func TestApply(t *testing.T) {
	c := kubefake.New(t)
	if err := kube.Apply(t.Context(), c, sample(), keys); err != nil {
		t.Fatal(err)
	}
	for _, one := range [][2]string{{"ConfigMap", "demo"}, {"Secret", "demo"}, {"Service", "demo"}, {"Job", "demo-worker"}} {
		o, err := c.Get(t.Context(), one[0], one[1])
		if err != nil {
			t.Fatal(err)
		}
		if find(t, o, "metadata", "ownerReferences", 0, "uid") != "uid-demo-controller" {
			t.Errorf("%v: %v", one, find(t, o, "metadata"))
		}
	}
	if err := kube.Apply(t.Context(), c, sample(), keys); err == nil || !strings.Contains(err.Error(), "namespace bench has a run demo already") {
		t.Error(err)
	}
	if n, err := kube.Remove(t.Context(), c, "demo"); n != 5 || err != nil {
		t.Error(n, err)
	}
	c = kubefake.New(t)
	c.Refuse("create", "secrets", apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "demo", errors.New("exceeded quota: small, requested: secrets=1")))
	if err := kube.Apply(t.Context(), c, sample(), keys); !kube.Is(err, kube.Quota) || !strings.Contains(err.Error(), "the quota of the namespace does not allow it") {
		t.Error(err)
	}
	if jobs, err := c.List(t.Context(), "Job", "", ""); len(jobs) != 0 || err != nil {
		t.Error(jobs, err)
	}
	c = kubefake.New(t)
	c.Refuse("create", "jobs", apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "demo", errors.New("user may not")))
	if err := kube.Apply(t.Context(), c, sample(), keys); err == nil || !strings.Contains(err.Error(), "your account may not create jobs here") {
		t.Error(err)
	}
}

// TestStates: what the objects of a run say about it.
func TestStates(t *testing.T) {
	ready := func(yes string) string {
		return `"conditions":[{"type":"Ready","status":"` + yes + `"}],"containerStatuses":[{"state":{"running":{"startedAt":"2020-01-01T00:00:00Z"}}}]`
	}
	waits := func(reason string) string {
		return `"containerStatuses":[{"image":"x:1","state":{"waiting":{"reason":"` + reason + `","message":"not found"}}}]`
	}
	for name, c := range map[string]struct {
		phase, status string
		state         kube.State
		problem       string
	}{
		"runs":       {"Running", ready("True"), kube.Running, ""},
		"has ended":  {"Running", ready("False"), kube.Finished, ""},
		"image":      {"Pending", waits("ErrImagePull"), kube.Pending, "pod p: its image cannot be pulled (image x:1): not found"},
		"no room":    {"Pending", `"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}]`, kube.Pending, "pod p fits on no node: 0/3 nodes"},
		"no memory":  {"Failed", `"containerStatuses":[{"state":{"terminated":{"reason":"OOMKilled","exitCode":137}}}]`, kube.Pending, "used more memory than its limit"},
		"was driven": {"Failed", `"reason":"Evicted","message":"disk"`, kube.Pending, "pod p: Evicted: disk"},
	} {
		cluster := kubefake.New(t)
		if err := kube.Apply(t.Context(), cluster, sample(), keys); err != nil {
			t.Fatal(err)
		}
		cluster.Pod("demo", "controller", "p", c.phase, c.status)
		run, err := kube.Find(t.Context(), cluster, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if run.State != c.state || !strings.Contains(run.Problem, c.problem) || c.problem == "" && run.Problem != "" || run.Workers != 3 || run.Model != "m" {
			t.Errorf("%s: %s %q, want %s %q", name, run.State, run.Problem, c.state, c.problem)
		}
	}
	if _, err := kube.Find(t.Context(), kubefake.New(t), "none", ""); !kube.Is(err, kube.NotFound) {
		t.Error(err)
	}
}

// TestGivingUp: a run that cannot begin is given up with the reason, after a while.
func TestGivingUp(t *testing.T) {
	cluster := kubefake.New(t)
	if err := kube.Apply(t.Context(), cluster, sample(), keys); err != nil {
		t.Fatal(err)
	}
	cluster.Add(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"reason":"FailedCreate","involvedObject":{"kind":"Job","name":"demo-controller"},"message":"exceeded quota: small"}`)
	var notes []string
	f := &kube.Follower{Cluster: cluster, Poll: 5 * time.Millisecond, Hope: 50 * time.Millisecond, Note: func(text string) { notes = append(notes, text) }}
	_, err := f.Await(t.Context(), "demo")
	if want := "the cluster creates no pod for Job demo-controller: exceeded quota: small"; err == nil || err.Error() != want || len(notes) != 1 {
		t.Error(err, notes)
	}
	cluster.Pod("demo", "controller", "p", "Pending", `"containerStatuses":[{"image":"x:1","state":{"waiting":{"reason":"ImagePullBackOff"}}}]`)
	if _, err = f.Await(t.Context(), "demo"); err == nil || !strings.Contains(err.Error(), "its image cannot be pulled") {
		t.Error(err)
	}
}

// TestRefusedWorkers: a controller that runs while the cluster refuses worker pods is given up with the reason. Pods that are only missing are not
// waited for longer than that: a machine may have been lost.
func TestRefusedWorkers(t *testing.T) {
	cluster := kubefake.New(t)
	if err := kube.Apply(t.Context(), cluster, sample(), keys); err != nil {
		t.Fatal(err)
	}
	cluster.Pod("demo", "controller", "p", "Running", `"conditions":[{"type":"Ready","status":"True"}]`)
	cluster.Pod("demo", "worker", "w", "Running", "")
	var notes []string
	f := &kube.Follower{Cluster: cluster, Poll: 5 * time.Millisecond, Hope: 50 * time.Millisecond, Note: func(text string) { notes = append(notes, text) }}
	if run, err := f.Await(t.Context(), "demo"); err != nil || run.State != kube.Running || len(notes) != 1 || notes[0] != "waiting for pods: 1 of 3 workers run" {
		t.Error(run, err, notes)
	}
	cluster.Add(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"reason":"FailedCreate","involvedObject":{"kind":"Job","name":"demo-worker"},"message":"exceeded quota: small"}`)
	if _, err := f.Await(t.Context(), "demo"); err == nil || err.Error() != "the cluster creates no pod for Job demo-worker: exceeded quota: small" {
		t.Error(err)
	}
}

// TestRunsThatGo: the pods that are left of a deleted run are not listed.
func TestRunsThatGo(t *testing.T) {
	cluster := kubefake.New(t)
	if err := kube.Apply(t.Context(), cluster, sample(), keys); err != nil {
		t.Fatal(err)
	}
	cluster.Pod("demo", "controller", "p", "Running", "")
	if runs, err := kube.Runs(t.Context(), cluster); len(runs) != 1 || err != nil {
		t.Fatal(runs, err)
	}
	if err := cluster.Delete(t.Context(), "Job", "demo-controller"); err != nil {
		t.Fatal(err)
	}
	if runs, err := kube.Runs(t.Context(), cluster); len(runs) != 0 || err != nil {
		t.Error(runs, err)
	}
}

// controller is a controller in a pod that has finished, or not.
type controller struct {
	files   map[string]string
	damaged int      // answers with files that arrive damaged
	asked   []string // files and ranges
	posted  []string
}

// ServeHTTP implements http.Handler.
func (c *controller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, isFile := strings.CutPrefix(r.URL.Path, "/api/results/files/")
	switch {
	case r.Header.Get("Authorization") != "Bearer token-of-the-api":
		http.Error(w, "no token", http.StatusUnauthorized)
	case r.Method == http.MethodPost:
		c.posted = append(c.posted, r.URL.Path)
		fmt.Fprint(w, "{}")
	case isFile:
		c.asked = append(c.asked, name+" "+r.Header.Get("Range"))
		text := c.files[name]
		if c.damaged > 0 {
			c.damaged--
			text = strings.Repeat("?", len(text))
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	case r.URL.Path == "/api/results/list":
		var list []string
		for name, text := range c.files {
			sum := sha256.Sum256([]byte(text))
			list = append(list, fmt.Sprintf(`{"name":%q,"size":%d,"sha256":%q}`, name, len(text), hex.EncodeToString(sum[:])))
		}
		fmt.Fprintf(w, `{"files":[%s]}`, strings.Join(list, ","))
	case r.URL.Path == "/api/output":
		w.Header().Set("Aiperf-First", r.URL.Query().Get("from"))
		if r.URL.Query().Get("from") == "0" {
			w.Header().Set("Aiperf-State", "running")
			fmt.Fprint(w, "line\n")
			return
		}
		w.Header().Set("Aiperf-State", "finished")
	case r.URL.Path == "/api/state":
		fmt.Fprint(w, `{"state":"finished","exit_status":3}`)
	}
}

// following returns a cluster with a run whose controller is served, and what follows it.
func following(t *testing.T, c *controller) (*kubefake.Cluster, *kube.Follower, *kube.Run, *strings.Builder) {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	cluster := kubefake.New(t)
	cluster.Server = server.Listener.Addr().String()
	if err := kube.Apply(t.Context(), cluster, sample(), keys); err != nil {
		t.Fatal(err)
	}
	cluster.Pod("demo", "controller", "demo-controller-x", "Running", `"conditions":[{"type":"Ready","status":"True"}]`)
	for i := range 3 {
		cluster.Pod("demo", "worker", fmt.Sprint("demo-worker-", i), "Running", "")
	}
	out := &strings.Builder{}
	f := &kube.Follower{Cluster: cluster, Out: out, Poll: 5 * time.Millisecond, Silence: 30 * time.Millisecond, Note: func(text string) { fmt.Fprintln(out, "note:", text) }}
	run, err := f.Await(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	return cluster, f, run, out
}

// TestFollow: the output is shown once, the status is the run's, and an API server that goes away for a while is waited for.
func TestFollow(t *testing.T) {
	cluster, f, run, out := following(t, &controller{})
	cluster.Down.Store(true)
	note := f.Note
	f.Note = func(text string) {
		note(text)
		cluster.Down.Store(false) // as soon as the user has heard of it
	}
	state, err := f.Follow(t.Context(), run)
	if err != nil || state.Status != 3 || !strings.Contains(out.String(), "the run continues there, trying again") || !strings.HasSuffix(out.String(), "note: the cluster answers again\nline\n") &&
		!strings.HasSuffix(out.String(), "line\nnote: the cluster answers again\n") {
		t.Error(state, err, out.String())
	}
}

// TestGone: a controller whose pod was deleted, or whose run was, is not waited for.
func TestGone(t *testing.T) {
	cluster, f, run, _ := following(t, &controller{})
	cluster.Server = ""
	if err := cluster.Delete(t.Context(), "Pod", "demo-controller-x"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Follow(t.Context(), run); err == nil || !strings.Contains(err.Error(), "pod demo-controller-x of the controller was deleted during the run") {
		t.Error(err)
	}
	if _, err := kube.Remove(t.Context(), cluster, "demo"); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := cluster.Delete(t.Context(), "Pod", fmt.Sprint("demo-worker-", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Follow(t.Context(), run); err == nil || !strings.Contains(err.Error(), "was deleted while it ran") {
		t.Error(err)
	}
}

// TestFetch: files that are here are not fetched again, a part is continued, and damage is noticed.
func TestFetch(t *testing.T) {
	c := &controller{files: map[string]string{"a.csv": "0123456789", "logs/x.log": "log", "logs/live": "no"}, damaged: 1}
	_, f, run, _ := following(t, c)
	dir := t.TempDir()
	wanted := func(name string) bool { return name != "logs/live" }
	got, err := f.Fetch(t.Context(), run, dir, wanted)
	if err != nil || got.Files != 2 || len(c.asked) != 3 { // one was damaged
		t.Error(got, err, c.asked)
	}
	for name, want := range map[string]string{"a.csv": "0123456789", "logs/x.log": "log"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	c.asked = nil
	if err := os.Rename(filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.csv.fetching")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "a.csv.fetching"), 4); err != nil {
		t.Fatal(err)
	}
	if got, err = f.Fetch(t.Context(), run, dir, wanted); err != nil || got.Bytes != 6 || len(c.asked) != 1 || c.asked[0] != "a.csv bytes=4-" {
		t.Error(got, err, c.asked)
	}
	c.files = map[string]string{"../x": "y"}
	if _, err := f.Fetch(t.Context(), run, dir, wanted); err == nil || !strings.Contains(err.Error(), "leaves the folder") {
		t.Error(err)
	}
}

// TestPreflight: each check finds what would stop a run.
func TestPreflight(t *testing.T) {
	cluster := kubefake.New(t)
	cluster.Allow("create pods/portforward")
	cluster.Add(`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"small"},"status":{"hard":{"pods":"3","requests.cpu":"20"},"used":{"pods":"1","requests.cpu":"500m"}}}`)
	cluster.Add(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"pool":"load"}},"status":{"allocatable":{"cpu":"8"},"conditions":[{"type":"Ready","status":"True"}]}}`)
	s := &kube.Spec{Name: "probe", Workers: 3, WorkerRequests: map[string]string{"cpu": "4"}, ControllerRequests: map[string]string{"cpu": "1"}}
	texts := func() string {
		var out strings.Builder
		for _, c := range kube.Preflight(t.Context(), cluster, kube.PreflightOptions{Spec: s, Secrets: []string{"absent"}}) {
			fmt.Fprintln(&out, c.State, c.Name, c.Text)
		}
		return out.String()
	}
	for _, want := range []string{
		"problem rights your account may not create pods/portforward", "problem quota quota small leaves 2 of pods, the run needs 4", "note nodes 1 nodes accept the pods and have room for 2 workers",
		"problem secret absent",
	} {
		if !strings.Contains(texts(), want) {
			t.Errorf("no %q in\n%s", want, texts())
		}
	}
	for _, one := range []struct {
		forbidden []string
		server    string
		want      string
	}{
		{[]string{"get services"}, "http://llm.prod.svc", "note server rights your account may not get services in namespace prod"},
		{nil, "http://llm.prod.svc", "ok server rights"}, {nil, "http://10.0.0.1", ""},
	} {
		c := kubefake.New(t)
		c.Allow(one.forbidden...)
		found := ""
		for _, check := range kube.Preflight(t.Context(), c, kube.PreflightOptions{Spec: s, Server: one.server}) {
			if check.Name == "server rights" {
				found = check.State + " " + check.Name + " " + check.Text
			}
		}
		if !strings.HasPrefix(found, one.want) || one.want == "" && found != "" {
			t.Errorf("%s: %q, want %q", one.server, found, one.want)
		}
	}
	s.NodeSelector = map[string]string{"pool": "other"}
	if !strings.Contains(texts(), "problem nodes none of 1 nodes accepts the pods") {
		t.Error(texts())
	}
	cluster.Down.Store(true)
	if got := texts(); !strings.Contains(got, "problem cluster the API server of the cluster does not answer") || strings.Contains(got, "quota") {
		t.Error(got)
	}
}

// TestDiagnosis: pods, their problems, events and the end of the log are shown.
func TestDiagnosis(t *testing.T) {
	cluster, _, run, _ := following(t, &controller{})
	cluster.Logs["demo-controller-x"] = strings.Repeat("old\n", 20) + "error: it broke\n"
	cluster.Add(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"type":"Warning","reason":"BackOff","involvedObject":{"kind":"Pod","name":"demo-worker-1"},"message":"pull","lastTimestamp":"2026-01-01T00:00:00Z"}`)
	var out strings.Builder
	if err := kube.Diagnosis(t.Context(), cluster, run, false, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"run demo in namespace bench: running", "pod demo-worker-2: Running, node none", "demo-worker-1 BackOff: pull", "  error: it broke"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if log, err := cluster.Log(t.Context(), kube.LogOptions{Pod: "demo-controller-x"}); err != nil {
		t.Error(err)
	} else if text, err := io.ReadAll(log); err != nil || len(text) == 0 {
		t.Error(err)
	}
}

// TestQuantities: quantities are read as Kubernetes writes them.
func TestQuantities(t *testing.T) {
	for text, want := range map[string]float64{"500m": 0.5, "2": 2, "1Gi": 1 << 30, "3k": 3000, "1e3": 1000, "2E": 2e18, "1Ei": 1 << 60, "7u": 7e-6} {
		if got, err := kube.ParseQuantity(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "lots", "-1", "inf", "NaN", "2 Gi", "2GiB"} {
		if v, err := kube.ParseQuantity(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
}
