package artifact

import (
	"path/filepath"
	"strings"

	"aiperf/internal/base/redact"
)

// Layout holds the file names of one run.
type Layout struct {
	Dir     string
	Secrets *redact.Secrets // secrets that no file may contain; nil = none known
	NoJSON  bool            // write no summary JSON
	prefix  string          // without a known suffix; "" = the default names
}

// knownSuffixes are removed from a prefix; the first match counts.
var knownSuffixes = []string{
	"_server_metrics.parquet", "_server_metrics.jsonl", "_server_metrics.json", "_server_metrics.csv", "_network_latency.jsonl", "_client_machine.jsonl",
	"_gpu_telemetry.jsonl", "_timeline.jsonl", "_timeslices.json", "_timeslices.csv", "_accuracy.jsonl", "_console.txt", "_raw.jsonl",
	".parquet", ".jsonl", ".json", ".csv",
}

// NewLayout returns the file names of a run. prefix is --profile-export-prefix ("" = default names), relative to dir or absolute.
func NewLayout(dir, prefix string) Layout {
	for _, s := range knownSuffixes {
		if cut, ok := strings.CutSuffix(prefix, s); ok && cut != "" {
			prefix = cut
			break
		}
	}
	return Layout{Dir: dir, prefix: prefix}
}

// named returns the path of a file whose name depends on the prefix.
func (l Layout) named(standard, suffix string) string {
	switch {
	case l.prefix == "":
		return filepath.Join(l.Dir, standard)
	case filepath.IsAbs(l.prefix):
		return l.prefix + suffix
	}
	return filepath.Join(l.Dir, l.prefix+suffix)
}

// SummaryJSON is the file of the summary in JSON.
func (l Layout) SummaryJSON() string { return l.named("profile_export_aiperf.json", ".json") }

// SummaryCSV is the file of the summary in CSV.
func (l Layout) SummaryCSV() string { return l.named("profile_export_aiperf.csv", ".csv") }

// Records is the file of the records, one line a request.
func (l Layout) Records() string { return l.named("profile_export.jsonl", ".jsonl") }

// Raw is the file of requests and answers as they went over the wire.
func (l Layout) Raw() string { return l.named("profile_export_raw.jsonl", "_raw.jsonl") }

// SlicesCSV is the file of the time slices in CSV.
func (l Layout) SlicesCSV() string {
	return l.named("profile_export_aiperf_timeslices.csv", "_timeslices.csv")
}

// SlicesJSON is the file of the time slices in JSON.
func (l Layout) SlicesJSON() string {
	return l.named("profile_export_aiperf_timeslices.json", "_timeslices.json")
}

// Console is the file of the console's text.
func (l Layout) Console() string { return l.named("profile_export_console.txt", "_console.txt") }

// GPUTelemetry is the file of GPU samples.
func (l Layout) GPUTelemetry() string {
	return l.named("gpu_telemetry_export.jsonl", "_gpu_telemetry.jsonl")
}

// ServerMetrics is the file of server metrics in a format (json, csv, jsonl, parquet).
func (l Layout) ServerMetrics(format string) string {
	return l.named("server_metrics_export."+format, "_server_metrics."+format)
}

// NetworkLatency returns the path of the file with the network probes.
func (l Layout) NetworkLatency() string {
	return l.named("profile_export_network_latency.jsonl", "_network_latency.jsonl")
}

// ClientMachine is the file with the state of this machine while it sent requests.
func (l Layout) ClientMachine() string {
	return l.named("profile_export_client_machine.jsonl", "_client_machine.jsonl")
}

// MLflow is the file that says where the results are on an MLflow server; it ignores the prefix.
func (l Layout) MLflow() string { return filepath.Join(l.Dir, "mlflow_export.json") }

// Machines is the file about the machines that sent the requests; it ignores the prefix.
func (l Layout) Machines() string { return filepath.Join(l.Dir, "machines.json") }

// MachineFiles are the names of the files that each of several machines sends to the controller.
var MachineFiles = []string{"aiperf.log", "client_machine.jsonl"}

// Machine is a file of one of several machines, by one of MachineFiles.
func (l Layout) Machine(name, file string) string {
	return filepath.Join(l.Dir, "machines", name, file)
}

// Timeline is the file of the run second by second.
func (l Layout) Timeline() string {
	return l.named("profile_export_timeline.jsonl", "_timeline.jsonl")
}

// Inputs is the file of request bodies; it ignores the prefix.
func (l Layout) Inputs() string { return filepath.Join(l.Dir, "inputs.json") }

// Outputs is the file of answers; it ignores the prefix.
func (l Layout) Outputs() string { return filepath.Join(l.Dir, "outputs.json") }

// Log is the program's log; it ignores the prefix.
func (l Layout) Log() string { return filepath.Join(l.Dir, "logs", "aiperf.log") }
