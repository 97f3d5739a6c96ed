package kubelet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// keepHosts brings the names of services in a pod's /etc/hosts up to date every second. That file is the name server of a lab.
func (k *Kubelet) keepHosts(p *pod) {
	for pause(p.context, time.Second) && !p.over() {
		_ = k.writeHosts(p) // the next one comes in a second
	}
}

// writeHosts writes the same file again, so that the mounts of running containers show the change.
func (k *Kubelet) writeHosts(p *pod) error {
	text := hostsStart(p)
	services, err := k.client.CoreV1().Services(p.object.Namespace).List(p.context, metav1.ListOptions{})
	if err == nil {
		for i := range services.Items {
			text += k.serviceHosts(p.context, &services.Items[i])
		}
	}
	if old, err := os.ReadFile(p.hostsFile()); err == nil && string(old) == text {
		return nil
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(p.hostsFile(), []byte(text), 0o644)
}

func (p *pod) hostsFile() string { return filepath.Join(p.dir, "hosts") }

func hostsStart(p *pod) string {
	text := fmt.Sprintf("127.0.0.1 localhost\n%s %s\n", p.address, p.object.Name)
	for _, a := range p.object.Spec.HostAliases {
		text += a.IP + " " + strings.Join(a.Hostnames, " ") + "\n"
	}
	return text
}

// serviceHosts returns lines with the addresses of the ready pods behind a service.
func (k *Kubelet) serviceHosts(ctx context.Context, s *v1.Service) string {
	if len(s.Spec.Selector) == 0 {
		return ""
	}
	selector := labels.SelectorFromSet(s.Spec.Selector).String()
	pods, err := k.client.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return ""
	}
	text := ""
	for i := range pods.Items {
		o := &pods.Items[i]
		if o.Status.PodIP == "" || o.Status.Phase != v1.PodRunning || !(isReady(o) || s.Spec.PublishNotReadyAddresses) {
			continue
		}
		text += hostsLine(o, s)
	}
	return text
}

// hostsLine names a pod by its service and, where it has one, by its own name in the service.
func hostsLine(o *v1.Pod, s *v1.Service) string {
	names := serviceNames(s.Name, s.Namespace)
	if o.Spec.Hostname != "" && o.Spec.Subdomain == s.Name {
		names = append(names, serviceNames(o.Spec.Hostname+"."+s.Name, s.Namespace)...)
	}
	return o.Status.PodIP + " " + strings.Join(names, " ") + "\n"
}

func serviceNames(name, namespace string) []string {
	full := name + "." + namespace
	return []string{name, full, full + ".svc", full + ".svc.cluster.local"}
}

func isReady(o *v1.Pod) bool {
	for _, c := range o.Status.Conditions {
		if c.Type == v1.PodReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}
