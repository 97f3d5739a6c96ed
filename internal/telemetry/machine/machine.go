// Package machine records the state of the client's machine while it sends requests: its CPUs, memory, sockets and ports, four times a second. It
// shows whether an unusual figure was caused by this side.
package machine

import (
	"math"
	"os"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
)

// Interval is how often the machine is read.
const Interval = 250 * time.Millisecond

// Source is the name of the source in the lines.
const Source = "proc://localhost"

// state is one reading of the system. Counters start with the system; 0 = missing, where 0 is not a valid value.
type state struct {
	all                     cpu
	cores                   []cpu
	switches                float64 // context switches
	memoryTotal, memoryFree float64 // bytes
	sockets, timeWait       float64 // TCP
	ports                   float64 // that connections may use locally
	megahertz               float64 // mean of the cores
	waited                  float64 // s in which a task waited for a CPU; NaN = missing
}

// cpu is the time of a CPU, in jiffies.
type cpu struct{ total, idle, steal float64 }

// Watcher reads the machine until it is stopped.
type Watcher struct {
	root string // of the file system
	line func([]byte)
	host string
	end  func() // may be called several times
	done chan struct{}

	mu      sync.Mutex
	samples []sample
}

// sample holds the changes between two readings, and the state at the second.
type sample struct {
	at                   int64   // wall, ns
	busy, steal, busiest float64 // percent: busy time of all CPUs, the part taken by a hypervisor, and the busiest CPU
	memory               float64 // percent
	ports                float64 // percent of the ports that connections may use
	switches             float64 // per second
	waited               float64 // percent of the time in which a task waited for a CPU; NaN = missing
}

// Start starts the readings; line receives lines of the file, one at a time. nil = this system does not provide the data.
func Start(line func([]byte)) *Watcher { return start("/", line) }

func start(root string, line func([]byte)) *Watcher {
	before, ok := read(root)
	if !ok {
		return nil
	}
	host, _ := os.Hostname() // the file has no host name then
	w := &Watcher{root: root, line: line, host: host, done: make(chan struct{})}
	ended := make(chan struct{})
	w.end = sync.OnceFunc(func() { close(ended) })
	go w.run(ended, before, time.Now())
	return w
}

func (w *Watcher) run(ended <-chan struct{}, before state, last time.Time) {
	defer close(w.done)
	begun := last
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ended:
			if last.Equal(begun) { // a run shorter than the interval gets a reading too
				w.read(&before, &last)
			}
			return
		}
		w.read(&before, &last)
	}
}

// read takes a reading and makes a sample from it and the previous one.
func (w *Watcher) read(before *state, last *time.Time) {
	now := time.Now()
	if s, ok := read(w.root); ok {
		w.take(before, &s, now, now.Sub(*last))
		*before, *last = s, now
	}
}

// Stop ends the readings.
func (w *Watcher) Stop() {
	if w != nil {
		w.end()
		<-w.done
	}
}

// take makes a sample from two readings.
func (w *Watcher) take(a, b *state, at time.Time, passed time.Duration) {
	s := sample{at: at.UnixNano()}
	s.busy, s.steal = used(a.all, b.all)
	s.waited = math.NaN()
	var cores []float64
	for i := range min(len(a.cores), len(b.cores)) {
		busy, _ := used(a.cores[i], b.cores[i])
		cores = append(cores, busy)
		s.busiest = max(s.busiest, busy)
	}
	if b.memoryTotal > 0 {
		s.memory = 100 * (1 - b.memoryFree/b.memoryTotal)
	}
	if b.ports > 0 {
		s.ports = 100 * (b.sockets + b.timeWait) / b.ports
	}
	if passed > 0 {
		s.switches = (b.switches - a.switches) / passed.Seconds()
		s.waited = min(100, 100*(b.waited-a.waited)/passed.Seconds())
	}
	w.mu.Lock()
	w.samples = append(w.samples, s)
	w.mu.Unlock()
	w.line(w.appendLine(b, &s, cores))
}

// used returns shares of a CPU's time between two readings, in percent: the time that was not idle, and the part of it that a hypervisor took.
func used(a, b cpu) (busy, steal float64) {
	total := b.total - a.total
	if total <= 0 {
		return 0, 0
	}
	return max(0, 100*(1-(b.idle-a.idle)/total)), max(0, 100*(b.steal-a.steal)/total)
}

// appendLine writes a line in the format of GPU telemetry.
func (w *Watcher) appendLine(b *state, s *sample, cores []float64) []byte {
	o := jsontext.Open(nil)
	o.TextIfAny("hostname", w.host)
	o.Text("platform", "linux")
	o.Int("timestamp_ns", s.at)
	o.Text("telemetry_source_url", Source)
	o.Key("telemetry_data")
	d := jsontext.Open(o.B)
	d.Float("cpu_utilization", s.busy)
	d.Float("cpu_steal", s.steal)
	if !math.IsNaN(s.waited) {
		d.Float("cpu_pressure", s.waited)
	}
	for i, v := range cores {
		d.Float("cpu_utilization_core_"+strconv.Itoa(i), v)
	}
	if b.megahertz > 0 {
		d.Float("cpu_frequency_mhz", b.megahertz)
	}
	if b.memoryTotal > 0 {
		d.Float("memory_used_gb", (b.memoryTotal-b.memoryFree)/1e9)
		d.Float("memory_utilization", s.memory)
	}
	d.Float("tcp_sockets", b.sockets)
	d.Float("tcp_time_wait", b.timeWait)
	if b.ports > 0 {
		d.Float("local_port_utilization", s.ports)
	}
	d.Float("context_switches_per_second", s.switches)
	o.B = d.Close()
	return append(o.Close(), '\n')
}

// Use returns the means and largest values in a window.
func (w *Watcher) Use(window metric.Window) (u metric.MachineUse) {
	if w == nil {
		return u
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	told := 0
	for _, s := range w.samples {
		if s.at < window.From || s.at > window.To+int64(Interval) { // a sample covers the time before it
			continue
		}
		u.MachineSamples++
		u.MachineCPU += s.busy
		u.Steal += s.steal
		if !math.IsNaN(s.waited) {
			u.Pressure += s.waited
			told++
		}
		u.MachineCPUMax, u.StealMax, u.MachineCoreMax = max(u.MachineCPUMax, s.busy), max(u.StealMax, s.steal), max(u.MachineCoreMax, s.busiest)
		u.MemoryMax, u.PortsMax = max(u.MemoryMax, s.memory), max(u.PortsMax, s.ports)
	}
	if u.MachineSamples > 0 {
		u.MachineCPU /= float64(u.MachineSamples)
		u.Steal /= float64(u.MachineSamples)
	}
	if told > 0 {
		u.Pressure /= float64(told)
	}
	return u
}
