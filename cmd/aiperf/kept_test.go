//go:build linux && !nocluster

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/wire/bus"
)

// TestKeptRun: a controller with keys made before waits for two workers that know its certificate, serves its files after the run, and ends with the
// status of the run once they were fetched. The addresses are other ones of the loopback interface, as those of pods.
func TestKeptRun(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	a, dir := newArrivals(t, 0), t.TempDir()
	keys, config, results := filepath.Join(dir, "keys"), filepath.Join(dir, "run.yaml"), filepath.Join(dir, "results")
	join := writeKeys(t, keys, "127.0.0.61")
	run := fmt.Sprintf("benchmark:\n  model: q\n  endpoint: {url: %s}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n  phases: {type: concurrency, concurrency: 2, requests: 20}\n"+
		"machines: {on: \"2\", listen: 0.0.0.0:4222}\n", a.url)
	if err := os.WriteFile(config, []byte(run), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freePort(t, "127.0.0.61")
	controller := &process{t: t}
	controller.stderr.more = make(chan struct{}, 1)
	controller.cmd = command(t, "service", "system_controller", config, "--keep-results", "60", "--keys", keys, "--artifact-dir", results, "--health-port", port)
	controller.cmd.Env = append(controller.cmd.Env, "AIPERF_POD_IP=127.0.0.61")
	controller.cmd.Stderr = &controller.stderr
	if err := controller.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		w := worker(t, "--join", join, "--token-file", filepath.Join(keys, "token"), "--name", "pod-"+strconv.Itoa(i), "--health-port", port)
		w.cmd.Env = append(w.cmd.Env, fmt.Sprintf("AIPERF_POD_IP=127.0.0.%d", 62+i))
		if err := w.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer w.cmd.Wait()
	}
	ready := within(30*time.Second, func() bool { return answerTo(t, "GET", "http://127.0.0.62:"+port+"/readyz") == "ok" || a.count() > 0 })
	if !ready || !within(30*time.Second, func() bool {
		return strings.Contains(answerTo(t, "GET", "http://127.0.0.61:"+port+"/api/state"), "finished")
	}) {
		_ = controller.cmd.Process.Kill()
		t.Fatal(controller.stderr.String())
	}
	if csv := answerTo(t, "GET", "http://127.0.0.61:"+port+"/api/results/files/profile_export_aiperf.csv"); !strings.Contains(csv, "Request Count,20") && !strings.Contains(csv, "20.00") {
		t.Errorf("%q", csv)
	}
	answerTo(t, "POST", "http://127.0.0.61:"+port+"/api/shutdown")
	if err := controller.cmd.Wait(); err != nil || a.count() != 20 {
		t.Error(err, a.count(), controller.stderr.String())
	}
	if text := controller.stderr.String(); strings.Contains(text, "no such variable") {
		t.Error(text)
	}
}

// writeKeys writes the keys of a controller and of its API, and returns how machines reach it.
func writeKeys(t *testing.T, dir, host string) string {
	t.Helper()
	keys, err := bus.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	files, err := keys.Files()
	if err != nil {
		t.Fatal(err)
	}
	files["api-token"] = []byte(keptToken)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return keys.Join(host, 4222).String()
}

const keptToken = "token-of-the-api"

// answerTo returns the answer to a request; "" = nobody answers.
func answerTo(t *testing.T, method, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+keptToken)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(text)
}

// freePort returns a port that nobody listens on at an address.
func freePort(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
