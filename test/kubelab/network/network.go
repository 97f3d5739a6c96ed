// Package network gives every pod of a lab a network namespace with one address, on a bridge of this machine. It runs ip (iproute2) and
// nsenter (util-linux), as root.
package network

import (
	"bytes"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
)

// Network is the bridge of one lab and its /24 of addresses.
type Network struct {
	port int
}

// At returns the network of the lab whose first port is given, so that labs on different ports do not meet.
func At(port int) Network { return Network{port} }

// Gateway is this machine's address on the bridge: pods reach servers of the machine there.
func (n Network) Gateway() netip.Addr { return n.Pod(1) }

// Pod returns the address with the given last number, 2 to 254 for pods.
func (n Network) Pod(last int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 88, byte(n.port / 8), byte(last)})
}

// Bridge is the name of the bridge, at most 15 characters as Linux demands.
func (n Network) Bridge() string { return fmt.Sprintf("kubelab%d", n.port) }

// Create makes the bridge; one that an interrupted lab left behind is replaced.
func (n Network) Create() error {
	_ = n.Remove()
	return ip("", "link add "+n.Bridge()+" type bridge",
		fmt.Sprintf("addr add %s/24 dev %s", n.Gateway(), n.Bridge()),
		"link set "+n.Bridge()+" up")
}

// Remove deletes the bridge.
func (n Network) Remove() error { return ip("", "link del "+n.Bridge()) }

// Attach connects the network namespace of a process to the bridge, with the given address. The connection ends with the namespace.
func (n Network) Attach(pid int, address netip.Addr) error {
	veth := fmt.Sprintf("kl%d-%d", n.port, address.As4()[3])
	err := ip("", fmt.Sprintf("link add %s type veth peer name eth0 netns %d", veth, pid),
		fmt.Sprintf("link set %s master %s up", veth, n.Bridge()))
	if err != nil {
		return err
	}
	return ip(fmt.Sprint(pid), "link set lo up", fmt.Sprintf("addr add %s/24 dev eth0", address), "link set eth0 up",
		fmt.Sprintf("route add default via %s", n.Gateway()))
}

// ip runs the lines of an ip batch, in the network namespace of a process or in this one.
func ip(pid string, lines ...string) error {
	args := []string{"ip", "-batch", "-"}
	if pid != "" {
		args = append([]string{"nsenter", "-t", pid, "-n"}, args...)
	}
	var out bytes.Buffer
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(strings.Join(lines, "\n")+"\n"), &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("network of pods: %s: %w: %s", lines[0], err, strings.TrimSpace(out.String()))
	}
	return nil
}
