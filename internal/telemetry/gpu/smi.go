package gpu

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/telemetry"
)

// LocalURL is the source name for samples of NVIDIA's GPUs of this machine, as AIPerf names it.
const LocalURL = "pynvml://localhost"

// smiColumns lists the columns requested from nvidia-smi (nvidia-smi --help-query-gpu) after the four that identify the GPU.
var smiColumns = []struct {
	query, tag string
	scale      float64
}{
	{"power.draw", "nvidia_power_usage", 1},
	{"utilization.gpu", "nvidia_gpu_utilization", 1},
	{"utilization.memory", "nvidia_memory_utilization", 1},
	{"memory.used", "nvidia_memory_used", mebibyte},
	{"temperature.gpu", "nvidia_temperature", 1},
	{"utilization.decoder", "nvidia_decoder_utilization", 1},
	{"utilization.encoder", "nvidia_encoder_utilization", 1},
	{"utilization.jpeg", "nvidia_jpg_utilization", 1},
}

var smiIdentity = []string{"index", "uuid", "name", "pci.bus_id"}

// smiUnknown matches the error of nvidia-smi for a column that its version does not have.
var smiUnknown = lazyregexp.New(`Field "([^"]+)" is not a valid field`)

// smi is a running nvidia-smi.
type smi struct {
	cmd  *exec.Cmd
	out  io.ReadCloser
	tags []int // field of each column after the identity
	done chan struct{}

	mu      sync.Mutex      // held while a sample is made and added
	energy  map[int]*energy // by index of the GPU
	devices map[int]Device
	add     func(energyMJ float64, of Device, at int64)
	warn    func(string)
}

// maxDoubt is the largest uncertain share of the energy without a warning.
const maxDoubt = 0.02

// OpenSMI starts the collector of NVIDIA's GPUs of this machine and waits for its first reading. command is the program, usually nvidia-smi, which is
// part of the driver. It has no energy counter, so energy is integrated from the readings of power. It reports neither the use of multiprocessors nor
// throttling. NVML has all of them, but a static program cannot load that library.
func OpenSMI(ctx context.Context, o Options, command string) (*Collector, error) {
	c := &Collector{Options: o, fields: NewFields("nvidia", nil), configured: []string{LocalURL}}
	c.series = NewSeries(c.fields)
	c.Watch = telemetry.NewWatch(nil, o.Cadence)
	queries := make([]int, 0, len(smiColumns))
	for i := range smiColumns {
		queries = append(queries, i)
	}
	for {
		s, missing, err := c.start(ctx, command, queries)
		if err == nil {
			c.local = s
			c.successful = []string{LocalURL}
			return c, nil
		}
		at := slices.IndexFunc(queries, func(i int) bool { return smiColumns[i].query == missing })
		if at < 0 {
			return nil, err
		}
		queries = slices.Delete(queries, at, at+1)
	}
}

// start runs nvidia-smi with some columns. missing names a column that it does not know.
func (c *Collector) start(ctx context.Context, command string, queries []int) (s *smi, missing string, err error) {
	columns := slices.Clone(smiIdentity)
	s = &smi{done: make(chan struct{}), energy: map[int]*energy{}, devices: map[int]Device{}, warn: c.Warn}
	s.add = func(energyMJ float64, of Device, at int64) {
		one := &Sample{Device: of, At: at, Source: LocalURL, Values: c.fields.none()}
		one.Values[c.fields.byTag["nvidia_energy_consumption"]] = energyMJ
		c.add(one)
	}
	for _, i := range queries {
		columns = append(columns, smiColumns[i].query)
		s.tags = append(s.tags, i)
	}
	s.cmd = exec.Command(command, "--query-gpu="+strings.Join(columns, ","), "--format=csv,noheader,nounits",
		"--loop-ms="+strconv.FormatInt(c.Cadence.Interval.Milliseconds(), 10))
	if s.out, err = s.cmd.StdoutPipe(); err != nil {
		return nil, "", err
	}
	s.cmd.Stderr = nil
	if err := s.cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("the GPUs of this machine cannot be read: %w", err)
	}
	first := make(chan string, 1) // "" = a reading arrived, otherwise the output that arrived instead
	go func() {
		defer close(s.done)
		c.read(s, first)
	}()
	timer := time.NewTimer(c.Reachable)
	defer timer.Stop()
	select {
	case text := <-first:
		if text == "" {
			return s, "", nil
		}
		err = fmt.Errorf("the GPUs of this machine cannot be read: %s printed %.200q", command, text)
		if m := smiUnknown.FindStringSubmatch(text); m != nil {
			missing = m[1]
		}
	case <-timer.C:
		err = fmt.Errorf("the GPUs of this machine cannot be read: %s printed nothing for %v", command, c.Reachable)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.stop()
	return nil, missing, err
}

