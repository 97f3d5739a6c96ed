// Package plane starts the control plane of a lab: etcd in this process, and the API server, controllers, scheduler and kubelet as
// separate processes.
package plane

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"kubelab/network"
)

// Options say what a lab is made of.
type Options struct {
	Dir      string // folder of the state, emptied first
	Port     int    // first of six ports: etcd's two, API server, controllers, scheduler, kubelet
	Nodes    int
	Programs string // NAME=PATH,…
}

// Plane is a running control plane.
type Plane struct {
	Kubeconfig string     // path
	Address    netip.Addr // of this machine, as pods reach it

	options     Options
	credentials credentials
	network     network.Network
	etcd        *embed.Etcd
	mu          sync.Mutex
	children    []*child
}

// Start starts a control plane and returns when the API server answers and the kubelet runs.
func Start(o Options) (*Plane, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	n := network.At(o.Port)
	p := &Plane{options: o, network: n, Address: n.Gateway()}
	if err := p.start(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Plane) start() error {
	if err := os.RemoveAll(p.options.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(p.options.Dir, 0o700); err != nil {
		return err
	}
	if err := p.network.Create(); err != nil {
		return err
	}
	var err error
	if p.credentials, err = newCredentials(p.options.Dir); err != nil {
		return err
	}
	if p.etcd, err = startEtcd(p.options); err != nil {
		return err
	}
	if err := p.StartAPIServer(); err != nil {
		return err
	}
	if p.Kubeconfig, err = p.writeKubeconfig(); err != nil {
		return err
	}
	return p.startRest()
}

// startRest starts what talks to the API server.
func (p *Plane) startRest() error {
	for _, args := range [][]string{p.controllerArgs(), p.schedulerArgs(), p.kubeletArgs()} {
		if err := p.run(args...); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all processes, the last started first, and removes the network.
func (p *Plane) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.children) - 1; i >= 0; i-- {
		p.children[i].end(5 * time.Second)
	}
	if p.etcd != nil {
		p.etcd.Close()
	}
	_ = p.network.Remove() // it may never have been made
}

// StartAPIServer starts the API server and waits until it is ready, at most 120 s.
func (p *Plane) StartAPIServer() error {
	if err := p.run(p.apiServerArgs()...); err != nil {
		return err
	}
	if !p.waitReady(120 * time.Second) {
		return fmt.Errorf("the API server is not ready after 120 s: %s", lastLines(filepath.Join(p.options.Dir, "apiserver.log")))
	}
	return nil
}

// StopAPIServer ends the API server: its clients find nobody listening.
func (p *Plane) StopAPIServer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range p.children {
		if c.name == "apiserver" {
			c.end(5 * time.Second)
			p.children = append(p.children[:i], p.children[i+1:]...)
			return
		}
	}
}

// lastLines returns the end of a file for an error.
func lastLines(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
