package gpu

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/telemetry"
)

// smiColumns are what is asked of nvidia-smi (nvidia-smi --help-query-gpu) behind the four that say which GPU it is.
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

// smiUnknown is how nvidia-smi refuses a column that its version lacks.
var smiUnknown = regexp.MustCompile(`Field "([^"]+)" is not a valid field`)

// smi is a running nvidia-smi.
type smi struct {
	cmd  *exec.Cmd
	out  io.ReadCloser
	tags []int // field of each column behind the identity
	done chan struct{}
}

// OpenSMI starts the collector for machines where the driver's library cannot be opened, and waits for its first reading. command is the program
// to ask, usually nvidia-smi, which comes with the driver. It tells neither energy nor multiprocessors nor throttling.
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

// start runs nvidia-smi with some columns. missing names one that it does not know.
func (c *Collector) start(ctx context.Context, command string, queries []int) (s *smi, missing string, err error) {
	columns := slices.Clone(smiIdentity)
	s = &smi{done: make(chan struct{})}
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
		return nil, "", fmt.Errorf("no GPU of this machine can be read: %w", err)
	}
	first := make(chan string, 1) // "" = a reading came, else what came in its place
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
		err = fmt.Errorf("no GPU of this machine can be read: %s says %.200q", command, text)
		if m := smiUnknown.FindStringSubmatch(text); m != nil {
			missing = m[1]
		}
	case <-timer.C:
		err = fmt.Errorf("no GPU of this machine can be read: %s said nothing for %v", command, c.Reachable)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.stop()
	return nil, missing, err
}

// now implements local: nvidia-smi reads on the cadence by itself.
func (s *smi) now(context.Context) {}

// stop ends the program and waits for it.
func (s *smi) stop() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// read takes lines until the program ends. One that never gave a reading is refused by who started it: its end is no loss.
func (c *Collector) read(s *smi, first chan<- string) {
	in := bufio.NewScanner(io.LimitReader(s.out, math.MaxInt64))
	told, gave := false, false
	for in.Scan() {
		one, err := c.smiLine(s, in.Text())
		switch {
		case err == nil:
			c.add(one)
		case !told:
			first <- in.Text()
			told = true
			continue
		default:
			c.losses.Add(telemetry.Fault("ParseError", LocalURL, "a line of nvidia-smi: "+err.Error()), 1)
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

// smiLine makes a sample of a line: index, uuid, name, bus, and the columns that were asked for; what a GPU does not tell is in brackets.
func (c *Collector) smiLine(s *smi, line string) (*Sample, error) {
	r := csv.NewReader(strings.NewReader(line))
	r.TrimLeadingSpace = true
	cells, err := r.Read()
	if err != nil {
		return nil, err
	}
	if len(cells) != len(smiIdentity)+len(s.tags) {
		return nil, errors.New("the columns are others")
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
	return one, nil
}
