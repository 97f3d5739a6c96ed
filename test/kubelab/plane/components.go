package plane

import (
	"fmt"
	"path/filepath"
	"strings"
)

// controllers are those that jobs, services and their owners need.
var controllers = []string{
	"cronjob-controller", "deployment-controller", "endpointslice-controller", "garbage-collector-controller", "job-controller",
	"namespace-controller", "node-lifecycle-controller", "pod-garbage-collector-controller", "replicaset-controller",
	"resourcequota-controller", "root-ca-certificate-publisher-controller", "serviceaccount-controller", "statefulset-controller",
	"taint-eviction-controller", "ttl-after-finished-controller",
}

// in returns a path in the lab's folder.
func (p *Plane) in(name string) string { return filepath.Join(p.options.Dir, name) }

// server returns the URL of the API server, which is the same for pods and for this machine.
func (p *Plane) server() string { return fmt.Sprintf("https://%s:%d", p.Address, p.options.Port+2) }

func (p *Plane) apiServerArgs() []string {
	issuer := "https://kubernetes.default.svc"
	return []string{"apiserver",
		"--etcd-servers=" + etcdURL(p.options.Port),
		fmt.Sprintf("--secure-port=%d", p.options.Port+2), "--bind-address=" + p.Address.String(), "--advertise-address=" + p.Address.String(),
		"--endpoint-reconciler-type=none", "--cert-dir=" + p.in("certs"),
		"--service-account-issuer=" + issuer, "--api-audiences=" + issuer,
		"--service-account-key-file=" + p.credentials.publicKey, "--service-account-signing-key-file=" + p.credentials.privateKey,
		"--token-auth-file=" + p.credentials.tokens, "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.96.0.0/16", "--kubelet-preferred-address-types=InternalIP", "--profiling=false"}
}

func (p *Plane) controllerArgs() []string {
	return []string{"controllers",
		"--kubeconfig=" + p.Kubeconfig, "--leader-elect=false", "--controllers=" + strings.Join(controllers, ","),
		"--service-account-private-key-file=" + p.credentials.privateKey, "--root-ca-file=" + p.authority(),
		fmt.Sprintf("--secure-port=%d", p.options.Port+3), "--bind-address=127.0.0.1", "--cert-dir=" + p.in("certs-controllers")}
}

func (p *Plane) schedulerArgs() []string {
	return []string{"scheduler",
		"--kubeconfig=" + p.Kubeconfig, "--leader-elect=false",
		fmt.Sprintf("--secure-port=%d", p.options.Port+4), "--bind-address=127.0.0.1", "--cert-dir=" + p.in("certs-scheduler")}
}

func (p *Plane) kubeletArgs() []string {
	return []string{"kubelet",
		"-kubeconfig", p.Kubeconfig, "-server", p.server(), "-dir", p.in("pods"),
		"-nodes", fmt.Sprint(p.options.Nodes), "-port", fmt.Sprint(p.options.Port), "-programs", p.options.Programs}
}
