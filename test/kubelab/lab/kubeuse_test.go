package lab

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// size are the flags of a run with a number of requests.
func size(target, dir, count string, more ...string) []string {
	return append([]string{"--url", target, "--model", "mock", "--tokenizer", "builtin", "--request-count", count, "--artifact-dir", dir}, more...)
}

// total returns how many requests a server got, and how many different ones.
func (s *target) total() (all, different int) {
	bodies := s.take()
	for _, n := range bodies {
		all += n
	}
	return all, len(bodies)
}

// TestKubeDataOnVolume: pods read a data file that is only on a volume.
func TestKubeDataOnVolume(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	data, dir := t.TempDir(), t.TempDir()
	for path := data; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil { //nolint:gosec // pods run as another user
			t.Fatal(err)
		}
	}
	rows := "{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"three\"}\n"
	if err := os.WriteFile(filepath.Join(data, "prompts.jsonl"), []byte(rows), 0o644); err != nil { //nolint:gosec // pods run as another user
		t.Fatal(err)
	}
	c := profile(t, ns, "run", size(server.url, dir, "12", "--concurrency", "3", "--host-paths", data+":/data", "--input-file", "/data/prompts.jsonl", "--custom-dataset-type", "single_turn"))
	if status := c.status(t); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	if all, different := server.total(); all != 12 || different != 3 {
		t.Errorf("%d requests with %d bodies, want 12 with the 3 texts of the file", all, different)
	}
	says(t, c, "JSON Export: "+filepath.Join(dir, "profile_export_aiperf.json"))
	nothingLeft(t, ns)
}

// TestKubeDataInConfigMap: a small file of this computer reaches the pods.
func TestKubeDataInConfigMap(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	file := filepath.Join(t.TempDir(), "prompts.jsonl")
	if err := os.WriteFile(file, []byte("{\"text\":\"one\"}\n{\"text\":\"two\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := profile(t, ns, "run", size(server.url, t.TempDir(), "8", "--concurrency", "4", "--input-file", file, "--custom-dataset-type", "single_turn"))
	if status := c.status(t); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	if all, different := server.total(); all != 8 || different != 2 {
		t.Errorf("%d requests with %d bodies, want 8 with the 2 texts of the file", all, different)
	}
	nothingLeft(t, ns)
}

// TestKubeSweep: a series runs on the same pods, and the files of all its runs are fetched.
func TestKubeSweep(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	dir := t.TempDir()
	args := append([]string{"kube", "sweep", "--namespace", ns, "--name", "run", "--image", "aiperf", "--total-workers", "3"}, size(server.url, dir, "12", "--concurrency", "3,6")...)
	c := aiperf(t, cluster.Kubeconfig, args...)
	if status := c.status(t); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	for _, cell := range []string{"concurrency_3", "concurrency_6"} {
		if n := exported(t, filepath.Join(dir, cell))["request_count"]["avg"]; n != 12 {
			t.Errorf("%s: %v requests", cell, n)
		}
	}
	if all, _ := server.total(); all != 24 {
		t.Errorf("the server got %d requests", all)
	}
	nothingLeft(t, ns)
}

// TestKubeLeftAndComeBack: a second signal leaves the run, which ends by itself; it is found, followed, fetched and deleted later.
func TestKubeLeftAndComeBack(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	c := profile(t, ns, "run", load(server.url, t.TempDir(), "20"))
	member(t, ns, "worker")
	wait(t, "request", func() (bool, error) { all, _ := server.total(); return all > 0, nil })
	for range 2 {
		if err := c.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	if status := c.status(t); status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
	says(t, c, "leaving; come back with: aiperf kube attach run")
	attach := aiperf(t, cluster.Kubeconfig, "kube", "attach", "run", "--namespace", ns)
	attach.status(t)
	says(t, attach, "kube results run")
	dir := t.TempDir()
	results := aiperf(t, cluster.Kubeconfig, "kube", "results", "run", "--namespace", ns, "--output", dir)
	if status := results.status(t); status != 0 {
		t.Fatalf("exit status %d of kube results", status)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "profile_export_aiperf.json"))
	if whole, _ := filepath.Glob(filepath.Join(dir, "profile_export_aiperf.json")); err != nil || len(found)+len(whole) != 1 {
		t.Errorf("%v %v %v", found, whole, err)
	}
	if status := aiperf(t, cluster.Kubeconfig, "kube", "delete", "run", "--namespace", ns).status(t); status != 0 {
		t.Errorf("exit status %d of kube delete", status)
	}
	nothingLeft(t, ns)
}

// TestKubeDashboard: the live page of a run is reachable from here, and leaving it does not end the run.
func TestKubeDashboard(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	c := profile(t, ns, "run", load(server.url, t.TempDir(), "15"))
	member(t, ns, "worker")
	page := aiperf(t, cluster.Kubeconfig, "kube", "dashboard", "run", "--namespace", ns)
	wait(t, "address of the page", func() (bool, error) { return strings.Contains(page.output(), "?token="), nil })
	link := strings.TrimSpace(page.output()[strings.Index(page.output(), "http://"):])
	wait(t, "page", func() (bool, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
		if err != nil {
			return false, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp.StatusCode == http.StatusOK && bytes.Contains(text, []byte("<html")), err
	})
	if err := page.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	page.status(t)
	if status := c.status(t); status != 0 {
		t.Errorf("exit status %d of the run", status)
	}
	nothingLeft(t, ns)
}

// TestKubeMissingImage: the user hears which image cannot be pulled, and nothing is left.
func TestKubeMissingImage(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	c := profileWith(t, cluster.Kubeconfig, ns, "run", "missing.example/aiperf:1", load(server.url, t.TempDir(), "5"))
	if status := c.status(t); status == 0 {
		t.Error("exit status 0 without an image")
	}
	says(t, c, "its image cannot be pulled", "missing.example/aiperf:1")
	nothingLeft(t, ns)
}

// TestKubeQuotaOfWorkers: the user hears of a quota that refuses some of the workers, and nothing is left.
func TestKubeQuotaOfWorkers(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	apply(t, ns, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {pods: 3}}\n")
	c := profile(t, ns, "run", load(server.url, t.TempDir(), "5"))
	if status := c.status(t); status == 0 {
		t.Error("exit status 0 with a worker that was refused")
	}
	says(t, c, "exceeded quota")
	nothingLeft(t, ns)
}

// TestKubeManifestsAreAccepted: the API server accepts what kube generate prints, without its Secret.
func TestKubeManifestsAreAccepted(t *testing.T) {
	ns := namespace(t)
	c := aiperf(t, cluster.Kubeconfig, append([]string{"kube", "generate", "--name", "run", "--image", "aiperf", "--total-workers", "3", "--tolerations", "gpu=yes:NoSchedule",
		"--node-selector", "a=b", "--env-vars", "A=b", "--labels", "team=x"}, size("http://server:8000", "out", "9", "--concurrency", "3")...)...)
	if status := c.status(t); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	manifests := c.output()[strings.Index(c.output(), "apiVersion"):]
	if n := strings.Count(manifests, "\nkind: "); n != 4 {
		t.Errorf("%d objects", n)
	}
	if err := Check(t.Context(), cluster.Config, ns, manifests); err != nil {
		t.Error(err)
	}
	if list, err := cluster.Pods(t.Context(), ns, ""); err != nil || len(list) > 0 {
		t.Errorf("a check made %d pods, %v", len(list), err)
	}
}
