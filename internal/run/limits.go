package run

import (
	"fmt"
	"os"

	"aiperf/internal/load"
	"aiperf/internal/setting"
	"aiperf/internal/transport"
)

// spareFiles are the descriptors that the run itself needs beside its connections: files, pipes, the poller.
const spareFiles = 64

// timeWait is how long the system keeps the port of a connection that this side closed, in seconds.
const timeWait = 60

// budget is what the machine can carry.
type budget struct {
	files int // open files of this process; 0 = unknown
	ports int // local ports towards one server address; 0 = unknown
}

// machineBudget asks the system. The Go runtime has raised the soft limit of open files to the hard one already.
func machineBudget() budget {
	b := budget{files: openFileLimit()}
	if data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		var low, high int
		if n, _ := fmt.Sscan(string(data), &low, &high); n == 2 && high > low {
			b.ports = high - low + 1
		}
	}
	return b
}

// check compares what a plan may need with what there is. More sessions at once than files is an error: the run could not reach what it
// was asked for. Everything that may end well is a warning.
func (b budget) check(p load.Plan, targets []*transport.Target, reuse transport.Reuse, as setting.Spell) (warnings []string, err error) {
	addresses := map[string]bool{}
	for _, t := range targets {
		addresses[t.Address()] = true
	}
	ports := b.ports * max(1, len(addresses))
	for _, phase := range p.Phases {
		if b.files > 0 && phase.Concurrency > b.files-spareFiles {
			return nil, fmt.Errorf("%s %d of phase %s needs more connections than this process may open (%d files; raise it with ulimit -n)",
				as.As("phases.profiling.concurrency"), phase.Concurrency, phase.Name, b.files)
		}
		if b.ports == 0 {
			continue
		}
		if phase.Concurrency > ports {
			warnings = append(warnings, fmt.Sprintf("phase %s: %s %d is above the %d local ports towards %d server address(es); requests beyond them will fail",
				phase.Name, as.As("phases.profiling.concurrency"), phase.Concurrency, ports, len(addresses)))
		}
		if turnover := phase.Rate * timeWait; reuse == transport.Never && turnover > float64(ports) {
			warnings = append(warnings, fmt.Sprintf("phase %s: %g new connections a second, each keeping its port for %d s after it was closed, need more than the %d local ports there are; use %s pooled",
				phase.Name, phase.Rate, timeWait, ports, as.As("endpoint.connection_reuse")))
		}
	}
	return warnings, nil
}
