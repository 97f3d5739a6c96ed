package kubelet

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"

	"kubelab/sandbox"
)

func TestProgramsAreParsed(t *testing.T) {
	got, err := ParsePrograms("aiperf=/bin/a,sh=/bin/sh")
	if want := map[string]string{"aiperf": "/bin/a", "sh": "/bin/sh"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("programs %v (%v), want %v", got, err, want)
	}
	for _, bad := range []string{"aiperf", "=/bin/a", "aiperf=bin/a"} {
		if _, err := ParsePrograms(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: error %v does not name it", bad, err)
		}
	}
}

func TestImagesWithoutCommandNameTheirProgram(t *testing.T) {
	for image, want := range map[string]string{"aiperf:dev": "aiperf", "registry.example:5000/x/aiperf@sha256:0": "aiperf", "busybox": "busybox"} {
		if got := arguments(&v1.Container{Image: image, Args: []string{"run"}}); !reflect.DeepEqual(got, []string{want, "run"}) {
			t.Errorf("image %s runs %q, want %s run", image, got, want)
		}
	}
	if err := pull("missing.example/aiperf:1"); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a missing image: %v", err)
	}
	if err := pull("aiperf:1"); err != nil {
		t.Errorf("an image of this machine: %v", err)
	}
}

func TestRestartPolicies(t *testing.T) {
	for _, c := range []struct {
		policy v1.RestartPolicy
		status int
		want   bool
	}{
		{v1.RestartPolicyNever, 1, false}, {v1.RestartPolicyOnFailure, 1, true}, {v1.RestartPolicyOnFailure, 0, false},
		{v1.RestartPolicyAlways, 0, true},
	} {
		if got := restarts(c.policy, c.status); got != c.want {
			t.Errorf("%s after status %d: restart %v", c.policy, c.status, got)
		}
	}
	if backOff(0) != firstBackOff || backOff(1) != 2*firstBackOff || backOff(50) != lastBackOff {
		t.Error("the back-off does not double up to its maximum")
	}
}

func ended(status int32) containerState {
	return containerState{final: true, now: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: status}}}
}

func TestPhases(t *testing.T) {
	waiting := containerState{now: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{}}}
	crashed := waiting
	crashed.restarts = 1
	runs := containerState{now: v1.ContainerState{Running: &v1.ContainerStateRunning{}}}
	for want, states := range map[v1.PodPhase][][]containerState{
		v1.PodPending:   {{waiting}, {waiting, waiting}},
		v1.PodRunning:   {{runs}, {runs, ended(1)}, {crashed}, {waiting, ended(0)}},
		v1.PodSucceeded: {{ended(0)}, {ended(0), ended(0)}},
		v1.PodFailed:    {{ended(1)}, {ended(0), ended(137)}},
	} {
		for _, s := range states {
			if got := phase(s); got != want {
				t.Errorf("phase %s of %+v, want %s", got, s, want)
			}
		}
	}
}

func TestConditionsKeepTheirTime(t *testing.T) {
	s := v1.PodStatus{}
	setCondition(&s, v1.PodReady, false)
	s.Conditions[0].LastTransitionTime = metav1.Unix(1, 0)
	setCondition(&s, v1.PodReady, false)
	if s.Conditions[0].LastTransitionTime != metav1.Unix(1, 0) {
		t.Error("an unchanged condition has a new time")
	}
	setCondition(&s, v1.PodReady, true)
	if len(s.Conditions) != 1 || s.Conditions[0].Status != v1.ConditionTrue || s.Conditions[0].LastTransitionTime == metav1.Unix(1, 0) {
		t.Errorf("conditions after a change: %+v", s.Conditions)
	}
}

func TestVerdictsWaitForThresholds(t *testing.T) {
	v := verdict{probe: &v1.Probe{FailureThreshold: 2, SuccessThreshold: 1}}
	var changes []string
	for _, good := range []bool{false, true, true, false, true, false, false, false, true} {
		if verdict, changed := v.count(good); changed {
			changes = append(changes, strconv.FormatBool(verdict))
		}
	}
	if got := strings.Join(changes, " "); got != "true false true" {
		t.Errorf("verdicts %s, want true false true", got)
	}
}

