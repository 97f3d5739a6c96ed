package lab

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// command is a running aiperf.
type command struct {
	*exec.Cmd
	mu   sync.Mutex
	text bytes.Buffer
}

// Write collects output.
func (c *command) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

func (c *command) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// status waits for the end and returns the exit status.
func (c *command) status(t *testing.T) int {
	t.Helper()
	limit := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
	defer limit.Stop()
	_ = c.Wait() // the status says it
	t.Logf("aiperf %s\n%s\nexit status %d", strings.Join(c.Args[1:], " "), c.output(), c.ProcessState.ExitCode())
	return c.ProcessState.ExitCode()
}

// aiperf starts the program that AIPERF names, with the lab's kubeconfig.
func aiperf(t *testing.T, kubeconfig string, args ...string) *command {
	t.Helper()
	path := os.Getenv("AIPERF")
	if path == "" {
		t.Fatal("AIPERF does not name a program to test; make kubelab sets it")
	}
	c := &command{Cmd: exec.Command(path, args...)}
	c.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir())
	c.Dir = t.TempDir()
	c.Stdout, c.Stderr, c.WaitDelay = c, c, time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}

// load are the flags of a run of about the given time, at 20 requests per second.
func load(target, dir, seconds string) []string {
	return []string{"--url", target, "--model", "mock", "--streaming", "--request-rate", "20", "--benchmark-duration", seconds,
		"--random-seed", "7", "--synthetic-input-tokens-mean", "40", "--output-tokens-mean", "8", "--artifact-dir", dir}
}

// profile starts "aiperf kube profile" with three workers in a namespace.
func profile(t *testing.T, ns, name string, flags []string) *command {
	t.Helper()
	return profileWith(t, cluster.Kubeconfig, ns, name, "aiperf", flags)
}

// profileWith does the same with another kubeconfig and image.
func profileWith(t *testing.T, kubeconfig, ns, name, image string, flags []string) *command {
	t.Helper()
	args := append([]string{"kube", "profile", "--namespace", ns, "--name", name, "--image", image, "--total-workers", "3"}, flags...)
	return aiperf(t, kubeconfig, args...)
}

// member waits until all pods of a run are ready and returns the name of the first pod of a role.
func member(t *testing.T, ns, role string) string {
	t.Helper()
	var name string
	wait(t, "ready pods of the run", func() (bool, error) {
		pods, err := cluster.Pods(t.Context(), ns, "")
		count := 0
		for i := range pods {
			if ready(&pods[i]) {
				count++
			}
			if strings.Contains(pods[i].Name, role) {
				name = pods[i].Name
			}
		}
		return count == 4, err
	})
	return name
}

// deletePod deletes a pod at once.
func deletePod(t *testing.T, ns, name string) {
	t.Helper()
	if err := cluster.Client.CoreV1().Pods(ns).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
}

// says fails the test unless the output has all the texts.
func says(t *testing.T, c *command, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(c.output(), text) {
			t.Errorf("the output lacks %q", text)
		}
	}
}

// nothingLeft fails the test if objects of runs stay in a namespace.
func nothingLeft(t *testing.T, ns string) {
	t.Helper()
	wait(t, "empty namespace", func() (bool, error) {
		ctx, all := context.Background(), metav1.ListOptions{}
		jobs, err := cluster.Client.BatchV1().Jobs(ns).List(ctx, all)
		if err != nil {
			return false, err
		}
		secrets, err := cluster.Client.CoreV1().Secrets(ns).List(ctx, all)
		if err != nil {
			return false, err
		}
		return len(jobs.Items)+len(secrets.Items) == 0, nil
	})
}

func TestKubeWorkerDeleted(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	c := profile(t, ns, "run", load(server.url, t.TempDir(), "12"))
	name := member(t, ns, "worker")
	time.Sleep(3 * time.Second)
	deletePod(t, ns, name)
	if status := c.status(t); status != 0 {
		t.Errorf("exit status %d, want 0: the others continue", status)
	}
	says(t, c, name+" was lost", "of the planned one")
	nothingLeft(t, ns)
}

func TestKubeControllerDeleted(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	c := profile(t, ns, "run", load(server.url, t.TempDir(), "30"))
	name := member(t, ns, "controller")
	deletePod(t, ns, name)
	if status := c.status(t); status == 0 {
		t.Error("exit status 0 without a controller")
	}
	says(t, c, "was deleted during the run")
}

func TestKubeWithoutRights(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	apply(t, ns, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: limited}\n")
	token, err := cluster.Token(t.Context(), ns, "limited")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	limited := strings.ReplaceAll(string(text), cluster.Config.BearerToken, token.BearerToken)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(limited), 0o600); err != nil {
		t.Fatal(err)
	}
	c := profileWith(t, path, ns, "run", "aiperf", load(server.url, t.TempDir(), "5"))
	if status := c.status(t); status == 0 {
		t.Error("exit status 0 without rights")
	}
	says(t, c, "may not create")
	nothingLeft(t, ns)
}

func TestKubeTwoRunsAndOneName(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	first := profile(t, ns, "one", load(server.url, t.TempDir(), "8"))
	second := profile(t, ns, "two", load(server.url, t.TempDir(), "8"))
	wait(t, "first run's Job", func() (bool, error) {
		jobs, err := cluster.Client.BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
		return err == nil && len(jobs.Items) == 4, err
	})
	again := profile(t, ns, "one", load(server.url, t.TempDir(), "8"))
	if status := again.status(t); status == 0 {
		t.Error("exit status 0 for a name that is taken")
	}
	says(t, again, "already", "choose another name")
	for _, c := range []*command{first, second} {
		if status := c.status(t); status != 0 {
			t.Errorf("exit status %d of one of two runs", status)
		}
	}
	nothingLeft(t, ns)
}

func TestKubeAPIServerAway(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	dir := t.TempDir()
	c := profile(t, ns, "run", load(server.url, dir, "15"))
	member(t, ns, "worker")
	if err := cluster.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Second)
	if err := cluster.StartAPIServer(); err != nil {
		t.Fatal(err)
	}
	if status := c.status(t); status != 0 {
		t.Errorf("exit status %d after an absence of the API server", status)
	}
	says(t, c, "the run continues there")
	if got := exported(t, dir)["request_count"]["avg"]; got < 250 {
		t.Errorf("%v requests in 15 s at 20 per second", got)
	}
	nothingLeft(t, ns)
}
