package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster is the lab that all tests share; each test has its own namespace.
var cluster *Lab

// TestMain starts the lab. Inside the lab's pods this program is the server that tests talk to.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "server" {
		serve(os.Args[1:])
		return
	}
	os.Exit(withLab(m))
}

func withLab(m *testing.M) int {
	binary, err := filepath.Abs("../../../.kubelab/kubelab")
	if b := os.Getenv("KUBELAB"); b != "" {
		binary, err = b, nil
	}
	dir, errDir := os.MkdirTemp("", "kubelab")
	self, errSelf := os.Executable()
	for _, e := range []error{err, errDir, errSelf} {
		if e != nil {
			fmt.Fprintln(os.Stderr, e)
			return 1
		}
	}
	defer os.RemoveAll(dir)
	programs := map[string]string{"server": self}
	if path := os.Getenv("AIPERF"); path != "" {
		programs["aiperf"] = path
	}
	cluster, err = Start(binary, dir, 28100, programs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab (build it with make kubelab):", err)
		return 1
	}
	defer cluster.Close()
	return m.Run()
}

// namespace returns a fresh namespace for a test, deleted with all its pods afterwards.
func namespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(t.Name())
	if err := cluster.Namespace(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		background := metav1.DeletePropagationBackground
		none := metav1.DeleteOptions{GracePeriodSeconds: new(int64), PropagationPolicy: &background}
		ctx := context.Background()
		_ = cluster.Client.BatchV1().Jobs(name).DeleteCollection(ctx, none, metav1.ListOptions{})
		_ = cluster.Client.CoreV1().Pods(name).DeleteCollection(ctx, none, metav1.ListOptions{})
		_ = cluster.Client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	})
	return name
}

func apply(t *testing.T, ns, text string) {
	t.Helper()
	if err := Apply(t.Context(), cluster.Config, ns, text); err != nil {
		t.Fatal(err)
	}
}

// wait fails the test when done does not become true within 60 s: a busy machine is slow, and waiting costs nothing.
func wait(t *testing.T, what string, done func() (bool, error)) {
	t.Helper()
	if err := Wait(time.Minute, what, done); err != nil {
		t.Fatal(err)
	}
}

// pod waits until a pod is as wanted and returns it.
func pod(t *testing.T, ns, name, what string, wanted func(*v1.Pod) bool) *v1.Pod {
	t.Helper()
	var got *v1.Pod
	wait(t, what, func() (bool, error) {
		var err error
		got, err = cluster.Client.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return wanted(got), fmt.Errorf("its status is %s %+v", got.Status.Phase, got.Status.ContainerStatuses)
	})
	return got
}

// job waits until a job has a condition and returns it.
func job(t *testing.T, ns, name string, condition batch.JobConditionType) *batch.Job {
	t.Helper()
	var got *batch.Job
	wait(t, "job "+name+" "+string(condition), func() (bool, error) {
		var err error
		got, err = cluster.Client.BatchV1().Jobs(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range got.Status.Conditions {
			if c.Type == condition && c.Status == v1.ConditionTrue {
				return true, nil
			}
		}
		return false, fmt.Errorf("its status is %+v", got.Status)
	})
	return got
}

func ready(p *v1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

func running(p *v1.Pod) bool { return p.Status.Phase == v1.PodRunning }

func waitingFor(reason string) func(*v1.Pod) bool {
	return func(p *v1.Pod) bool {
		s := p.Status.ContainerStatuses
		return len(s) == 1 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == reason
	}
}
