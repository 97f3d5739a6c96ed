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

	"aiperf/internal/jsontext"
	"aiperf/internal/metric"
	"aiperf/internal/redact"
)

// Phase is one phase of a run of several: its place, and its figures as a run of its own.
type Phase struct {
	metric.Run
	Name           string
	Index          int // over all phases
	ProfilingIndex int // over profiling phases; -1 in warm-up
	Warmup         bool
	Watched        []PhaseFile // what servers and GPUs did in it; empty = nobody told
}

// PhaseFile is a file of what was watched beside the requests of one phase.
type PhaseFile struct {
	Name string          // below the phase's directory; the prefix does not change it
	Data json.RawMessage // its member "data"
}

// Names of the files of what was watched in a phase.
const (
	PhaseServerMetrics = "server_metrics.json"
	PhaseGPUTelemetry  = "gpu_telemetry.json"
)

// phaseFiles are all of them.
var phaseFiles = []string{PhaseGPUTelemetry, PhaseServerMetrics}

// manifestKey is the key under which the list of phases names a file.
func manifestKey(file string) string { return strings.ReplaceAll(file, ".", "_") }

// Versions of the layouts of phase_manifest.json and of the files of what was watched in a phase.
const (
	manifestVersion = 1
	watchedVersion  = 1
)

// WritePhases writes the summaries of every phase and what was watched in it below phases/NAME, and phase_manifest.json, which lists them.
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

// appendPhase writes an entry of the manifest. Keys stand in alphabetical order, as in the Python tool's; what does not apply is left out.
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

// kind is the phase's word in files.
func (p *Phase) kind() string {
	if p.Warmup {
		return warmupPhase
	}
	return profilingPhase
}

// writeWatched writes a file of what was watched in a phase. Its keys are in alphabetical order at every depth, as the Python tool writes them.
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

// GPUData is the member "data" of a phase's gpu_telemetry.json; nil = no GPU was read in the phase.
func GPUData(t *metric.GPUTelemetry) json.RawMessage {
	if t == nil || len(t.Endpoints) == 0 {
		return nil
	}
	return telemetryObject(nil, t)
}

// ReadPhases reads the list of phases of a run, ours or the Python tool's: who they were and when, and what was watched in them, not their
// figures. A run of one phase leaves no list, and gives none.
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

// readWatched reads what was watched in a phase.
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
		if len(f.Data) > 0 && string(f.Data) != "null" { // the Python tool may leave warnings alone
			list = append(list, PhaseFile{Name: name, Data: f.Data})
		}
	}
	return list, nil
}
