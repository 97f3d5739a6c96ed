package metric

import (
	"math"
	"strings"
)

// GPUTelemetry holds the GPU metrics of the profiling phases and their sources. It is plain data.
type GPUTelemetry struct {
	Configured []string // URLs for the console: the user's, then the defaults that answered
	Successful []string // URLs that answered, in the order of the requests
	Window     Window   // wall time of the figures; its end includes the time for the last scrape
	Endpoints  []GPUEndpoint
	Errors     []ErrorGroup // errors of scrapes

	// Energy is the energy of all GPUs by platform in the profiling phases, in J. A platform that is missing uses the increase of its energy counters.
	Energy map[string]float64
}

// GPUEndpoint is one exporter, or a library on this machine.
type GPUEndpoint struct {
	Name string // URL without its scheme and /metrics
	GPUs []GPU
}

// GPU is one device. Empty texts mean unknown.
type GPU struct {
	Index                    int
	Name, UUID, Platform     string // nvidia, amd
	Hostname, Namespace, Pod string
	Metrics                  []GPUMetric // in the order of the table of fields
}

// GPUMetric is one metric of a GPU. A counter has only an average: its increase in the window.
type GPUMetric struct {
	Tag, Name, Unit string
	Values          [Stats]float64 // NaN = missing
}

// NoStats returns statistics that are all missing.
func NoStats() [Stats]float64 { return noStats() }

// Has reports whether a statistic exists.
func (m *GPUMetric) Has(s Stat) bool { return !math.IsNaN(m.Values[s]) && !math.IsInf(m.Values[s], 0) }

// Platforms lists the vendors, in the order of the tables.
var Platforms = []string{"nvidia", "amd"}

// joulesPer maps units of energy counters to joules.
var joulesPer = map[string]float64{"MJ": 1e6, "kJ": 1e3, "J": 1}

// fleet returns the consumption of all GPUs of a vendor: their energy, in J, and the sum of their mean powers, in W. NaN = no GPU reports it.
func (t *GPUTelemetry) fleet(platform string) (energy, power float64) {
	energy, power = math.NaN(), math.NaN()
	add := func(sum *float64, v float64) {
		if math.IsNaN(*sum) {
			*sum = 0
		}
		*sum += v
	}
	for _, e := range t.Endpoints {
		for _, g := range e.GPUs {
			if g.Platform != platform {
				continue
			}
			for _, m := range g.Metrics {
				switch {
				case !m.Has(Avg):
				case m.Tag == platform+"_energy_consumption":
					add(&energy, m.Values[Avg]*joulesPer[m.Unit])
				case m.Tag == platform+"_power_usage" || m.Tag == platform+"_power":
					add(&power, m.Values[Avg])
				}
			}
		}
	}
	if known, ok := t.Energy[platform]; ok {
		energy = known
	}
	return energy, power
}

// Joules returns the energy of all GPUs of a vendor, NaN if it is unknown.
func (t *GPUTelemetry) Joules(platform string) float64 {
	energy, _ := t.fleet(platform)
	return energy
}

// AddEfficiency adds the metrics that relate the work of the run to the power of the GPUs. concurrency is the number of users, 0 = not fixed.
// Formulas: telemetry, section 1.10.
func (s *Summary) AddEfficiency(t *GPUTelemetry, concurrency int) {
	if t == nil {
		return
	}
	for _, platform := range Platforms {
		energy, power := t.fleet(platform)
		s.addEfficiency(platform, energy, power, concurrency)
	}
}

func (s *Summary) addEfficiency(platform string, energy, power float64, concurrency int) {
	seconds := s.Value("benchmark_duration", Avg)
	average := power
	if energy > 0 {
		average = energy / seconds
	} else {
		energy = power * seconds
	}
	get := func(tag string) float64 { return s.Value(tag, Avg) }
	osl := get("total_osl")
	if math.IsNaN(osl) {
		osl = get("total_output_tokens")
	}
	isl := get("total_isl")
	users := math.NaN()
	if concurrency > 0 {
		users = float64(concurrency)
	}
	perRequest := energy / get("request_count")
	for name, v := range map[string]float64{
		"energy_delay_product": perRequest * get("request_latency") / 1e3, "performance_per_watt": get("request_throughput") / average,
		"output_tps_per_watt": get("output_token_throughput") / average, "goodput_per_watt": get("goodput") / average,
		"average_gpu_power": average, "total_gpu_energy": energy, "total_gpu_power": power,
		"energy_per_total_token": energy * 1e3 / (isl + osl), "energy_per_output_token": energy * 1e3 / osl, "energy_per_request": perRequest,
		"output_tokens_per_joule": osl / energy, "energy_per_user": energy / users,
	} {
		s.put(platform+"_"+name, v)
	}
	s.sort()
}

// efficiency returns the definitions for one vendor. The first one has the given order in the console.
func efficiency(platform string, order int) []Metric {
	list := []Metric{
		{Tag: "energy_delay_product", Header: "Energy Delay Product", Unit: "J*s", Better: Smaller},
		{Tag: "performance_per_watt", Header: "Performance per Watt", Unit: "requests/sec/W", Order: 10, Better: Larger},
		{Tag: "output_tps_per_watt", Header: "Output Tokens per Second per Watt", Unit: "tokens/sec/W", Order: 12, Better: Larger, Flags: Tokens},
		{Tag: "goodput_per_watt", Header: "Goodput per Watt", Unit: "good-req/s/W", Order: 14, Better: Larger},
		{Tag: "average_gpu_power", Header: "Average GPU Power", Unit: "W", Order: 20, Better: Smaller},
		{Tag: "total_gpu_energy", Header: "Total GPU Energy", Unit: "J", Order: 30, Better: Smaller},
		{Tag: "total_gpu_power", Header: "Total GPU Power", Unit: "W", Order: 40, Better: Smaller},
		{Tag: "energy_per_total_token", Header: "Energy per Total Token", Unit: "mJ/token", Order: 45, Better: Smaller},
		{Tag: "energy_per_output_token", Header: "Energy per Output Token", Unit: "mJ/token", Order: 50, Better: Smaller, Flags: Tokens},
		{Tag: "energy_per_request", Header: "Energy per Request", Unit: "joules/request", Order: 55, Better: Smaller},
		{Tag: "output_tokens_per_joule", Header: "Output Tokens per Joule", Unit: "tokens/J", Order: 60, Better: Larger, Flags: Tokens},
		{Tag: "energy_per_user", Header: "Energy per User", Unit: "joules/user", Order: 65, Better: Smaller},
	}
	for i := range list {
		m := &list[i]
		m.Tag, m.Display, m.Kind, m.Group = platform+"_"+m.Tag, m.Unit, External, PowerGroup(platform)
		m.Order += order
		m.Flags |= WholeRun
	}
	return list
}

// PowerGroup returns the name of the console table of a vendor's power efficiency.
func PowerGroup(platform string) string { return "gpu_power_efficiency_" + platform }

// PowerTitle returns the title of that table.
func PowerTitle(platform string) string {
	return "GPU Power Efficiency (" + strings.ToUpper(platform) + ")"
}
