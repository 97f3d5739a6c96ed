package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// llm is a server of two pods: one answers, the other one is never ready and restarts every few seconds.
const llm = `
apiVersion: v1
kind: Service
metadata: {name: llm}
spec: {clusterIP: None, selector: {app: llm}, ports: [{port: 8000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: llm-0, labels: {app: llm}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: aiperf, args: [mock-server, --host, 0.0.0.0, --port, "8000"]}
---
apiVersion: v1
kind: Pod
metadata: {name: llm-1, labels: {app: llm}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: server
    args: [-sick-after, 4s, -ready-after, 1h]
    readinessProbe: {httpGet: {path: /readyz, port: 8080}, periodSeconds: 1}
    livenessProbe: {httpGet: {path: /livez, port: 8080}, periodSeconds: 1, failureThreshold: 2}
`

// TestKubeServerPodRestarts: pods of a run may not see other pods, so the computer that follows it watches the server for it.
func TestKubeServerPodRestarts(t *testing.T) {
	ns, dir := namespace(t), t.TempDir()
	apply(t, ns, llm)
	pod(t, ns, "llm-0", "running server", running)
	c := profile(t, ns, "run", load("http://llm."+ns+".svc:8000", dir, "20"))
	if status := c.status(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	says(t, c, "1 of 2 server pods restarted during the run", "llm-1 at ")
	text, err := os.ReadFile(filepath.Join(dir, "server_pods.json"))
	var log struct{ Pods []string }
	if err == nil {
		err = json.Unmarshal(text, &log)
	}
	if err != nil || len(log.Pods) != 2 {
		t.Errorf("%s %v", text, err)
	}
	if line, err := os.ReadFile(filepath.Join(dir, "profile_export_timeline.jsonl")); err != nil || !strings.Contains(string(line), `"events":["llm-1 restarted`) {
		t.Errorf("the timeline has no restart: %v", err)
	}
	nothingLeft(t, ns)
}
