package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/redact"
	"aiperf/internal/measure/metric"
)

// Phase is one phase of a run with several: its position, and its statistics as if it were a separate run.
type Phase struct {
	metric.Run
	Name           string
	Index          int // among all phases
	ProfilingIndex int // among profiling phases; -1 in a warm-up
	Warmup         bool
	Watched        []PhaseFile // readings of servers and GPUs in the phase; empty = none
}

// PhaseFile is a file with readings taken during one phase next to its requests.
type PhaseFile struct {
	Name string          // file name below the phase's directory; it ignores the prefix
	Data json.RawMessage // its member "data"
}

// Names of the files with readings of one phase.
const (
	PhaseServerMetrics = "server_metrics.json"
	PhaseGPUTelemetry  = "gpu_telemetry.json"
)

// phaseFiles lists these files.
var phaseFiles = []string{PhaseGPUTelemetry, PhaseServerMetrics}

// manifestKey returns the key of a file in the list of phases.
func manifestKey(file string) string { return strings.ReplaceAll(file, ".", "_") }

// Versions of the layouts of phase_manifest.json and of the files with readings of a phase.
const (
	manifestVersion = 1
	watchedVersion  = 1
)

// WritePhases writes the summary and the readings of every phase below phases/NAME, and phase_manifest.json, which lists them.
func WritePhases(l Layout, phases []Phase) error {
	o := jsontext.Open(nil)
	o.Key("phases")
	o.B = append(o.B, '[')
	for i := range phases {
		p := &phases[i]
		dir := l.phase(p.Name)
		if !l.NoJSON {
			if err := WriteSummaryJSON(dir.SummaryJSON(), &p.Run, l.Secrets); err != nil {
				return err
			}
		}
		if err := WriteSummaryCSV(dir.SummaryCSV(), &p.Run); err != nil {
			return err
		}
		for _, f := range p.Watched {
			if err := writeWatched(filepath.Join(dir.Dir, f.Name), p, f.Data, l.Secrets); err != nil {
				return err
			}
		}
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = appendPhase(o.B, p, dir, !l.NoJSON)
	}
	o.B = append(o.B, ']')
	o.Int("schema_version", manifestVersion)
	data, err := jsontext.Indent(o.Close())
	if err != nil {
		return err
	}
	return WriteFile(l.phaseManifest(), l.Secrets.JSON(data))
}

// appendPhase writes an entry of the manifest. Keys are in alphabetical order, as in the Python tool; values that do not apply are omitted.
func appendPhase(b []byte, p *Phase, dir Layout, summary bool) []byte {
	s := p.Run.Profiling
	o := jsontext.Open(b)
	path := func(key, file string) { o.Text(key, "phases/"+p.Name+"/"+filepath.Base(file)) }
	watched := func(name string) {
		if slices.ContainsFunc(p.Watched, func(f PhaseFile) bool { return f.Name == name }) {
			path(manifestKey(name), name)
		}
	}
	o.Int("end_ns", p.End.UnixNano())
	o.Int("error_request_count", s.Failed)
	appendErrors(&o, s.Errors)
	watched(PhaseGPUTelemetry)
	path("metrics_csv", dir.SummaryCSV())
	if summary {
		path("metrics_json", dir.SummaryJSON())
	}
	o.Int("phase_index", int64(p.Index))
	o.Text("phase_kind", p.kind())
	o.Text("phase_name", p.Name)
	if !p.Warmup {
		o.Int("profiling_index", int64(p.ProfilingIndex))
	}
	watched(PhaseServerMetrics)
	o.Int("start_ns", p.Start.UnixNano())
	o.Int("successful_request_count", s.Valid)
	o.Int("total_request_count", s.Valid+s.Failed)
	o.Bool("was_cancelled", p.Cancelled)
	return o.Close()
}

// kind returns the name of the phase's kind in files.
func (p *Phase) kind() string {
	if p.Warmup {
		return warmupPhase
	}
	return profilingPhase
}

// writeWatched writes a file with readings of a phase. Its keys are in alphabetical order at every level, as the Python tool writes them.
func writeWatched(path string, p *Phase, data json.RawMessage, hide *redact.Secrets) error {
	o := jsontext.Open(nil)
	o.Raw("data", data)
	o.Key("phase")
	of := jsontext.Open(o.B)
	of.Int("end_ns", p.End.UnixNano())
	of.Int("phase_index", int64(p.Index))
	of.Text("phase_kind", p.kind())
	of.Text("phase_name", p.Name)
	if !p.Warmup {
		of.Int("profiling_index", int64(p.ProfilingIndex))
	}
	of.Int("start_ns", p.Start.UnixNano())
	of.Bool("was_cancelled", p.Cancelled)
	o.B = of.Close()
	o.Int("schema_version", watchedVersion)
	o.Raw("warnings", []byte("[]"))
	text, err := jsontext.Sorted(o.Close())
	if err == nil {
		text, err = jsontext.Indent(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return WriteFile(path, append(hide.JSON(text), '\n'))
}

// GPUData returns the member "data" of a phase's gpu_telemetry.json; nil if the phase has no GPU reading.
func GPUData(t *metric.GPUTelemetry) json.RawMessage {
	if t == nil || len(t.Endpoints) == 0 {
		return nil
	}
	return telemetryObject(nil, t)
}

// ReadPhases reads the list of phases of a run of aiperf or the Python tool: their names, times and readings, but not their statistics. A run with one
// phase has no list, so the result is empty.
func ReadPhases(l Layout) ([]Phase, error) {
	data, err := os.ReadFile(l.phaseManifest())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("phases: %w", err)
	}
	var list struct {
		Phases []struct {
			Name      string `json:"phase_name"`
			Kind      string `json:"phase_kind"`
			Index     int    `json:"phase_index"`
			Profiling *int   `json:"profiling_index"`
			Start     int64  `json:"start_ns"`
			End       int64  `json:"end_ns"`
			Cancelled bool   `json:"was_cancelled"`
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", l.phaseManifest(), err)
	}
	var phases []Phase
	for _, p := range list.Phases {
		one := Phase{Name: p.Name, Index: p.Index, ProfilingIndex: -1, Warmup: p.Kind == warmupPhase}
		if p.Profiling != nil {
			one.ProfilingIndex = *p.Profiling
		}
		one.Start, one.End, one.Cancelled = time.Unix(0, p.Start), time.Unix(0, p.End), p.Cancelled
		if one.Watched, err = l.readWatched(p.Name); err != nil {
			return nil, err
		}
		phases = append(phases, one)
	}
	return phases, nil
}

// readWatched reads the files with readings of a phase.
func (l Layout) readWatched(phase string) (list []PhaseFile, err error) {
	for _, name := range phaseFiles {
		path := filepath.Join(l.phase(phase).Dir, name)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var f struct{ Data json.RawMessage }
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(f.Data) > 0 && string(f.Data) != "null" { // the Python tool may write a file that contains only warnings
			list = append(list, PhaseFile{Name: name, Data: f.Data})
		}
	}
	return list, nil
}
