package connection

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"aiperf/internal/base/processors"
	"aiperf/internal/base/terminal"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
)

// spareFiles is the number of file descriptors that the run needs besides its connections and the open ones: files, pipes, the poller.
const spareFiles = 32

// timeWait is how long the system reserves the port of a connection that this side closed, in seconds.
const timeWait = 60

// Limits holds the limits of this machine.
type Limits struct {
	files int // files that this process may open; 0 = unknown
	spare int // files that are already open, or that the run needs besides its connections
	ports int // local ports for one server address; 0 = unknown
	users int // processes of this run that share the ports; 0 = only this one
}

// SharedBy returns the limits for one of n processes of this machine that send shares of a run.
func (b Limits) SharedBy(n int) Limits {
	b.users = n
	return b
}

// Budget says how many connections a machine needs for its share of a scenario, and how many local ports there are for them; "" = the load has no limit.
func (b Limits) Budget(p load.Scenario) string {
	most := 0
	for i := range p.Phases {
		most = max(most, int(load.Share{Of: p.Share.Of}.Part(int64(demandOf(&p.Phases[i], nil).most))))
	}
	if most == 0 {
		return ""
	}
	text := fmt.Sprintf("at most %s each", terminal.Plural(int64(most), "connection"))
	if b.ports > 0 && b.users > 1 {
		text += fmt.Sprintf(", which share the %s local ports of this computer for each server address", terminal.Count(int64(b.ports)))
	}
	return text
}

// MachineLimits reads the limits of the system. The Go runtime has already raised the soft limit of open files to the hard one.
func MachineLimits() Limits {
	b := Limits{files: openFileLimit(), spare: spareFiles + 2*processors.Cores()} // the heartbeat reads one file per thread
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		b.spare += len(open)
	}
	if data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		var low, high int
		if n, _ := fmt.Sscan(string(data), &low, &high); n == 2 && high > low {
			b.ports = high - low + 1
		}
	}
	return b
}

// Files returns how many files this process may open; 0 = unknown or unlimited.
func (b Limits) Files() int { return b.files }

// Connections returns how many connections this process can have at once with its files; 0 = unknown or unlimited.
func (b Limits) Connections() int {
	if b.files == 0 {
		return 0
	}
	return max(0, b.files-b.spare)
}

// Ports returns the number of local ports for one server address; 0 = unknown.
func (b Limits) Ports() int { return b.ports }

// connectionDemand is the number of connections that a phase uses at once.
type connectionDemand struct {
	most    int  // 0 = unknown: an open loop without a limit
	certain bool // a closed loop reaches the number; otherwise it is an upper limit, and a fast server may keep the run far below it
	key     string
	value   int // value of the setting
}

// demandOf counts the concurrent sessions, but no more than there are requests or sessions in all.
func demandOf(p *load.Phase, profiling *load.Phase) connectionDemand {
	d := connectionDemand{value: p.Concurrency, key: "phases.profiling.concurrency", certain: p.Mode == load.ClosedLoop || p.Mode == load.UserCentric}
	if p.Warmup && (profiling == nil || p.Concurrency != profiling.Concurrency) { // otherwise the warm-up uses the concurrency of the run
		d.key = "phases.warmup.concurrency"
	}
	if p.Users > 0 && (d.value == 0 || p.Users < d.value) {
		d.value, d.key = p.Users, "phases.profiling.users"
	}
	d.most = d.value
	for _, limit := range []int64{p.Requests, p.Sessions} {
		if limit > 0 && limit < int64(d.most) {
			d.most = int(limit)
		}
	}
	return d
}

// Check compares the connections of a plan with the limits. as spells the key of a setting. More concurrent sessions than files are an error if the
// load certainly reaches them: the run could not make the requested load. Everything that may go well is a warning.
func (b Limits) Check(p load.Scenario, targets []*transport.Target, o transport.Options, as func(key string) string) (warnings []string, err error) {
	addresses := map[string]bool{}
	for _, t := range targets {
		addresses[t.Address()] = true
	}
	if err := usable(o.LocalAddresses, as("endpoint.local_addresses")); err != nil {
		return nil, err
	}
	ports := b.ports * max(1, len(addresses)) * max(1, len(o.LocalAddresses))
	var profiling *load.Phase
	for i := range p.Phases {
		if !p.Phases[i].Warmup {
			profiling = &p.Phases[i]
			break
		}
	}
	before := 0 // connections of a phase whose answers arrive while the next one sends
	for i := range p.Phases {
		phase := &p.Phases[i]
		d := demandOf(phase, profiling)
		if !phase.Seamless {
			before = 0
		}
		own := int(p.Share.Part(int64(d.most)))
		need := own + before
		before = own
		if over := "needs"; b.files > 0 && need > b.files-b.spare {
			if !d.certain {
				over = "may need"
			}
			text := fmt.Sprintf("%s %d of phase %s %s %d connections at once, but this process may open only %d files and needs %d for other purposes; raise the limit with ulimit -n",
				as(d.key), d.value, phase.Name, over, need, b.files, b.spare)
			if d.certain {
				return nil, errors.New(text)
			}
			warnings = append(warnings, text)
		}
		if b.ports == 0 {
			continue
		}
		if need *= max(1, b.users); need > ports {
			warnings = append(warnings, fmt.Sprintf("phase %s: %s %d is above the %d local ports towards %d server address(es); requests beyond them will fail. Every address in %s adds %d ports",
				phase.Name, as(d.key), d.value, ports, len(addresses), as("endpoint.local_addresses"), b.ports*max(1, len(addresses))))
		}
		if turnover := phase.Rate * timeWait; o.Reuse == transport.Never && turnover > float64(ports) {
			warnings = append(warnings, fmt.Sprintf("phase %s: %g new connections per second need more than the %d local ports, because a closed connection blocks its port for %d s; use %s pooled",
				phase.Name, phase.Rate, ports, timeWait, as("endpoint.connection_reuse")))
		}
	}
	return warnings, nil
}

// usable reports the first local address that this machine does not have.
func usable(list []netip.Addr, setting string) error {
	for _, a := range list {
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		if err != nil {
			return fmt.Errorf("%s %v: this machine cannot use the address: %w", setting, a, errors.Unwrap(err))
		}
		_ = l.Close() // nothing was accepted
	}
	return nil
}
