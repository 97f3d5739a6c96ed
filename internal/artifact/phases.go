package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"aiperf/internal/jsontext"
	"aiperf/internal/metric"
)

// Phase is one phase of a run of several: its place, and its figures as a run of its own.
type Phase struct {
	metric.Run
	Name           string
	Index          int // over all phases
	ProfilingIndex int // over profiling phases; -1 in warm-up
	Warmup         bool
}

// manifestVersion is the schema of phase_manifest.json.
const manifestVersion = 1

// WritePhases writes phases/NAME/profile_export_aiperf.{json,csv} of every phase and phase_manifest.json, which lists them.
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
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = appendPhase(o.B, p, !l.NoJSON)
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
func appendPhase(b []byte, p *Phase, summary bool) []byte {
	kind := profilingPhase
	if p.Warmup {
		kind = warmupPhase
	}
	s := p.Run.Profiling
	o := jsontext.Open(b)
	o.Int("end_ns", p.End.UnixNano())
	o.Int("error_request_count", s.Failed)
	appendErrors(&o, s.Errors)
	o.Text("metrics_csv", "phases/"+p.Name+"/profile_export_aiperf.csv")
	if summary {
		o.Text("metrics_json", "phases/"+p.Name+"/profile_export_aiperf.json")
	}
	o.Int("phase_index", int64(p.Index))
	o.Text("phase_kind", kind)
	o.Text("phase_name", p.Name)
	if !p.Warmup {
		o.Int("profiling_index", int64(p.ProfilingIndex))
	}
	o.Int("start_ns", p.Start.UnixNano())
	o.Int("successful_request_count", s.Valid)
	o.Int("total_request_count", s.Valid+s.Failed)
	o.Bool("was_cancelled", p.Cancelled)
	return o.Close()
}

// ReadPhases reads the list of phases of a run, ours or the Python tool's: who they were and when, not their figures. A run of one phase
// leaves no list, and gives none.
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
		phases = append(phases, one)
	}
	return phases, nil
}
