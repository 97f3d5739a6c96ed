package lab

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
)

const twoServers = `
apiVersion: v1
kind: Pod
metadata: {name: one, labels: {run: one}}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: server, args: [-host, 127.0.0.1]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: two, labels: {run: two}}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: server}]}
---
apiVersion: v1
kind: Service
metadata: {name: two}
spec: {clusterIP: None, selector: {run: two}, ports: [{port: 8080}]}
`

func TestPortForward(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, twoServers)
	for _, name := range []string{"one", "two"} {
		serving(t, ns, name)
		for _, webSocket := range []bool{false, true} {
			local, stop, err := cluster.Forward(ns, name, 8080, webSocket)
			if err != nil {
				t.Fatalf("forward to %s (WebSocket %v): %v", name, webSocket, err)
			}
			text, err := get(fmt.Sprintf("http://127.0.0.1:%d/", local))
			if err != nil {
				t.Fatal(err)
			}
			if text != "I am "+name+"\n" {
				t.Errorf("port-forward to %s (WebSocket %v) answers %q", name, webSocket, text)
			}
			stop()
		}
	}
}

// serving waits until the server in a pod answers. A pod runs as soon as its process does, which then still has to enter its container.
func serving(t *testing.T, ns, name string) {
	t.Helper()
	pod(t, ns, name, "running server", running)
	wait(t, "server "+name, func() (bool, error) {
		out, err := cluster.Logs(t.Context(), ns, name)
		return out == "serving\n", err
	})
}

func get(url string) (string, error) {
	answer, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return string(b), err
}

func TestServicesHaveNames(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, twoServers+`
---
apiVersion: batch/v1
kind: Job
metadata: {name: client}
spec:
  template:
    spec: {restartPolicy: OnFailure, containers: [{name: main, image: sh, command: [sh, -c, 'grep two /etc/hosts']}]}
`)
	job(t, ns, "client", batch.JobComplete)
	two := pod(t, ns, "two", "address", func(p *v1.Pod) bool { return p.Status.PodIP != "" })
	pods, err := cluster.Pods(t.Context(), ns, "job-name=client")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	out, err := cluster.Logs(t.Context(), ns, pods[0].Name)
	if err != nil || !strings.HasPrefix(out, two.Status.PodIP+" two two."+ns) {
		t.Errorf("name of the service: %q (%v), want %s", out, err, two.Status.PodIP)
	}
}

func TestExec(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, twoServers)
	serving(t, ns, "one")
	url := cluster.Client.CoreV1().RESTClient().Post().Resource("pods").Namespace(ns).Name("one").SubResource("exec").
		VersionedParams(&v1.PodExecOptions{Container: "main", Command: []string{"sh", "-c", "hostname; cat; exit 4"}, Stdin: true, Stdout: true, Stderr: true},
			scheme.ParameterCodec).URL()
	e, err := remotecommand.NewSPDYExecutor(cluster.Config, http.MethodPost, url)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	err = e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: strings.NewReader("typed"), Stdout: &out, Stderr: &errs})
	if out.String() != "one\ntyped" || err == nil || !strings.Contains(err.Error(), "exit code 4") {
		t.Errorf("exec printed %q %q with error %v", out.String(), errs.String(), err)
	}
}
