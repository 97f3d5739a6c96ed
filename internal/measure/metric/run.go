package metric

import (
	"encoding/json"
	"time"
)

// Run is the content of a report: what the files and the console show. It is plain data.
type Run struct {
	Version     string // version of this program
	BenchmarkID string // 12 hex digits (32 in multi-run)
	Title       string // title of the metric tables, such as "LLM Metrics"
	Brand       string // prefix of the titles; "" = this program's
	Subject     string // model, server and load in words; "" = unknown
	Info        RunInfo
	InputConfig json.RawMessage // the effective configuration, an ordered JSON object; nil = {}
	OwnConfig   json.RawMessage // the part of the configuration without keys in AIPerf, in the same layout; nil = none
	GPU         *GPUTelemetry   // nil = GPUs were not measured

	Start, End time.Time // of the profiling phase; zero = unknown

	Cancelled        bool
	Keyless          bool   // according to the settings, requests contained nothing that identifies the sender
	IncompleteReason string // "" = complete

	Profiling *Summary
	Warmup    *Summary // nil = no warm-up
	Slices    []Slice
	Accuracy  *Accuracy        // nil = no accuracy benchmark
	Adaptive  []AdaptiveResult // results of adaptive phases

	Course   *TimeCourse     // course over time; nil = not recorded
	Slowest  []SlowRequest   // slowest first
	Silences []ServerSilence // silences of the servers in the profiling phases

	Validity *Validity    // nil = no judgement (a report from files)
	Branches *BranchStats // nil = no session started other sessions
	Probe    *Probe       // nil = no probe was sent

	Submission *Submission // nil = the run has no scenario

	ShowTrace bool   // print the HTTP trace table
	LogFile   string // path, "" = none
	Files     []File // files written so far, in the order of the footer
}

// File is one output file of the run, as the footer lists it.
type File struct{ Kind, Path string }

// RunInfo is run_info of the summary; empty fields are omitted.
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

// Exact reports whether a statistic is accurate enough to be shown as a plain number.
func (r *Run) Exact(m *Result, s Stat) bool {
	return r.Validity == nil || !m.Has(s) || r.Validity.Bounds.Certain(m.Tag, s, m.Values[s])
}

// AllFailed reports whether requests finished and none was valid.
func (r *Run) AllFailed() bool { return r.Profiling.Valid == 0 && r.Profiling.Failed > 0 }