func TestHTTPProbe(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && r.Header.Get("X-Probe") == "1" {
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	port, _ := strconv.Atoi(u.Port())
	p := &pod{address: netip.MustParseAddr("127.0.0.1"), object: &v1.Pod{}}
	c := newContainer(p, &v1.Container{Ports: []v1.ContainerPort{{Name: "api", ContainerPort: int32(port)}}})
	get := &v1.HTTPGetAction{Path: "/readyz", Port: intstr.FromString("api"), HTTPHeaders: []v1.HTTPHeader{{Name: "X-Probe", Value: "1"}}}
	if err := getProbe(t.Context(), p, c, get); err != nil {
		t.Errorf("a good answer: %v", err)
	}
	get.Path = "/other"
	if err := getProbe(t.Context(), p, c, get); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a bad answer: %v", err)
	}
	get.Port = intstr.FromString("metrics")
	if err := getProbe(t.Context(), p, c, get); err == nil || !strings.Contains(err.Error(), "metrics") {
		t.Errorf("an unknown port: %v", err)
	}
}

func TestLogLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := newLog(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one\ntw", "o\n", "three"} {
		if n, err := l.Write([]byte(text)); err != nil || n != len(text) {
			t.Fatalf("wrote %d of %q: %v", n, text, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := (logOptions{tail: -1}).lines(string(b)); got != "one\ntwo\nthree" {
		t.Errorf("all lines: %q", got)
	}
	if got := (logOptions{tail: 1}).lines(string(b)); got != "three" {
		t.Errorf("the last line: %q", got)
	}
	if got := (logOptions{tail: -1, since: time.Now().Add(time.Hour)}).lines(string(b)); got != "" {
		t.Errorf("lines of the future: %q", got)
	}
	stamped := (logOptions{tail: 1, timestamps: true}).lines(string(b))
	if stamp, rest, _ := strings.Cut(stamped, " "); rest != "three" {
		t.Errorf("with its time: %q", stamped)
	} else if _, err := time.Parse(time.RFC3339Nano, stamp); err != nil {
		t.Error(err)
	}
}

func TestLogOptionsAreChecked(t *testing.T) {
	o, err := parseLogOptions(url.Values{"tailLines": {"3"}, "sinceSeconds": {"10"}}, time.Unix(100, 0))
	if err != nil || o.tail != 3 || !o.since.Equal(time.Unix(90, 0)) {
		t.Errorf("options %+v (%v)", o, err)
	}
	for _, name := range []string{"tailLines", "sinceSeconds", "sinceTime"} {
		if _, err := parseLogOptions(url.Values{name: {"x"}}, time.Now()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=x: error %v does not name it", name, err)
		}
	}
}

func TestUsersAndRights(t *testing.T) {
	yes, user, group := true, int64(1000), int64(2000)
	var s sandbox.Spec
	setUser(&s, &v1.PodSecurityContext{RunAsNonRoot: &yes, FSGroup: &group}, &v1.SecurityContext{ReadOnlyRootFilesystem: &yes})
	if s.User != imageUser || !s.ReadOnly || !reflect.DeepEqual(s.Groups, []int{2000}) {
		t.Errorf("an image that must not be root: %+v", s)
	}
	setUser(&s, nil, &v1.SecurityContext{RunAsUser: &user})
	if s.User != 1000 || s.ReadOnly {
		t.Errorf("a chosen user: %+v", s)
	}
}

// labPod is a pod in a namespace with a ConfigMap, a Secret and a service in front of it.
func labPod(t *testing.T) (*Kubelet, *pod) {
	meta := metav1.ObjectMeta{Name: "demo", Namespace: "ns", Labels: map[string]string{"run": "demo"}}
	object := &v1.Pod{ObjectMeta: meta, Spec: v1.PodSpec{Hostname: "demo-0", Subdomain: "demo"},
		Status: v1.PodStatus{Phase: v1.PodRunning, PodIP: "10.88.0.9"}}
	client := fake.NewClientset(object,
		&v1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"run.yaml": "a: 1", "other": "x"}},
		&v1.Secret{ObjectMeta: meta, Data: map[string][]byte{"token": []byte("s3cret")}},
		&v1.Service{ObjectMeta: meta, Spec: v1.ServiceSpec{Selector: meta.Labels}})
	k := newKubelet(Config{Server: "https://10.88.0.1:6443", Port: 28100}, client)
	p := newPod(t.Context(), object, t.TempDir())
	p.address = netip.MustParseAddr("10.88.0.7")
	return k, p
}

