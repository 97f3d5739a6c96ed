package gpu

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"aiperf/internal/foreign"
	"aiperf/internal/telemetry"
)

// LocalURL is the source of samples of NVIDIA's GPUs of this machine.
const LocalURL = "pynvml://localhost"

// nvmlLibrary is the NVIDIA Management Library, part of the driver. Functions, structures and constants: nvml.h of CUDA.
const nvmlLibrary = "libnvidia-ml.so.1"

// library is one that is open elsewhere, with memory of its own; foreign.Process.
type library interface {
	Symbol(name string) (uint64, error)
	Address(at int) uint64
	Put(at int, b []byte) error
	Do(calls []foreign.Call, from int, out []byte) error
	Kill()
	Close()
}

// nvml reads GPUs through the library.
type nvml struct {
	library
	functions map[string]uint64 // by name; 0 = the library lacks it
	gpus      []*nvmlGPU
}

// nvmlGPU is one GPU.
type nvmlGPU struct {
	Device
	handle  uint64
	area    int       // of the memory, where functions leave what they tell of it
	samples [2]uint64 // of the performance counters; 0 = it has none
	turn    int       // which of the two samples is the older one
}

// OpenNVML starts the collector of NVIDIA's GPUs of this machine and takes its first reading. The library is opened in a process of its own.
func OpenNVML(ctx context.Context, o Options) (*Collector, error) {
	process, err := foreign.Open(nvmlLibrary, max(o.Reachable, o.Cadence.Timeout))
	if err != nil {
		return nil, err
	}
	c, err := openNVML(ctx, o, process)
	if err != nil {
		process.Close()
	}
	return c, err
}

func openNVML(ctx context.Context, o Options, l library) (*Collector, error) {
	c := &Collector{Options: o, fields: NewFields("nvidia", nil), configured: []string{LocalURL}, successful: []string{LocalURL}}
	c.series = NewSeries(c.fields)
	c.Watch = telemetry.NewWatch(nil, o.Cadence)
	n := &nvml{library: l, functions: map[string]uint64{}}
	if err := n.find(); err != nil {
		return nil, err
	}
	energy, err := c.readNVML(n)
	if err != nil {
		return nil, err
	}
	if !energy {
		o.Warn("GPU telemetry: no GPU of this machine has an energy counter (they begin with Volta); energy is mean power times time")
	}
	c.local = &polledLibrary{c.poll(ctx, LocalURL, func(context.Context) error {
		_, err := c.readNVML(n)
		return err
	}), n}
	return c, nil
}

// polledLibrary closes the library behind the last reading.
type polledLibrary struct {
	*poller
	library *nvml
}

// lastReading is how long a reading that is under way at the end may take.
const lastReading = time.Second

func (p *polledLibrary) stop() {
	late := time.AfterFunc(lastReading, p.library.Kill)
	p.poller.stop()
	late.Stop()
	p.library.Close()
}

// Results of functions (nvmlReturn_t).
const (
	nvmlSuccess          = 0
	nvmlNotFound         = 6
	nvmlFunctionNotFound = 13
)

// call makes a call whose result is a status.
func (n *nvml) call(name string, args ...uint64) (foreign.Call, error) {
	function, known := n.functions[name]
	if !known {
		var err error
		if function, err = n.Symbol(name); err != nil {
			return foreign.Call{}, err
		}
		n.functions[name] = function
	}
	c := foreign.Call{Function: function}
	copy(c.Args[:], args)
	return c, nil
}

// do makes one call and reads what it left at a place. ok = the function is there and succeeded.
func (n *nvml) do(name string, from int, out []byte, args ...uint64) (status int32, ok bool, err error) {
	c, err := n.call(name, args...)
	if err != nil || c.Function == 0 {
		return nvmlFunctionNotFound, false, err
	}
	calls := []foreign.Call{c}
	err = n.Do(calls, from, out)
	status = int32(calls[0].Result)
	return status, err == nil && status == nvmlSuccess, err
}

// Places of the memory: what is asked of the library as a whole, then an area for each GPU.
const (
	commonArea = 0
	firstArea  = 4 << 10
	areaSize   = 96 << 10
	mostLocal  = (foreign.Memory - firstArea) / areaSize
)

// find starts the library and looks for GPUs.
func (n *nvml) find() error {
	if status, ok, err := n.do("nvmlInit_v2", 0, nil); err != nil || !ok {
		return cannotRead("it cannot be started", status, err)
	}
	count := make([]byte, 4)
	if status, ok, err := n.do("nvmlDeviceGetCount_v2", commonArea, count, n.Address(commonArea)); err != nil || !ok {
		return cannotRead("it does not count the GPUs", status, err)
	}
	for i := range min(int(number32(count)), mostLocal) {
		handle := make([]byte, 8)
		_, ok, err := n.do("nvmlDeviceGetHandleByIndex_v2", commonArea, handle, uint64(i), n.Address(commonArea))
		if err != nil {
			return err
		}
		if !ok { // one that has fallen off the bus costs itself
			continue
		}
		g := &nvmlGPU{handle: number64(handle), area: firstArea + len(n.gpus)*areaSize}
		if err := n.identify(g, i); err != nil {
			return err
		}
		n.gpus = append(n.gpus, g)
	}
	if len(n.gpus) == 0 {
		return errors.New(nvmlLibrary + " knows no GPU")
	}
	return nil
}

func cannotRead(what string, status int32, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %s (status %d)", nvmlLibrary, what, status)
}

// identify asks what a GPU is. What is not told has stand-ins.
func (n *nvml) identify(g *nvmlGPU, index int) error {
	g.Device = Device{
		Index: index, UUID: "GPU-unknown-" + strconv.Itoa(index), Model: "Unknown GPU", Device: "nvidia" + strconv.Itoa(index), Hostname: "localhost", Platform: "nvidia",
	}
	const length, busID = 96, 36 // of texts; of nvmlPciInfo_t.busId in its structure
	text := make([]byte, length)
	for _, one := range []struct {
		function string
		to       *string
		skip     int
	}{{"nvmlDeviceGetUUID", &g.UUID, 0}, {"nvmlDeviceGetName", &g.Model, 0}, {"nvmlDeviceGetPciInfo_v3", &g.PCIBus, busID}} {
		_, ok, err := n.do(one.function, g.area, text, g.handle, n.Address(g.area), length)
		if err != nil {
			return err
		}
		if value := foreign.Text(text[one.skip:]); ok && value != "" {
			*one.to = value
		}
	}
	return n.counters(g)
}

// readNVML takes a reading of every GPU. energy = one of them told of its energy.
func (c *Collector) readNVML(n *nvml) (energy bool, err error) {
	for _, g := range n.gpus {
		values := c.fields.none()
		told := false
		set := func(tag string, v float64) {
			values[c.fields.byTag[tag]], told = v, true
			energy = energy || tag == "nvidia_energy_consumption"
		}
		if err := n.read(g, set); err != nil {
			return energy, err
		}
		if told {
			c.add(&Sample{Device: g.Device, At: time.Now().UnixNano(), Source: LocalURL, Values: values})
		}
	}
	return energy, nil
}