// now implements local. nvidia-smi reads at the interval by itself, so a phase would begin and end up to one interval away from the readings of its
// energy. now adds the energy up to this instant, as if the power had not changed since the latest reading.
func (s *smi) now(context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Now().UnixNano()
	for _, index := range slices.Sorted(maps.Keys(s.energy)) {
		if mj := s.energy[index].until(at); !math.IsNaN(mj) {
			s.add(mj, s.devices[index], at)
		}
	}
}

// stop ends the program, waits for it and warns if the energy is too uncertain.
func (s *smi) stop() {
	_ = s.cmd.Process.Kill()
	<-s.done
	joules, doubt := 0.0, 0.0
	for _, e := range s.energy {
		joules, doubt = joules+e.joules, doubt+e.maxError
	}
	if doubt > maxDoubt*joules {
		s.warn(fmt.Sprintf("GPU energy is accurate to %.1f %% only, because it is computed from power readings and the power changed fast. Use a DCGM exporter, which reads the energy counter.", 100*doubt/joules))
	}
}

// read reads lines until the program ends. If it never gave a reading, the caller of start reports that, so its end is not counted as a loss.
func (c *Collector) read(s *smi, first chan<- string) {
	in := bufio.NewScanner(io.LimitReader(s.out, math.MaxInt64))
	told, gave := false, false
	for in.Scan() {
		err := c.takeLine(s, in.Text())
		switch {
		case err == nil:
		case !told:
			first <- in.Text()
			told = true
			continue
		default:
			c.losses.Add(telemetry.Fault("ParseError", LocalURL, "bad line from nvidia-smi: "+err.Error()), 1)
		}
		if !told {
			first <- ""
			told, gave = true, true
		}
	}
	if !told {
		first <- "nothing"
	}
	if err := s.cmd.Wait(); err != nil && gave && !c.stopping.Load() {
		c.losses.Add(telemetry.Fault("CollectorEnded", LocalURL, err.Error()), 1)
	}
}

// takeLine adds the sample of a line.
func (c *Collector) takeLine(s *smi, line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := c.smiLine(s, line)
	if err == nil {
		c.add(one)
	}
	return err
}

// smiLine makes a sample from a line: index, uuid, name, bus, and the requested columns; a value that a GPU does not have is in brackets.
func (c *Collector) smiLine(s *smi, line string) (*Sample, error) {
	r := csv.NewReader(strings.NewReader(line))
	r.TrimLeadingSpace = true
	cells, err := r.Read()
	if err != nil {
		return nil, err
	}
	if len(cells) != len(smiIdentity)+len(s.tags) {
		return nil, errors.New("unexpected columns")
	}
	index, err := strconv.Atoi(cells[0])
	if err != nil {
		return nil, fmt.Errorf("index %.40q", cells[0])
	}
	one := &Sample{At: time.Now().UnixNano(), Source: LocalURL, Values: c.fields.none()}
	one.Device = Device{Index: index, UUID: cells[1], Model: cells[2], PCIBus: cells[3], Device: "nvidia" + cells[0], Hostname: "localhost", Platform: "nvidia"}
	if one.UUID == "" || one.UUID[0] == '[' {
		one.UUID = "GPU-unknown-" + cells[0]
	}
	if one.Model == "" || one.Model[0] == '[' {
		one.Model = "Unknown GPU"
	}
	for k, i := range s.tags {
		if v, err := strconv.ParseFloat(cells[len(smiIdentity)+k], 64); err == nil && !math.IsInf(v, 0) {
			one.Values[c.fields.byTag[smiColumns[i].tag]] = v * smiColumns[i].scale
		}
	}
	if s.energy[index] == nil {
		s.energy[index] = &energy{}
	}
	s.devices[index] = one.Device
	one.Values[c.fields.byTag["nvidia_energy_consumption"]] = s.energy[index].add(one.At, one.Values[c.fields.byTag["nvidia_power_usage"]])
	return one, nil
}
