package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// waitForEvent waits for an event with a reason and returns its message.
func waitForEvent(t *testing.T, ns, reason string) string {
	t.Helper()
	var message string
	wait(t, "event "+reason, func() (bool, error) {
		list, err := cluster.Client.CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, e := range list.Items {
			if e.Reason == reason {
				message = e.Message
				return true, nil
			}
		}
		return false, fmt.Errorf("there are %d other events", len(list.Items))
	})
	return message
}

func TestMissingImage(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: run}
spec: {containers: [{name: main, image: "missing.example/aiperf:1"}]}
`)
	p := pod(t, ns, "run", "image pull back-off", waitingFor("ImagePullBackOff"))
	if m := p.Status.ContainerStatuses[0].State.Waiting.Message; p.Status.Phase != v1.PodPending || !strings.Contains(m, "not found") {
		t.Errorf("phase %s, message %q", p.Status.Phase, m)
	}
	if m := waitForEvent(t, ns, "Failed"); !strings.Contains(m, "missing.example/aiperf:1") {
		t.Errorf("event %q does not name the image", m)
	}
}

func TestMissingConfiguration(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: run}
spec: {containers: [{name: main, image: sh, envFrom: [{secretRef: {name: absent}}]}]}
`)
	pod(t, ns, "run", "configuration error", waitingFor("CreateContainerConfigError"))
}

func TestQuotaRefusesPods(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {pods: 1}}\n")
	wait(t, "counted quota", func() (bool, error) {
		q, err := cluster.Client.CoreV1().ResourceQuotas(ns).Get(t.Context(), "small", metav1.GetOptions{})
		return err == nil && len(q.Status.Hard) > 0, err
	})
	apply(t, ns, `
apiVersion: batch/v1
kind: Job
metadata: {name: run}
spec:
  completions: 2
  parallelism: 2
  template: {spec: {restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: main, image: sleep, args: ["60"]}]}}
`)
	if m := waitForEvent(t, ns, "FailedCreate"); !strings.Contains(m, "exceeded quota: small") {
		t.Errorf("event %q does not name the quota", m)
	}
}

func TestRightsOfServiceAccounts(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: limited}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: limited}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [create, get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: limited}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: limited}
subjects: [{kind: ServiceAccount, name: limited}]
`)
	config, err := cluster.Token(t.Context(), ns, "limited")
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "right to create ConfigMaps", func() (bool, error) {
		m := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "allowed-"}}
		_, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), m, metav1.CreateOptions{})
		return err == nil, err
	})
	_, err = client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:"+ns+":limited") {
		t.Errorf("list pods without the right: %v", err)
	}
}

func TestPodOutlivesAPIServer(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: run}
spec: {restartPolicy: Never, containers: [{name: main, image: sh, command: [sh, -c, 'sleep 6; echo done']}]}
`)
	pod(t, ns, "run", "running pod", running)
	if err := cluster.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Pods(t.Context(), ns, ""); err == nil {
		t.Error("the API server still answers")
	}
	time.Sleep(10 * time.Second)
	if err := cluster.StartAPIServer(); err != nil {
		t.Fatal(err)
	}
	pod(t, ns, "run", "end that was reported late", func(p *v1.Pod) bool { return p.Status.Phase == v1.PodSucceeded })
	if out, err := cluster.Logs(t.Context(), ns, "run"); err != nil || out != "done\n" {
		t.Errorf("logs %q (%v)", out, err)
	}
}
