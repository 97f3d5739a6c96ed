// Package gpu computes GPU figures from the data of exporters. Rules: telemetry, section 1.
package gpu

// Field is one figure of a GPU.
type Field struct {
	Source  string // name in the exporter's page; "" = only the vendor's library provides it
	Tag     string // in files
	Name    string // in tables
	Unit    string
	Scale   float64 // factor from the source to Unit
	Counter bool    // increasing; the figure of a run is the increase
}

// mebibyte is a mebibyte in gigabytes.
const mebibyte = 1.048576e-3

// nvidia lists the figures of NVIDIA's GPUs, in the order of tables and files. Sources: field identifiers of the Data Center GPU Manager.
var nvidia = []Field{
	{"DCGM_FI_DEV_POWER_USAGE", "nvidia_power_usage", "NVIDIA GPU Power Usage", "W", 1, false},
	{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "nvidia_energy_consumption", "NVIDIA Energy Consumption", "MJ", 1e-9, true}, // mJ
	{"DCGM_FI_DEV_GPU_UTIL", "nvidia_gpu_utilization", "NVIDIA GPU Utilization", "%", 1, false},
	{"DCGM_FI_DEV_MEM_COPY_UTIL", "nvidia_memory_utilization", "NVIDIA Memory Utilization", "%", 1, false},
	{"DCGM_FI_DEV_FB_USED", "nvidia_memory_used", "NVIDIA GPU Memory Used", "GB", mebibyte, false},
	{"DCGM_FI_DEV_GPU_TEMP", "nvidia_temperature", "NVIDIA GPU Temperature", "°C", 1, false},
	{"DCGM_FI_PROF_SM_ACTIVE", "nvidia_sm_utilization", "NVIDIA SM Utilization", "%", 100, false},
	{"DCGM_FI_DEV_DEC_UTIL", "nvidia_decoder_utilization", "NVIDIA Decoder Utilization", "%", 1, false},
	{"DCGM_FI_DEV_ENC_UTIL", "nvidia_encoder_utilization", "NVIDIA Encoder Utilization", "%", 1, false},
	{"", "nvidia_jpg_utilization", "NVIDIA JPEG Utilization", "%", 1, false},
	{"DCGM_FI_DEV_XID_ERRORS", "nvidia_xid_errors", "NVIDIA XID Errors", "count", 1, true},
	{"DCGM_FI_DEV_POWER_VIOLATION", "nvidia_power_violation", "NVIDIA Power Violation", "us", 1e-3, true},
}

// amd lists the figures of AMD's GPUs.
var amd = []Field{
	{"", "amd_power", "AMD Power", "W", 1, false},
	{"", "amd_energy_consumption", "AMD Energy Consumption", "MJ", 1, true},
	{"", "amd_gfx_activity", "AMD GFX Activity", "%", 1, false},
	{"", "amd_umc_activity", "AMD UMC Activity", "%", 1, false},
	{"", "amd_mm_activity", "AMD MM Activity", "%", 1, false},
	{"", "amd_memory_used", "AMD Memory Used", "GB", 1, false},
	{"", "amd_temperature", "AMD Temperature", "°C", 1, false},
	{"", "amd_ecc_uncorrectable", "AMD ECC Uncorrectable", "count", 1, true},
	{"", "amd_throttle_status", "AMD Throttle Status", "count", 1, false},
}

// Old lists additional figures of NVIDIA's GPUs in GenAI-Perf, for runs under its name.
var Old = []Field{
	{"DCGM_FI_DEV_POWER_MGMT_LIMIT", "nvidia_power_limit", "NVIDIA GPU Power Limit", "W", 1, false},
	{"DCGM_FI_DEV_FB_TOTAL", "nvidia_memory_total", "NVIDIA GPU Memory Total", "GB", mebibyte, false},
	{"DCGM_FI_DEV_FB_FREE", "nvidia_memory_free", "NVIDIA GPU Memory Free", "GB", mebibyte, false},
	{"DCGM_FI_DEV_MEMORY_TEMP", "nvidia_memory_temperature", "NVIDIA GPU Memory Temperature", "°C", 1, false},
	{"DCGM_FI_DEV_SM_CLOCK", "nvidia_sm_clock", "NVIDIA SM Clock", "MHz", 1, false},
	{"DCGM_FI_DEV_MEM_CLOCK", "nvidia_memory_clock", "NVIDIA Memory Clock", "MHz", 1, false},
}

// usual lists the figures that are known by their tags.
var usual = [][]Field{nvidia, amd, Old}

// Fields is a table of figures in their order.
type Fields struct {
	list     []Field
	bySource map[string]int
	byTag    map[string]int
}

// NewFields returns the figures of a vendor (nvidia, amd) and additional ones. If several fields have one source or tag, the first counts.
func NewFields(platform string, more []Field) *Fields {
	f := &Fields{bySource: map[string]int{}, byTag: map[string]int{}}
	own := nvidia
	if platform == "amd" {
		own = amd
	}
	for _, list := range [][]Field{own, more} {
		for _, one := range list {
			_, read := f.bySource[one.Source]
			if _, known := f.byTag[one.Tag]; read || known {
				continue
			}
			if one.Source != "" {
				f.bySource[one.Source] = len(f.list)
			}
			f.byTag[one.Tag] = len(f.list)
			f.list = append(f.list, one)
		}
	}
	return f
}

// NameOf returns the display name of a tag; "" if it is unknown.
func NameOf(tag string) string {
	for _, list := range usual {
		for _, f := range list {
			if f.Tag == tag {
				return f.Name
			}
		}
	}
	return ""
}

// UnitOf returns the unit of a tag; "" if it is unknown.
func UnitOf(tag string) string {
	for _, list := range usual {
		for _, f := range list {
			if f.Tag == tag {
				return f.Unit
			}
		}
	}
	return ""
}
