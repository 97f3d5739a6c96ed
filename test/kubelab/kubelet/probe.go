package kubelet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probeAll runs the probes of a process until it ends: the startup probe first, then readiness and liveness.
func (k *Kubelet) probeAll(p *pod, c *container, run *process) {
	if c.spec.StartupProbe != nil {
		k.watchProbe(p, c, run, c.spec.StartupProbe, "Startup", func(good bool) bool {
			if !good {
				k.restartUnhealthy(p, c, run, "startup")
			}
			c.change(func(s *containerState) { s.started, s.ready = good, good && c.spec.ReadinessProbe == nil })
			return false
		})
	}
	if !c.snapshot().started {
		return
	}
	if c.spec.LivenessProbe != nil {
		go k.watchProbe(p, c, run, c.spec.LivenessProbe, "Liveness", func(good bool) bool {
			if !good {
				k.restartUnhealthy(p, c, run, "liveness")
			}
			return good
		})
	}
	if c.spec.ReadinessProbe != nil {
		k.watchProbe(p, c, run, c.spec.ReadinessProbe, "Readiness", func(good bool) bool {
			c.change(func(s *containerState) { s.ready = good && s.now.Running != nil })
			return true
		})
	}
}

// watchProbe probes until the process ends. Each time the thresholds say that the result changed, it calls act, which returns whether
// probing continues.
func (k *Kubelet) watchProbe(p *pod, c *container, run *process, probe *v1.Probe, kind string, act func(good bool) bool) {
	v := verdict{probe: probe}
	wait := time.Duration(probe.InitialDelaySeconds) * time.Second
	for pause(p.context, wait) && !run.over() {
		err := k.probe(p, c, probe)
		if err != nil {
			k.warning(p, "Unhealthy", "%s probe failed: %v", kind, err)
		}
		if good, changed := v.count(err == nil); changed && !act(good) {
			return
		}
		wait = time.Duration(max(probe.PeriodSeconds, 1)) * time.Second
	}
}

// restartUnhealthy ends a process whose probe failed; the restart policy does the rest.
func (k *Kubelet) restartUnhealthy(p *pod, c *container, run *process, kind string) {
	k.normal(p, "Killing", "Container %s failed %s probe, will be restarted", c.spec.Name, kind)
	_ = run.command.Process.Signal(syscall.SIGTERM)
	grace := int64(v1.DefaultTerminationGracePeriodSeconds)
	if p.object.Spec.TerminationGracePeriodSeconds != nil {
		grace = *p.object.Spec.TerminationGracePeriodSeconds
	}
	select {
	case <-run.ended:
	case <-time.After(time.Duration(grace) * time.Second):
		_ = run.command.Process.Kill()
	}
}

// verdict turns single results of a probe into a verdict, by the probe's thresholds.
type verdict struct {
	probe *v1.Probe
	good  bool
	known bool
	same  int32 // results in a row that speak against the verdict
}

// count adds a result and returns the verdict and whether it has just changed.
func (v *verdict) count(good bool) (bool, bool) {
	if v.known && good == v.good {
		v.same = 0
		return v.good, false
	}
	threshold := max(v.probe.FailureThreshold, 1)
	if good {
		threshold = max(v.probe.SuccessThreshold, 1)
	}
	if v.same++; v.same < threshold {
		return v.good, false
	}
	v.known, v.good, v.same = true, good, 0
	return good, true
}

// probe returns nil when a container answers its probe.
func (k *Kubelet) probe(p *pod, c *container, probe *v1.Probe) error {
	ctx, cancel := context.WithTimeout(p.context, time.Duration(max(probe.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return getProbe(ctx, p, c, probe.HTTPGet)
	case probe.TCPSocket != nil:
		port, err := portNumber(c.spec, probe.TCPSocket.Port)
		if err != nil {
			return err
		}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(p.address.String(), port))
		if err != nil {
			return err
		}
		return conn.Close()
	case probe.Exec != nil:
		return execProbe(ctx, c, probe.Exec.Command)
	default:
		return errors.New("only httpGet, tcpSocket and exec are supported")
	}
}

func getProbe(ctx context.Context, p *pod, c *container, get *v1.HTTPGetAction) error {
	port, err := portNumber(c.spec, get.Port)
	if err != nil {
		return err
	}
	scheme := "http://"
	if get.Scheme == v1.URISchemeHTTPS {
		scheme = "https://"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+net.JoinHostPort(p.address.String(), port)+get.Path, http.NoBody)
	if err != nil {
		return err
	}
	for _, h := range get.HTTPHeaders {
		r.Header.Set(h.Name, h.Value)
	}
	// As a real kubelet, it asks over a new connection and checks no certificate.
	unchecked := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the probed server has no known name
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: unchecked}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode < 200 || answer.StatusCode >= 400 {
		return fmt.Errorf("HTTP probe failed with statuscode: %d", answer.StatusCode)
	}
	return nil
}

// portNumber returns a port by number or by its name in the container.
func portNumber(c *v1.Container, port intstr.IntOrString) (string, error) {
	if port.Type == intstr.Int {
		return strconv.Itoa(int(port.IntVal)), nil
	}
	for _, p := range c.Ports {
		if p.Name == port.StrVal {
			return strconv.Itoa(int(p.ContainerPort)), nil
		}
	}
	return "", fmt.Errorf("couldn't find port: %s", port.StrVal)
}
