package doctor

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/wire/capture"
)

// Level is the result of a check.
type Level string

// The levels, from good to bad.
const (
	OK      Level = "ok"      // no influence on a measurement
	Note    Level = "note"    // limits some measurements, or matters in some of them
	Problem Level = "problem" // measurements fail, or their numbers would be wrong
)

// rank orders the levels.
func (l Level) rank() int {
	switch l {
	case Problem:
		return 2
	case Note:
		return 1
	}
	return 0
}

// Check is one judged property of the machine.
type Check struct {
	Name    string         `json:"name"`
	Level   Level          `json:"level"`
	Found   string         `json:"found"`            // the fact, with its numbers
	Meaning string         `json:"meaning"`          // for a measurement
	Change  string         `json:"change,omitempty"` // what to do; empty if nothing has to be done
	Values  map[string]any `json:"values,omitempty"` // the numbers, for programs
}

// Checks judges the facts, in the order of the page.
func (f *Facts) Checks() []Check {
	list := []Check{
		f.stamps(), f.capture(), f.cpus(), f.load(), f.wakeUps(), f.clockSource(), f.wallClock(), f.ports(), f.files(), f.memory(), f.disk(), f.cache(), f.proxy(), f.gpus(),
	}
	for i := range list {
		if list[i].Level == "" {
			list[i].Level = OK
		}
	}
	return list
}

// Worst returns the worst level of some checks.
func Worst(list []Check) Level {
	worst := OK
	for _, c := range list {
		if c.Level.rank() > worst.rank() {
			worst = c.Level
		}
	}
	return worst
}

func (f *Facts) stamps() Check {
	c := Check{
		Name: "kernel stamps", Meaning: "The arrival time of an answer does not depend on the moment at which aiperf reads it.",
		Values: map[string]any{"events": f.Stamps.Events, "kernel_stamped": f.Stamps.Kernel},
	}
	switch s := f.Stamps; {
	case s.Err != nil:
		c.Level, c.Found = Problem, fmt.Sprintf("A request to a server on 127.0.0.1 failed: %v.", s.Err)
		c.Meaning, c.Change = "No benchmark can run here, not even with mock://.", "Allow connections to 127.0.0.1."
	case s.Events > 0 && s.Kernel == s.Events:
		c.Found = fmt.Sprintf("The kernel stamped all %d events of a test stream.", s.Events)
	default:
		c.Level, c.Found = Note, fmt.Sprintf("The kernel stamped %d of %d events of a test stream.", s.Kernel, s.Events)
		c.Meaning = "Times of arrival include the delay until aiperf reads. If this machine is busy, TTFT and latency become uncertain."
		c.Change = "Measure from Linux on amd64 or arm64."
		if f.OS == "linux" {
			c.Change = "Measure outside a sandbox such as gVisor: its network has no receive stamps."
		}
	}
	return c
}

func (f *Facts) capture() Check {
	c := Check{Name: "packet capture", Values: map[string]any{"permitted": f.CaptureError == nil}}
	const gain = "With --capture auto, arrival times stay exact even if aiperf has to wait for a CPU."
	switch {
	case f.CaptureError == nil:
		c.Found, c.Meaning = "This user may capture packets.", gain
	case errors.Is(f.CaptureError, capture.ErrUnsupported):
		c.Level, c.Found = Note, "Packet capture needs Linux on amd64 or arm64."
		c.Meaning = "--capture on fails here. Runs without it are not affected."
	case errors.Is(f.CaptureError, os.ErrPermission):
		c.Level, c.Found = Note, "This user may not capture packets (CAP_NET_RAW is missing)."
		c.Meaning = gain + " Without the right, --capture auto uses the stamps of the kernel."
		c.Change = `Only if verdicts are "uncertain": sudo setcap cap_net_raw+ep "$(command -v aiperf)"`
	default:
		c.Level, c.Found = Note, fmt.Sprintf("Packet capture does not work: %v.", f.CaptureError)
		c.Meaning = "--capture on fails here. Runs without it are not affected."
	}
	return c
}

// throttledShare is the share of the periods of a quota from which on its pauses are a problem.
const throttledShare = 0.05

func (f *Facts) cpus() Check {
	q := f.Quota
	c := Check{
		Name: "CPUs", Found: fmt.Sprintf("%s; aiperf uses %d at once; no quota.", terminal.Plural(f.CPUs, "CPU"), f.Cores),
		Meaning: "No limit other than the CPUs stops aiperf while it reads and sends.",
		Values:  map[string]any{"cpus": f.CPUs, "used_at_once": f.Cores, "quota_cpus": q.CPUs, "throttled_periods": q.Throttled, "periods": q.Periods, "governor": f.Governor},
	}
	switch throttled := float64(q.Throttled) > throttledShare*float64(q.Periods); {
	case q.CPUs > 0:
		c.Level = Note
		if q.CPUs < 1 || throttled {
			c.Level = Problem
		}
		c.Found = fmt.Sprintf("%s; a quota of %.3g CPUs. The kernel stopped the group in %s of %s periods, for %s in all.",
			terminal.Plural(f.CPUs, "CPU"), q.CPUs, terminal.Count(q.Throttled), terminal.Count(q.Periods), q.Stopped.Round(time.Millisecond))
		c.Meaning = fmt.Sprintf("When the quota of a period of %s is used up, all threads stop until the next period: answers are read late and requests leave late.", q.Period)
		c.Change = "Remove the CPU limit of the container (in Kubernetes: limits.cpu; keep requests.cpu), or lower the load."
	case f.CPUs == 1:
		c.Level, c.Meaning = Note, "The sender, the reader and every other program share one CPU."
		c.Change = "Use two CPUs or more, or --capture auto."
	case f.Governor == "powersave":
		c.Level, c.Found = Note, strings.TrimSuffix(c.Found, ".")+"; the frequency governor is powersave."
		c.Meaning = "A slow clock makes each event of a stream cost more CPU time; wake-ups from idle are later."
		c.Change = "sudo cpupower frequency-set -g performance"
	}
	return c
}
