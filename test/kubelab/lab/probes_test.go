package lab

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

func TestReadinessWaitsForProbe(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: run}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: server
    args: [-ready-after, 3s]
    ports: [{name: http, containerPort: 8080}]
    readinessProbe: {httpGet: {path: /readyz, port: http}, periodSeconds: 1}
`)
	p := pod(t, ns, "run", "running pod", running)
	if ready(p) {
		t.Error("the pod is ready before its probe succeeded")
	}
	started := p.Status.ContainerStatuses[0].State.Running.StartedAt
	pod(t, ns, "run", "ready pod", ready)
	if wait := time.Since(started.Time); wait < 2*time.Second {
		t.Errorf("ready after %v, want about 3 s", wait)
	}
}

func TestLivenessRestarts(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: run}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: server, args: [-sick-after, 2s], livenessProbe: {httpGet: {path: /livez, port: 8080}, periodSeconds: 1, failureThreshold: 2}}
`)
	pod(t, ns, "run", "restart", func(p *v1.Pod) bool {
		return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].RestartCount > 0
	})
	waitForEvent(t, ns, "Unhealthy")
}
