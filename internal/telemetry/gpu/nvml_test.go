package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/foreign"
	"aiperf/internal/metric"
	"aiperf/internal/telemetry"
)

// stage is a played library: functions by name, each with its arguments and the memory that addresses speak of.
type stage struct {
	functions map[string]func(args [6]uint64, memory []byte) int32
	names     []string
	memory    []byte
	broken    error
	closed    bool
}

const stageAt = 0x1000

func (s *stage) Symbol(name string) (uint64, error) {
	if s.functions[name] == nil {
		return 0, s.broken
	}
	s.names = append(s.names, name)
	return uint64(len(s.names)), s.broken
}

func (s *stage) Address(at int) uint64 { return stageAt + uint64(at) }
func (s *stage) Kill()                 {}
func (s *stage) Close()                { s.closed = true }

func (s *stage) Put(at int, b []byte) error {
	copy(s.memory[at:], b)
	return s.broken
}

func (s *stage) Do(calls []foreign.Call, from int, out []byte) error {
	for i := range calls {
		calls[i].Result = 0xdead<<32 | uint64(uint32(s.functions[s.names[calls[i].Function-1]](calls[i].Args, s.memory)))
	}
	copy(out, s.memory[from:])
	return s.broken
}

func put32(memory []byte, at uint64, v uint32) { binary.LittleEndian.PutUint32(memory[at-stageAt:], v) }
func put64(memory []byte, at, v uint64)        { binary.LittleEndian.PutUint64(memory[at-stageAt:], v) }

// played is a library with two GPUs. The first has everything; the second is old: no energy, no performance counters, and two processes on it.
func played() *stage {
	const unsupported = 3
	type call = func([6]uint64, []byte) int32
	text := func(of func(gpu uint64) string) call {
		return func(a [6]uint64, m []byte) int32 {
			copy(m[a[1]-stageAt:], of(a[0])+"\x00")
			return 0
		}
	}
	one := func(v ...uint32) call {
		return func(a [6]uint64, m []byte) int32 {
			put32(m, a[1], v[a[0]-70])
			return 0
		}
	}
	energy, samples := uint64(5_000_000_000_000), uint64(0)
	return &stage{memory: make([]byte, foreign.Memory), functions: map[string]call{
		"nvmlInit_v2":           func([6]uint64, []byte) int32 { return 0 },
		"nvmlDeviceGetCount_v2": func(a [6]uint64, m []byte) int32 { put32(m, a[0], 3); return 0 },
		"nvmlDeviceGetHandleByIndex_v2": func(a [6]uint64, m []byte) int32 {
			if a[0] == 1 { // lost
				return 15
			}
			put64(m, a[1], 70+a[0]/2)
			return 0
		},
		"nvmlDeviceGetUUID": text(func(gpu uint64) string { return []string{"GPU-a", ""}[gpu-70] }),
		"nvmlDeviceGetName": text(func(uint64) string { return "NVIDIA H100 80GB HBM3" }),
		"nvmlDeviceGetPciInfo_v3": func(a [6]uint64, m []byte) int32 {
			copy(m[a[1]-stageAt+36:], "00000000:0A:00.0\x00")
			return 0
		},
		"nvmlDeviceGetPowerUsage": one(402_100, 99_000),
		"nvmlDeviceGetTotalEnergyConsumption": func(a [6]uint64, m []byte) int32 {
			if a[0] != 70 {
				return unsupported
			}
			put64(m, a[1], energy)
			energy += 1_500_000 // mJ a reading
			return 0
		},
		"nvmlDeviceGetUtilizationRates": func(a [6]uint64, m []byte) int32 { put32(m, a[1], 97); put32(m, a[1]+4, 33); return 0 },
		"nvmlDeviceGetMemoryInfo":       func(a [6]uint64, m []byte) int32 { put64(m, a[1]+16, 81_000_000_000); return 0 },
		"nvmlDeviceGetTemperature": func(a [6]uint64, m []byte) int32 {
			if a[1] != 0 {
				return 2
			}
			put32(m, a[2], 61)
			return 0
		},
		"nvmlDeviceGetDecoderUtilization": func(a [6]uint64, m []byte) int32 { put32(m, a[1], 7); put32(m, a[2], 166_000); return 0 },
		"nvmlDeviceGetEncoderUtilization": func([6]uint64, []byte) int32 { return unsupported },
		"nvmlDeviceGetViolationStatus":    func(a [6]uint64, m []byte) int32 { put64(m, a[2], 1); put64(m, a[2]+8, 9_000_000); return 0 },
		"nvmlGpmQueryDeviceSupport": func(a [6]uint64, m []byte) int32 {
			if m[a[1]-stageAt] != 1 {
				return 25
			}
			put32(m, a[1]+4, uint32(71-a[0]))
			return 0
		},
		"nvmlGpmSampleAlloc": func(a [6]uint64, m []byte) int32 { samples++; put64(m, a[0], 900+samples); return 0 },
		"nvmlGpmSampleGet":   func([6]uint64, []byte) int32 { return 0 },
		"nvmlGpmMetricsGet": func(a [6]uint64, m []byte) int32 {
			in := m[a[0]-stageAt:]
			if number32(in) != 1 || number32(in[4:]) != 1 || number64(in[8:])+number64(in[16:]) != 901+902 || number32(in[24:]) != 2 {
				return 2
			}
			put32(m, a[0]+28, 0)
			put64(m, a[0]+32, math.Float64bits(float64(number64(in[8:])-900)*10)) // 10 % or 20 %, by which sample is the older one
			return 0
		},
		"nvmlDeviceGetProcessUtilization": func(a [6]uint64, m []byte) int32 {
			if number32(m[a[2]-stageAt:]) < 2 || a[3] != 0 {
				return 7
			}
			put32(m, a[2], 2)
			put32(m, a[1]+16, 40)
			put32(m, a[1]+32+16, 50)
			return 0
		},
	}}
}

