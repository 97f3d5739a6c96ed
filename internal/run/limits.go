package run

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"aiperf/internal/load"
	"aiperf/internal/transport"
)

// spareFiles are the descriptors that the run itself needs beside its connections and those it has now: files, pipes, the poller.
const spareFiles = 32

// timeWait is how long the system keeps the port of a connection that this side closed, in seconds.
const timeWait = 60

// budget is what the machine can carry.
type budget struct {
	files int // files that this process may have open; 0 = unknown
	spare int // of them those that are open already, or that the run needs beside its connections
	ports int // local ports towards one server address; 0 = unknown
}

// machineBudget asks the system. The Go runtime has raised the soft limit of open files to the hard one already.
func machineBudget() budget {
	b := budget{files: openFileLimit(), spare: spareFiles + 2*runtime.GOMAXPROCS(0)} // the heartbeat reads a file of every thread
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

// demand is how many connections a phase uses at once.
type demand struct {
	most    int  // 0 = nobody knows: an open loop without a ceiling
	certain bool // a closed loop reaches it; else it is a ceiling that the server's pace may keep the run far below
	key     string
	value   int // of the key
}

// demandOf counts the sessions at once, no more than there are requests or sessions in all.
func demandOf(p *load.Phase, profiling *load.Phase) demand {
	d := demand{value: p.Concurrency, key: "phases.profiling.concurrency", certain: p.Mode == load.ClosedLoop || p.Mode == load.UserCentric}
	if p.Warmup && (profiling == nil || p.Concurrency != profiling.Concurrency) { // else the warm-up took it from the run
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

// check compares what a plan needs with what there is; as words the key of a setting. More sessions at once than files is an error where
// the load surely gets there: the run could not reach what it was asked for. Everything that may end well is a warning.
func (b budget) check(p load.Scenario, targets []*transport.Target, reuse transport.Reuse, as func(key string) string) (warnings []string, err error) {
	addresses := map[string]bool{}
	for _, t := range targets {
		addresses[t.Address()] = true
	}
	ports := b.ports * max(1, len(addresses))
	var profiling *load.Phase
	for i := range p.Phases {
		if !p.Phases[i].Warmup {
			profiling = &p.Phases[i]
			break
		}
	}
	before := 0 // connections of a phase whose answers still come while the next one sends
	for i := range p.Phases {
		phase := &p.Phases[i]
		d := demandOf(phase, profiling)
		if !phase.Seamless {
			before = 0
		}
		need := d.most + before
		before = d.most
		if over := "needs"; b.files > 0 && need > b.files-b.spare {
			if !d.certain {
				over = "may need"
			}
			text := fmt.Sprintf("%s %d of phase %s %s %d connections at once, this process may open %d files and needs %d otherwise; raise the limit with ulimit -n",
				as(d.key), d.value, phase.Name, over, need, b.files, b.spare)
			if d.certain {
				return nil, errors.New(text)
			}
			warnings = append(warnings, text)
		}
		if b.ports == 0 {
			continue
		}
		if need > ports {
			warnings = append(warnings, fmt.Sprintf("phase %s: %s %d is above the %d local ports towards %d server address(es); requests beyond them will fail",
				phase.Name, as(d.key), d.value, ports, len(addresses)))
		}
		if turnover := phase.Rate * timeWait; reuse == transport.Never && turnover > float64(ports) {
			warnings = append(warnings, fmt.Sprintf("phase %s: %g new connections a second, each keeping its port for %d s after it was closed, need more than the %d local ports there are; use %s pooled",
				phase.Name, phase.Rate, timeWait, ports, as("endpoint.connection_reuse")))
		}
	}
	return warnings, nil
}
