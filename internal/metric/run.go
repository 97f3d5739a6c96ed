package metric

import (
	"encoding/json"
	"time"
)

// Run is everything that a run reports: what the files and the console show. Plain data.
type Run struct {
	Version     string // of this program
	BenchmarkID string // 12 hex digits (32 in multi-run)
	Title       string // of the metric tables, like "LLM Metrics"
	Brand       string // before the titles; "" = this program's
	Subject     string // model, server and load in words; "" = not known
	Info        RunInfo
	InputConfig json.RawMessage // the effective configuration, an ordered JSON object; nil = {}
	OwnConfig   json.RawMessage // the part of it that AIPerf has no keys for, in the same layout; nil = none
	GPU         *GPUTelemetry   // nil = nobody looked for GPUs

	Start, End time.Time // of the profiling phase; zero = unknown

	Cancelled        bool
	Keyless          bool   // requests carried nothing that says who sends them, as far as the settings tell
	IncompleteReason string // "" = complete

	Profiling *Summary
	Warmup    *Summary // nil = no warm-up
	Slices    []Slice
	Accuracy  *Accuracy // nil = no benchmark was asked
	Sought    []Sought  // of the phases whose load seeks its limit

	Course   *Course       // how it went over time; nil = not kept
	Slowest  []SlowRequest // the slowest first
	Silences []Silence     // of the servers, in the profiling phases

	Validity *Validity    // nil = not judged (a report from files)
	Branches *BranchStats // nil = no session started others
	Probe    *Probe       // nil = none was sent

	Submission *Submission // nil = the run is of no scenario

	ShowTrace bool   // print the HTTP trace table
	LogFile   string // path, "" = none
	Files     []File // written so far, in the order of the footer
}

// File is one file that the run left, as the footer names it.
type File struct{ Kind, Path string }

// RunInfo is run_info of the summary; empty fields are left out.
type RunInfo struct {
	BenchmarkID    string          `json:"benchmark_id,omitempty"`
	SweepID        string          `json:"sweep_id,omitempty"`
	RandomSeed     json.Number     `json:"random_seed,omitempty"` // an integer of any size
	Trial          int             `json:"trial"`
	RunLabel       string          `json:"run_label,omitempty"`
	VariationLabel string          `json:"variation_label,omitempty"`
	VariationIndex *int            `json:"variation_index,omitempty"`
	Variation      json.RawMessage `json:"variation_values,omitempty"`
	CLICommand     string          `json:"cli_command,omitempty"`
}

// Exact reports whether a statistic is known well enough to be stated as a number.
func (r *Run) Exact(m *Result, s Stat) bool {
	return r.Validity == nil || !m.Has(s) || r.Validity.Bounds.Certain(m.Tag, s, m.Values[s])
}

// AllFailed tells whether requests finished and none was valid.
func (r *Run) AllFailed() bool { return r.Profiling.Valid == 0 && r.Profiling.Failed > 0 }