func nvmlOptions(warned *[]string) Options {
	return Options{
		Cadence: telemetry.Cadence{Interval: time.Hour, Timeout: time.Minute}, Reachable: time.Minute, Log: slog.New(slog.DiscardHandler),
		Line: func([]byte) {}, Warn: func(text string) { *warned = append(*warned, text) },
	}
}

// TestNVML: the figures of the played library in the units of the files; what a GPU refuses is absent and costs nothing else, a lost GPU itself.
func TestNVML(t *testing.T) {
	l := played()
	var warned []string
	c, err := openNVML(t.Context(), nvmlOptions(&warned), l)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now().UnixNano()
	for range 2 {
		c.Once(t.Context(), time.Minute)
	}
	c.Stop()
	r := c.Result(metric.Window{From: from, To: time.Now().UnixNano()})
	if len(r.Endpoints) != 1 || len(r.Endpoints[0].GPUs) != 2 || len(r.Errors) != 0 || len(warned) != 0 || !l.closed {
		t.Fatalf("%+v, warnings %q, closed %t", r, warned, l.closed)
	}
	want := []map[string]float64{
		{
			"nvidia_power_usage": 402.1, "nvidia_energy_consumption": 0.003, "nvidia_gpu_utilization": 97, "nvidia_memory_utilization": 33, "nvidia_memory_used": 81,
			"nvidia_temperature": 61, "nvidia_decoder_utilization": 7, "nvidia_sm_utilization": 15, "nvidia_power_violation": 0,
		},
		{
			"nvidia_power_usage": 99, "nvidia_gpu_utilization": 97, "nvidia_memory_utilization": 33, "nvidia_memory_used": 81,
			"nvidia_temperature": 61, "nvidia_decoder_utilization": 7, "nvidia_sm_utilization": 90, "nvidia_power_violation": 0,
		},
	}
	for i, g := range r.Endpoints[0].GPUs {
		if len(g.Metrics) != len(want[i]) || g.Name != "NVIDIA H100 80GB HBM3" || g.UUID != []string{"GPU-a", "GPU-unknown-2"}[i] || g.Index != 2*i {
			t.Errorf("%+v", g)
		}
		for _, m := range g.Metrics {
			if v, told := want[i][m.Tag]; !told || math.Abs(m.Values[metric.Avg]-v) > 1e-9 {
				t.Errorf("GPU %d %s: %v, want %v", i, m.Tag, m.Values[metric.Avg], v)
			}
		}
	}
}

// TestNVMLRefusals: without energy there is one warning; without GPUs or when the library refuses there is an error that says it.
func TestNVMLRefusals(t *testing.T) {
	var warned []string
	l := played()
	delete(l.functions, "nvmlDeviceGetTotalEnergyConsumption")
	c, err := openNVML(t.Context(), nvmlOptions(&warned), l)
	if err != nil || len(warned) != 1 || !strings.Contains(warned[0], "energy counter") {
		t.Fatal(err, warned)
	}
	l.broken = errors.New("the driver hangs")
	c.Once(t.Context(), time.Minute)
	c.Stop()
	if r := c.Result(metric.Window{To: time.Now().UnixNano()}); len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Error.Message, "the driver hangs") || len(r.Endpoints) != 1 {
		t.Errorf("%+v", r)
	}
	for name, spoil := range map[string]func(*stage){
		"cannot be started (status 9)":  func(s *stage) { s.functions["nvmlInit_v2"] = func([6]uint64, []byte) int32 { return 9 } },
		"cannot be started (status 13)": func(s *stage) { delete(s.functions, "nvmlInit_v2") },
		"does not count the GPUs":       func(s *stage) { s.functions["nvmlDeviceGetCount_v2"] = func([6]uint64, []byte) int32 { return 999 } },
		"knows no GPU":                  func(s *stage) { s.functions["nvmlDeviceGetCount_v2"] = func([6]uint64, []byte) int32 { return 0 } },
		"the driver hangs":              func(s *stage) { s.broken = errors.New("the driver hangs") },
	} {
		l := played()
		spoil(l)
		if _, err := openNVML(context.Background(), nvmlOptions(&warned), l); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
