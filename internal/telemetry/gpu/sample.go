package gpu

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/sorting"
	"aiperf/internal/telemetry/exposition"
)

// Device identifies the GPU of a sample. Empty strings are unknown.
type Device struct {
	Index              int
	UUID, Model        string
	PCIBus, Device     string
	Hostname           string
	Namespace, PodName string
	Platform           string // nvidia, amd
}

// Sample holds the values of one GPU at one instant in the units of the fields; NaN = missing.
type Sample struct {
	Device
	At     int64 // wall, ns
	Source string
	Values []float64 // by field
}

// Page makes samples from an exporter's page, one per GPU in the order of their indices. Samples without an index or a known field are ignored.
func (f *Fields) Page(page *exposition.Page, at int64, source string) []Sample {
	byIndex := map[int]*Sample{}
	for _, family := range page.Families {
		for i := range family.Samples {
			f.take(byIndex, &family.Samples[i])
		}
	}
	var out []Sample
	for _, s := range byIndex {
		if slices.ContainsFunc(s.Values, func(v float64) bool { return !math.IsNaN(v) }) {
			s.At, s.Source, s.Platform = at, source, "nvidia"
			out = append(out, *s)
		}
	}
	sorting.Sort(out, func(a, b Sample) int { return a.Index - b.Index })
	return out
}

// maxGPUs is the largest number of GPUs of one page.
const maxGPUs = 4096

func (f *Fields) take(byIndex map[int]*Sample, in *exposition.Sample) {
	index, err := strconv.Atoi(in.Label("gpu"))
	if err != nil || index < 0 || math.IsNaN(in.Value) || math.IsInf(in.Value, 0) {
		return
	}
	s := byIndex[index]
	if s == nil {
		if len(byIndex) >= maxGPUs {
			return
		}
		s = &Sample{Values: f.none()}
		s.Index = index
		byIndex[index] = s
	}
	for _, l := range in.Labels {
		switch l.Name {
		case "UUID":
			s.UUID = l.Value
		case "modelName":
			s.Model = l.Value
		case "pci_bus_id":
			s.PCIBus = l.Value
		case "device":
			s.Device.Device = l.Value
		case "Hostname", "hostname":
			s.Hostname = l.Value
		case "namespace":
			s.Namespace = l.Value
		case "pod":
			s.PodName = l.Value
		}
	}
	if at, ok := f.bySource[strings.TrimSuffix(in.Name, "_total")]; ok {
		s.Values[at] = in.Value * f.list[at].Scale
	}
}

// none returns a list of missing values.
func (f *Fields) none() []float64 {
	v := make([]float64, len(f.list))
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}

// AppendLine writes a sample as a line of gpu_telemetry_export.jsonl.
func (f *Fields) AppendLine(dst []byte, s *Sample, source string) []byte {
	o := jsontext.Open(dst)
	o.Int("gpu_index", int64(s.Index))
	o.Text("gpu_uuid", s.UUID)
	o.Text("gpu_model_name", s.Model)
	o.TextIfAny("pci_bus_id", s.PCIBus)
	o.TextIfAny("device", s.Device.Device)
	o.TextIfAny("hostname", s.Hostname)
	o.TextIfAny("namespace", s.Namespace)
	o.TextIfAny("pod_name", s.PodName)
	o.Text("platform", s.Platform)
	o.Int("timestamp_ns", s.At)
	o.Text("telemetry_source_url", source)
	o.Key("telemetry_data")
	d := jsontext.Open(o.B)
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			d.Float(f.list[i].Tag, v)
		}
	}
	o.B = d.Close()
	return append(o.Close(), '\n')
}
