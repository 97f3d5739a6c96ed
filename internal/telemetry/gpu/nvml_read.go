package gpu

import (
	"encoding/binary"
	"math"

	"aiperf/internal/foreign"
)

// nvmlFigures are the functions that tell figures of a GPU: before are arguments between the GPU and the address of what they tell;
// each may fail alone.
var nvmlFigures = []struct {
	function string
	before   []uint64
	size     int  // of what they tell
	period   bool // the address of the time that the figure is of is wanted too
	take     func(told []byte, set func(tag string, v float64))
}{
	{function: "nvmlDeviceGetPowerUsage", size: 4, take: scaled("nvidia_power_usage", 1e-3)},                     // mW
	{function: "nvmlDeviceGetTotalEnergyConsumption", size: 8, take: wide("nvidia_energy_consumption", 0, 1e-9)}, // mJ
	{function: "nvmlDeviceGetUtilizationRates", size: 8, take: func(told []byte, set func(string, float64)) { // nvmlUtilization_t: gpu, memory
		set("nvidia_gpu_utilization", float64(number32(told)))
		set("nvidia_memory_utilization", float64(number32(told[4:])))
	}},
	{function: "nvmlDeviceGetMemoryInfo", size: 24, take: wide("nvidia_memory_used", 16, 1e-9)},                 // nvmlMemory_t: total, free, used; bytes
	{function: "nvmlDeviceGetTemperature", before: []uint64{0}, size: 4, take: scaled("nvidia_temperature", 1)}, // NVML_TEMPERATURE_GPU
	{function: "nvmlDeviceGetDecoderUtilization", size: 4, period: true, take: scaled("nvidia_decoder_utilization", 1)},
	{function: "nvmlDeviceGetEncoderUtilization", size: 4, period: true, take: scaled("nvidia_encoder_utilization", 1)},
	{function: "nvmlDeviceGetJpgUtilization", size: 4, period: true, take: scaled("nvidia_jpg_utilization", 1)},
	// NVML_PERF_POLICY_POWER; nvmlViolationTime_t: reference and violation, ns.
	{function: "nvmlDeviceGetViolationStatus", before: []uint64{0}, size: 16, take: wide("nvidia_power_violation", 8, 1e-3)},
}

// scaled takes an unsigned int.
func scaled(tag string, scale float64) func([]byte, func(string, float64)) {
	return func(told []byte, set func(string, float64)) { set(tag, float64(number32(told))*scale) }
}

// wide takes an unsigned long long at a place.
func wide(tag string, at int, scale float64) func([]byte, func(string, float64)) {
	return func(told []byte, set func(string, float64)) { set(tag, float64(number64(told[at:]))*scale) }
}

func number32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func number64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// Places of a GPU's area: a slot for each figure, what processes use, and two requests for the performance counters (nvmlGpmMetricsGet_t with room
// for every metric that a library may know), one for each order of the two samples.
const (
	slotSize     = 32
	processesAt  = 1 << 10
	mostSamples  = 90
	processSize  = 32 // nvmlProcessUtilizationSample_t: pid, timeStamp, smUtil, memUtil, encUtil, decUtil
	processUseAt = 16 // smUtil in it
	requestsAt   = 8 << 10
	requestSize  = 40 << 10
)

// read tells the figures of a GPU.
func (n *nvml) read(g *nvmlGPU, set func(tag string, v float64)) error {
	var calls []foreign.Call
	var of []int // figure of each call
	for i := range nvmlFigures {
		f := &nvmlFigures[i]
		at := n.Address(g.area + i*slotSize)
		args := append([]uint64{g.handle}, f.before...)
		args = append(args, at)
		if f.period {
			args = append(args, at+slotSize/2)
		}
		c, err := n.call(f.function, args...)
		if err != nil {
			return err
		}
		if c.Function != 0 {
			calls, of = append(calls, c), append(of, i)
		}
	}
	told := make([]byte, len(nvmlFigures)*slotSize)
	if err := n.Do(calls, g.area, told); err != nil {
		return err
	}
	for k, i := range of {
		if int32(calls[k].Result) == nvmlSuccess {
			nvmlFigures[i].take(told[i*slotSize:], set)
		}
	}
	busy, ok, err := n.multiprocessors(g)
	if ok {
		set("nvidia_sm_utilization", min(busy, 100))
	}
	return err
}

