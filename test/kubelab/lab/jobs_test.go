package lab

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestJobReadsItsVolumes(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: ConfigMap
metadata: {name: run}
data: {run.yaml: hello}
---
apiVersion: v1
kind: Secret
metadata: {name: run}
stringData: {token: s3cret}
---
apiVersion: batch/v1
kind: Job
metadata: {name: run}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: main
        image: sh
        args: [-c, 'cat /etc/run/run.yaml; echo " $TOKEN"; id -u; touch /x || echo read-only; echo kept > /data/file && cat /data/file']
        env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: run, key: token}}}]
        securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: run, mountPath: /etc/run}, {name: data, mountPath: /data}]
      volumes: [{name: run, configMap: {name: run}}, {name: data, emptyDir: {}}]
`)
	job(t, ns, "run", batch.JobComplete)
	pods, err := cluster.Pods(t.Context(), ns, "job-name=run")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	out, err := cluster.Logs(t.Context(), ns, pods[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hello s3cret\n65532\n", "read-only\n", "kept\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("logs %q lack %q", out, want)
		}
	}
}

func TestIndexedJobNumbersItsPods(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: batch/v1
kind: Job
metadata: {name: run}
spec:
  completionMode: Indexed
  completions: 3
  parallelism: 3
  backoffLimitPerIndex: 0
  template:
    spec:
      restartPolicy: Never
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {job-name: run}}}
      containers: [{name: main, image: sh, command: [sh, -c, "echo worker $(JOB_COMPLETION_INDEX)"]}]
`)
	job(t, ns, "run", batch.JobComplete)
	pods, err := cluster.Pods(t.Context(), ns, "job-name=run")
	if err != nil || len(pods) != 3 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	nodes, outputs := map[string]bool{}, map[string]bool{}
	for _, p := range pods {
		out, err := cluster.Logs(t.Context(), ns, p.Name)
		if err != nil {
			t.Fatal(err)
		}
		nodes[p.Spec.NodeName], outputs[out] = true, true
		if want := "worker " + p.Annotations[batch.JobCompletionIndexAnnotation] + "\n"; out != want {
			t.Errorf("pod %s says %q, want %q", p.Name, out, want)
		}
	}
	if len(nodes) != 3 || len(outputs) != 3 {
		t.Errorf("pods on %d nodes with %d outputs, want 3 and 3", len(nodes), len(outputs))
	}
}

func TestFailedContainersRestart(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: run}
spec:
  restartPolicy: OnFailure
  containers:
  - {name: main, image: sh, command: [sh, -c, 'echo try; test -e /data/second || { touch /data/second; exit 3; }'], volumeMounts: [{name: data, mountPath: /data}]}
  volumes: [{name: data, emptyDir: {}}]
`)
	p := pod(t, ns, "run", "success after a restart", func(p *v1.Pod) bool { return p.Status.Phase == v1.PodSucceeded })
	s := p.Status.ContainerStatuses[0]
	if s.RestartCount != 1 || s.LastTerminationState.Terminated == nil || s.LastTerminationState.Terminated.ExitCode != 3 {
		t.Errorf("status %+v, want one restart after exit status 3", s)
	}
}

func TestLogsFollow(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: run}
spec: {restartPolicy: Never, containers: [{name: main, image: sh, command: [sh, -c, 'echo 1; sleep 2; for i in 2 3 4; do echo $i; sleep 0.5; done']}]}
`)
	pod(t, ns, "run", "running pod", running)
	pods := cluster.Client.CoreV1().Pods(ns)
	began := time.Now()
	stream, err := pods.GetLogs("run", &v1.PodLogOptions{Follow: true}).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	all, err := io.ReadAll(stream)
	if err != nil || string(all) != "1\n2\n3\n4\n" || time.Since(began) < 500*time.Millisecond {
		t.Errorf("followed logs %q after %v (%v)", all, time.Since(began), err)
	}
	last := int64(1)
	tail, err := pods.GetLogs("run", &v1.PodLogOptions{TailLines: &last, Timestamps: true}).DoRaw(t.Context())
	stamp, text, _ := strings.Cut(string(tail), " ")
	at, errTime := time.Parse(time.RFC3339Nano, stamp)
	if err != nil || errTime != nil || text != "4\n" {
		t.Fatalf("last line %q (%v, %v)", tail, err, errTime)
	}
	since := metav1.NewTime(at.Add(-700 * time.Millisecond)) // it is sent in whole seconds, so up to 1.7 s before the last line; the first is 3 s before it
	rest, err := pods.GetLogs("run", &v1.PodLogOptions{SinceTime: &since}).DoRaw(t.Context())
	if err != nil || !strings.HasSuffix(string(rest), "4\n") || strings.HasPrefix(string(rest), "1\n") {
		t.Errorf("lines since 0.7 s before the last: %q (%v)", rest, err)
	}
}

func TestDeletionEndsProcesses(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: run}
spec:
  restartPolicy: Never
  containers: [{name: main, image: sh, command: [sh, -c, 'trap "echo bye; exit 0" TERM; echo here; while true; do sleep 0.1; done']}]
`)
	pod(t, ns, "run", "running pod", running)
	var stream io.ReadCloser
	wait(t, "first line", func() (bool, error) {
		out, err := cluster.Logs(t.Context(), ns, "run")
		return out == "here\n", err
	})
	pods := cluster.Client.CoreV1().Pods(ns)
	stream, err := pods.GetLogs("run", &v1.PodLogOptions{Follow: true}).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	began := time.Now()
	if err := pods.Delete(context.Background(), "run", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(stream)
	wait(t, "pod to be gone", func() (bool, error) {
		_, err := pods.Get(t.Context(), "run", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	if !strings.HasSuffix(string(out), "bye\n") || time.Since(began) > 20*time.Second {
		t.Errorf("logs %q after %v: the container did not get SIGTERM", out, time.Since(began))
	}
}
