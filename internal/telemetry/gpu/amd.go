package gpu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/telemetry"
)

// AMDURL is the source name for samples of AMD's GPUs of this machine.
const AMDURL = "amdsmi://localhost"

// The collector of AMD's GPUs runs amd-smi, which is part of the driver, at every interval: `amd-smi metric --json`. It runs `amd-smi list --json` and
// `amd-smi static --asic --json` once, to identify the GPUs. Versions use different names; a figure that a GPU does not have is "N/A".

// maxJSON limits the size of one output, in bytes.
const maxJSON = 16 << 20

// quantity is a figure of amd-smi: a number, a string with a number, or {"value", "unit"}.
type quantity struct {
	value float64
	unit  string
	known bool
}

// UnmarshalJSON implements json.Unmarshaler. An invalid figure is unknown and not an error, so that the others are still read.
func (q *quantity) UnmarshalJSON(text []byte) error {
	*q = quantity{}
	var object struct {
		Value json.RawMessage `json:"value"`
		Unit  string          `json:"unit"`
	}
	if json.Unmarshal(text, &object) == nil && object.Value != nil {
		text, q.unit = object.Value, object.Unit
	}
	words := strings.Fields(strings.Trim(strings.TrimSpace(string(text)), `"`))
	if len(words) == 0 {
		return nil
	}
	if v, err := strconv.ParseFloat(words[0], 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		q.value, q.known = v, true
	}
	if len(words) > 1 {
		q.unit = words[1]
	}
	return nil
}

// amdMetric holds the figures of amd-smi metric for one GPU, by section. A section that a GPU does not have is a string.
type amdMetric map[string]json.RawMessage

// at returns a figure of a section; section "" is the GPU itself.
func (m amdMetric) at(section, key string) (q quantity) {
	of := m
	if section != "" {
		of = nil
		if json.Unmarshal(m[section], &of) != nil {
			return q
		}
	}
	_ = q.UnmarshalJSON(of[key]) // an invalid figure is unknown
	return q
}

// amdDevice is the description of one GPU by amd-smi list and static.
type amdDevice struct {
	GPU  quantity `json:"gpu"`
	UUID string   `json:"uuid"`
	BDF  string   `json:"bdf"`
	ASIC struct {
		Name string `json:"market_name"`
	} `json:"asic"`
}

// amdList parses an output: a list of GPUs, or one below gpu_data.
func amdList[T any](text []byte) ([]T, error) {
	var list []T
	err := json.Unmarshal(text, &list)
	if err == nil {
		return list, nil
	}
	var below struct {
		List []T `json:"gpu_data"`
	}
	if json.Unmarshal(text, &below) == nil && below.List != nil {
		return below.List, nil
	}
	return nil, fmt.Errorf("cannot read the list of GPUs: %w", err)
}

// memoryUnits convert to GB, energyUnits to MJ.
var (
	memoryUnits = map[string]float64{"B": 1e-9, "KB": 1024e-9, "MB": mebibyte, "MiB": mebibyte, "GB": 1.073741824, "GiB": 1.073741824}
	energyUnits = map[string]float64{"uJ": 1e-12, "mJ": 1e-9, "J": 1e-6, "kJ": 1e-3, "MJ": 1}
)

// amdSources lists where each figure may be; the first that exists counts.
var amdSources = []struct {
	tag   string
	units map[string]float64 // nil = there is only one unit
	from  [][2]string
}{
	{"amd_power", nil, [][2]string{{"power", "socket_power"}, {"power", "current_socket_power"}, {"power", "average_socket_power"}}},
	{"amd_energy_consumption", energyUnits, [][2]string{{"energy", "total_energy_consumption"}}},
	{"amd_gfx_activity", nil, [][2]string{{"usage", "gfx_activity"}}},
	{"amd_umc_activity", nil, [][2]string{{"usage", "umc_activity"}}},
	{"amd_mm_activity", nil, [][2]string{{"usage", "mm_activity"}}},
	{"amd_memory_used", memoryUnits, [][2]string{{"mem_usage", "used_vram"}}},
	{"amd_temperature", nil, [][2]string{{"temperature", "junction"}, {"temperature", "hotspot"}}},
	{"amd_ecc_uncorrectable", nil, [][2]string{{"ecc", "total_uncorrectable_count"}, {"ecc", "total_uncorrected_count"}}},
}

// values returns the figures by tag. Old drivers report temperatures in thousandths.
func (m amdMetric) values() map[string]float64 {
	out := map[string]float64{}
	for _, s := range amdSources {
		for _, place := range s.from {
			q := m.at(place[0], place[1])
			scale := 1.0
			if s.units != nil {
				scale = s.units[q.unit]
			}
			if _, there := out[s.tag]; q.known && !there && q.value >= 0 && scale > 0 {
				out[s.tag] = q.value * scale
			}
		}
	}
	if v := out["amd_temperature"]; v >= 1000 {
		out["amd_temperature"] = v / 1000
	}
	if v, told := m.throttled(); told {
		out["amd_throttle_status"] = v
	}
	return out
}