// Constants of the performance counters (GPM).
const (
	gpmVersion     = 1
	gpmMultiproc   = 2  // NVML_GPM_METRIC_SM_UTIL, percent
	gpmFirstMetric = 24 // in nvmlGpmMetricsGet_t, behind version, number of metrics and two samples
	gpmStatus      = gpmFirstMetric + 4
	gpmValue       = gpmFirstMetric + 8
)

// counters prepares the performance counters of a GPU that has them (since Hopper), and takes the first of two samples.
func (n *nvml) counters(g *nvmlGPU) error {
	at := g.area
	if err := n.Put(at, binary.LittleEndian.AppendUint64(nil, gpmVersion)); err != nil { // nvmlGpmSupport_t: version, isSupportedDevice
		return err
	}
	support := make([]byte, 8)
	if _, ok, err := n.do("nvmlGpmQueryDeviceSupport", at, support, g.handle, n.Address(at)); err != nil || !ok || number32(support[4:]) == 0 {
		return err
	}
	var samples [2]uint64
	for i := range samples {
		told := make([]byte, 8)
		if _, ok, err := n.do("nvmlGpmSampleAlloc", at, told, n.Address(at)); err != nil || !ok {
			return err
		}
		samples[i] = number64(told)
	}
	if _, ok, err := n.do("nvmlGpmSampleGet", 0, nil, g.handle, samples[0]); err != nil || !ok {
		return err
	}
	for turn := range samples {
		request := binary.LittleEndian.AppendUint32(nil, gpmVersion)
		request = binary.LittleEndian.AppendUint32(request, 1) // metrics
		request = binary.LittleEndian.AppendUint64(request, samples[turn])
		request = binary.LittleEndian.AppendUint64(request, samples[1-turn])
		request = binary.LittleEndian.AppendUint64(request, gpmMultiproc)
		if err := n.Put(g.area+requestsAt+turn*requestSize, request); err != nil {
			return err
		}
	}
	g.samples = samples
	return nil
}

// multiprocessors is how busy they were, in percent: by the performance counters, else as the processes on the GPU add up.
func (n *nvml) multiprocessors(g *nvmlGPU) (busy float64, ok bool, err error) {
	if g.samples[0] != 0 {
		if busy, ok, err = n.sampled(g); ok || err != nil {
			return busy, ok, err
		}
	}
	at := g.area + processesAt
	if err := n.Put(at, binary.LittleEndian.AppendUint64(nil, mostSamples)); err != nil {
		return 0, false, err
	}
	told := make([]byte, 8+mostSamples*processSize)
	status, ok, err := n.do("nvmlDeviceGetProcessUtilization", at, told, g.handle, n.Address(at+8), n.Address(at), 0)
	if status == nvmlNotFound { // no process used it
		return 0, err == nil, err
	}
	if !ok {
		return 0, false, err
	}
	for i := range min(number32(told), mostSamples) {
		busy += float64(number32(told[8+i*processSize+processUseAt:]))
	}
	return busy, true, nil
}

// sampled asks the performance counters for the time since the sample before.
func (n *nvml) sampled(g *nvmlGPU) (busy float64, ok bool, err error) {
	old, request := g.turn, g.area+requestsAt+g.turn*requestSize
	g.turn = 1 - g.turn
	if _, ok, err = n.do("nvmlGpmSampleGet", 0, nil, g.handle, g.samples[1-old]); !ok {
		return 0, false, err
	}
	told := make([]byte, gpmValue+8)
	if _, ok, err = n.do("nvmlGpmMetricsGet", request, told, n.Address(request)); !ok || number32(told[gpmStatus:]) != nvmlSuccess {
		return 0, false, err
	}
	busy = math.Float64frombits(number64(told[gpmValue:]))
	return busy, busy >= 0 && !math.IsInf(busy, 0), nil
}
