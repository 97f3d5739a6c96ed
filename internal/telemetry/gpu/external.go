package gpu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/telemetry"
)

// Category is the category of plug-ins that read GPUs.
const Category = "gpu_telemetry_collector"

// external is a plug-in that reads GPUs, at every interval.
type external struct {
	*poller
	program *program.Program
	source  string
	vendor  string // prefix of the tags of its figures
}

// reading is the result of collect.
type reading struct {
	GPUs []struct {
		Index    *int                `json:"gpu_index"`
		UUID     string              `json:"uuid"`
		Model    string              `json:"model"`
		Hostname string              `json:"hostname"`
		Metrics  map[string]*float64 `json:"metrics"`
	} `json:"gpus"`
}

// OpenExternal starts the program of a plug-in and takes its first reading, which decides the vendor and the additional figures.
func OpenExternal(ctx context.Context, o Options, e *plugin.Entry) (*Collector, error) {
	p, err := program.Start(context.WithoutCancel(ctx), program.Of(e, func(line string) { o.Log.Info(line) }, "collect"))
	if err != nil {
		return nil, err
	}
	x := &external{program: p, source: e.Name + "://localhost"}
	first, err := x.begin(ctx, o)
	if err != nil {
		_ = p.Close() // the first error is the reason
		return nil, err
	}
	c := &Collector{Options: o, fields: x.fields(first), configured: []string{x.source}, successful: []string{x.source}}
	c.series = NewSeries(c.fields)
	c.Watch = telemetry.NewWatch(nil, o.Cadence)
	c.takeExternal(x, first)
	x.poller = c.poll(ctx, x.source, func(ctx context.Context) error {
		list, err := x.collect(ctx)
		if err == nil && ctx.Err() == nil {
			c.takeExternal(x, list)
		}
		return err
	})
	c.local = x
	return c, nil
}

// begin starts the readings and takes the first one.
func (x *external) begin(ctx context.Context, o Options) (*reading, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Reachable)
	defer cancel()
	if x.program.Has("start") {
		if err := x.program.Call(ctx, "start", map[string]any{"interval_ms": o.Cadence.Interval.Milliseconds()}, &struct{}{}); err != nil {
			return nil, err
		}
	}
	first, err := x.collect(ctx)
	if err == nil && len(first.GPUs) == 0 {
		err = errors.New("no GPU found")
	}
	return first, err
}

// collect takes one reading and checks it.
func (x *external) collect(ctx context.Context) (*reading, error) {
	r := new(reading)
	if err := x.program.Call(ctx, "collect", map[string]any{}, r); err != nil {
		return nil, err
	}
	seen := map[int]bool{}
	for i, g := range r.GPUs {
		switch {
		case i >= maxGPUs:
			return nil, fmt.Errorf("%s: more than %d GPUs", x.source, maxGPUs)
		case g.Index == nil || *g.Index < 0:
			return nil, fmt.Errorf(`%s: gpus[%d] has no "gpu_index" of 0 or more`, x.source, i)
		case seen[*g.Index]:
			return nil, fmt.Errorf("%s: gpu_index %d occurs twice", x.source, *g.Index)
		}
		seen[*g.Index] = true
	}
	return r, nil
}

// fields returns the figures of the vendor, and those of the reading that no vendor has.
func (x *external) fields(first *reading) *Fields {
	x.vendor = "nvidia"
	names := map[string]bool{}
	for _, g := range first.GPUs {
		for name := range g.Metrics {
			names[name] = true
			if strings.HasPrefix(name, "amd_") {
				x.vendor = "amd"
			}
		}
	}
	known := NewFields(x.vendor, nil)
	var more []Field
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if _, is := known.byTag[x.tag(known, name)]; !is {
			more = append(more, Field{Tag: name, Name: name, Scale: 1})
		}
	}
	return NewFields(x.vendor, more)
}

// tag returns the tag of a figure: the name itself, or with the prefix of the vendor. "gpu_power_usage" is the name of earlier releases.
func (x *external) tag(f *Fields, name string) string {
	for _, tag := range []string{name, x.vendor + "_" + name, x.vendor + "_" + strings.TrimPrefix(name, "gpu_")} {
		if _, known := f.byTag[tag]; known {
			return tag
		}
	}
	return name
}

// takeExternal makes the samples of a reading. A figure that the first reading did not have, or that is null, is missing.
func (c *Collector) takeExternal(x *external, r *reading) {
	at := time.Now().UnixNano()
	for _, g := range r.GPUs {
		one := &Sample{At: at, Source: x.source, Values: c.fields.none()}
		one.Device = Device{Index: *g.Index, UUID: g.UUID, Model: g.Model, Hostname: g.Hostname, Platform: x.vendor}
		if one.UUID == "" {
			one.UUID = fmt.Sprintf("GPU-unknown-%d", one.Index)
		}
		if one.Model == "" {
			one.Model = "Unknown GPU"
		}
		for name, v := range g.Metrics {
			if i, known := c.fields.byTag[x.tag(c.fields, name)]; known && v != nil && !math.IsInf(*v, 0) {
				one.Values[i] = *v
			}
		}
		c.add(one)
	}
}

// stop implements local.
func (x *external) stop() {
	x.poller.stop()
	_ = x.program.Close() // a fault has failed its readings, which were counted
}