func TestEnvironment(t *testing.T) {
	k, p := labPod(t)
	ref := v1.LocalObjectReference{Name: "demo"}
	c := &v1.Container{Env: []v1.EnvVar{
		{Name: "IP", ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
		{Name: "RUN", ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: "metadata.labels['run']"}}},
		{Name: "TOKEN", ValueFrom: &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{LocalObjectReference: ref, Key: "token"}}},
		{Name: "URL", Value: "http://$(IP)/$(RUN)$(UNKNOWN)"},
	}}
	env, err := k.env(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(env, "\n")
	for _, want := range []string{"IP=10.88.0.7", "RUN=demo", "TOKEN=s3cret", "URL=http://10.88.0.7/demo$(UNKNOWN)",
		"KUBERNETES_SERVICE_HOST=10.88.0.1", "KUBERNETES_SERVICE_PORT=6443"} {
		if !strings.Contains(got, want) {
			t.Errorf("environment lacks %s:\n%s", want, got)
		}
	}
	c.Env[2].ValueFrom.SecretKeyRef.Key = "absent"
	if _, err := k.env(t.Context(), p, c); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a missing key: %v", err)
	}
}

func TestVolumes(t *testing.T) {
	k, p := labPod(t)
	ref, private, yes := v1.LocalObjectReference{Name: "demo"}, int32(0o400), true
	p.object.Spec.Volumes = []v1.Volume{
		{Name: "run", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: ref,
			Items: []v1.KeyToPath{{Key: "run.yaml", Path: "sub/run.yaml"}}}}},
		{Name: "key", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "demo", DefaultMode: &private}}},
		{Name: "none", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "absent", Optional: &yes}}},
	}
	dirs, err := k.fillVolumes(p)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dirs["run"], "sub/run.yaml")); err != nil || string(b) != "a: 1" {
		t.Errorf("ConfigMap's file: %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dirs["run"], "other")); err == nil {
		t.Error("a key that was not chosen is there")
	}
	if info, err := os.Stat(filepath.Join(dirs["key"], "token")); err != nil || info.Mode() != 0o400 {
		t.Errorf("Secret's file: %v, %v", info, err)
	}
	p.object.Spec.Volumes[2].Secret.Optional = nil
	if _, err := k.fillVolumes(p); err == nil || !strings.Contains(err.Error(), `volume "none"`) {
		t.Errorf("a missing Secret: %v", err)
	}
}

func TestHostsNamePodsBehindServices(t *testing.T) {
	k, p := labPod(t)
	hosts := func() string {
		if err := k.writeHosts(p); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(p.hostsFile())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if text := hosts(); strings.Contains(text, "10.88.0.9") {
		t.Errorf("a pod that is not ready has a name:\n%s", text)
	}
	setCondition(&p.object.Status, v1.PodReady, true)
	if _, err := k.client.CoreV1().Pods("ns").UpdateStatus(t.Context(), p.object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	text := hosts()
	for _, want := range []string{"127.0.0.1 localhost", "10.88.0.7 demo", "10.88.0.9 demo demo.ns demo.ns.svc", " demo-0.demo.ns.svc.cluster.local"} {
		if !strings.Contains(text, want) {
			t.Errorf("hosts lack %q:\n%s", want, text)
		}
	}
}

func TestReportsWriteTheStatus(t *testing.T) {
	k, p := labPod(t)
	p.object.Spec.Containers = []v1.Container{{Name: "main", Image: "aiperf"}}
	p.containers = []*container{newContainer(p, &p.object.Spec.Containers[0])}
	p.containers[0].wait("ErrImagePull", "not found")
	if err := k.report(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got, err := k.client.CoreV1().Pods("ns").Get(t.Context(), "demo", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := got.Status
	if s.Phase != v1.PodPending || s.PodIP != "10.88.0.7" || s.ContainerStatuses[0].State.Waiting.Reason != "ErrImagePull" || isReady(got) {
		t.Errorf("status %+v", s)
	}
}