// amdViolations lists what newer versions report instead of one status.
var amdViolations = []string{"prochot", "ppt", "socket_thermal", "vr_thermal", "hbm_thermal"}

// throttled returns 1 while a GPU is throttled, else 0.
func (m amdMetric) throttled() (v float64, told bool) {
	words := []string{m.word("power", "throttle_status")}
	for _, name := range amdViolations {
		words = append(words, m.word("throttle", name+"_violation_status"))
	}
	for _, word := range words {
		switch word {
		case "THROTTLED", "ACTIVE", "1", "TRUE":
			return 1, true
		case "UNTHROTTLED", "NOT ACTIVE", "0", "FALSE":
			told = true
		}
	}
	return 0, told
}

// word returns a string of a section in capitals; "" if there is none.
func (m amdMetric) word(section, key string) string {
	var of map[string]json.RawMessage
	if json.Unmarshal(m[section], &of) != nil {
		return ""
	}
	return strings.ToUpper(strings.Trim(string(of[key]), `"`))
}

// amdSMI is the program and the identified GPUs.
type amdSMI struct {
	command string
	devices map[int]Device
}

// OpenAMD starts the collector of AMD's GPUs of this machine and waits for its first reading. command is the program, usually amd-smi.
func OpenAMD(ctx context.Context, o Options, command string) (*Collector, error) {
	c := &Collector{Options: o, fields: NewFields("amd", nil), configured: []string{AMDURL}, successful: []string{AMDURL}}
	c.series = NewSeries(c.fields)
	c.Watch = telemetry.NewWatch(nil, o.Cadence)
	a := &amdSMI{command: command, devices: map[int]Device{}}
	ask := func(ctx context.Context) ([]amdMetric, error) {
		text, err := a.ask(ctx, "metric", "--json")
		if err != nil {
			return nil, err
		}
		return amdList[amdMetric](text)
	}
	first, cancel := context.WithTimeout(ctx, o.Reachable)
	defer cancel()
	list, err := ask(first)
	if err == nil && len(list) == 0 {
		err = errors.New("no GPU found")
	}
	if err != nil {
		return nil, fmt.Errorf("the GPUs of this machine cannot be read: %w", err)
	}
	a.identify(first)
	c.takeAMD(a, list)
	c.local = c.poll(ctx, AMDURL, func(ctx context.Context) error {
		list, err := ask(ctx)
		if err == nil && ctx.Err() == nil {
			c.takeAMD(a, list)
		}
		return err
	})
	return c, nil
}

// ask runs the program once.
func (a *amdSMI) ask(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, a.command, args...)
	cmd.WaitDelay = time.Second // its children may keep the pipe open
	var out, errs limitedBuffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %.200q", a.command, args[0], err, out.text(errs.b))
	}
	return out.b, nil
}

// limitedBuffer stores the first maxJSON bytes.
type limitedBuffer struct{ b []byte }

func (l *limitedBuffer) Write(b []byte) (int, error) {
	l.b = append(l.b, b[:min(len(b), maxJSON-len(l.b))]...)
	return len(b), nil
}

// text returns the content, or other if it is empty.
func (l *limitedBuffer) text(other []byte) string {
	if len(other) > 0 {
		return string(other)
	}
	return string(l.b)
}

// identify reads the descriptions of the GPUs. Missing values get placeholders.
func (a *amdSMI) identify(ctx context.Context) {
	for _, args := range [][]string{{"list", "--json"}, {"static", "--asic", "--json"}} {
		text, err := a.ask(ctx, args...)
		if err != nil {
			continue
		}
		list, err := amdList[amdDevice](text)
		if err != nil {
			continue
		}
		for i, d := range list {
			n := d.GPU.index(i)
			one := a.devices[n]
			for _, f := range []struct {
				to   *string
				from string
			}{{&one.UUID, d.UUID}, {&one.PCIBus, d.BDF}, {&one.Model, d.ASIC.Name}} {
				if f.from != "" && f.from != "N/A" {
					*f.to = f.from
				}
			}
			a.devices[n] = one
		}
	}
}

// index returns the number of a GPU, or its place in the list if it has none.
func (q *quantity) index(place int) int {
	if q.known && q.value >= 0 && q.value < 1<<16 {
		return int(q.value)
	}
	return place
}

func (c *Collector) takeAMD(a *amdSMI, list []amdMetric) {
	at := time.Now().UnixNano()
	for i := range list {
		number := list[i].at("", "gpu")
		n := number.index(i)
		d := a.devices[n]
		d.Index, d.Device, d.Hostname, d.Platform = n, "amd"+strconv.Itoa(n), "localhost", "amd"
		if d.UUID == "" {
			d.UUID = "GPU-unknown-" + strconv.Itoa(n)
		}
		if d.Model == "" {
			d.Model = "Unknown GPU"
		}
		one := &Sample{At: at, Source: AMDURL, Values: c.fields.none(), Device: d}
		for tag, v := range list[i].values() {
			one.Values[c.fields.byTag[tag]] = v
		}
		c.add(one)
	}
}
