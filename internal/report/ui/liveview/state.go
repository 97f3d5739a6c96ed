// Package liveview draws the live view: a pure function converts a state of the run and the size of the terminal to lines of text. It uses no terminal
// and no clock, so every frame can be tested.
package liveview

import (
	"fmt"
	"strings"
	"time"

	"aiperf/internal/report/termdraw"
)

// Stage is a stage of a run.
type Stage int

// The stages.
const (
	Starting Stage = iota
	Warmup
	Profiling
	Draining // nothing more is sent; the run waits for answers
	Processing
)

// String returns the stage as it is shown.
func (s Stage) String() string {
	return [...]string{"Starting", "Warm-up", "Profiling", "Draining", "Processing"}[s]
}

// State is the state of a run at one instant. Times in it are seconds since the phase began, unless they say otherwise. NaN means that a figure does
// not exist.
type State struct {
	Plan  Plan
	Steps []Step // steps of the start, and finished phases
	Stage Stage
	Phase string // name of the phase, if it differs from that of the stage

	Counts   Counts
	Share    float64 // completed share of the phase, 0 to 1
	Known    bool    // Share is known
	Figures  Figures
	Health   Health
	Errors   []ErrorKind // in the order of their first occurrence
	Slowest  []Slow      // the slowest first
	Stall    Stall
	Pods     []PodEvent    // what happened to the pods of the server in the phase, in order
	Stopping bool          // the user asked to stop
	NoNews   time.Duration // how long a run in another process has been silent; 0 = it is not
	Timeline termdraw.Timeline
	Writing  WriteProgress

	Timelines []SizedTimeline         // for readers whose terminals are unknown, by ascending width
	Pictures  []termdraw.Distribution // TTFT (if it exists) and latency
	Metrics   []Group
	Workers   []Worker
	GPUs      []GPU
	GPUNote   []string // why there are none
	Gauges    []Gauge  // of the servers' own metrics, and over all GPUs
	Log       []Line
}

// WriteProgress is the progress of inputs.json in conversations while the run waits for it; Of is 0 when it does not wait.
type WriteProgress struct{ Done, Of int64 }

// SizedTimeline is a timeline for terminals of at least a width.
type SizedTimeline struct {
	Width    int
	Timeline termdraw.Timeline
}

// TimelineWidths lists the widths for which timelines are made if the terminal is unknown.
var TimelineWidths = []int{100, 120, 160, 200}

// Fit selects the timeline for a terminal with width columns.
func (s *State) Fit(width int) {
	for i := range s.Timelines {
		if i == 0 || s.Timelines[i].Width <= width {
			s.Timeline = s.Timelines[i].Timeline
		}
	}
}

// Plan describes in words what the run is going to do.
type Plan struct {
	Model, Target string
	What          []string    // further parts, the most important first
	Phases        [][2]string // label and text
	Results       string
	Place         string // of the run in its series: "run 2 of 3"; "" = a single run
}

// Step is one step of the start, or a phase.
type Step struct {
	Name, Text string
	State      StepState
	Took       time.Duration
}

// StepState is the state of a step.
type StepState int

// The states.
const (
	Waits StepState = iota
	Runs
	Done
)

// Counts holds the counts of the phase.
type Counts struct {
	Began              time.Time     // wall clock; zero = not yet
	Elapsed, Duration  time.Duration // Duration: planned sending time, 0 = not limited by time
	Grace              time.Duration // for the last answers; negative = no limit
	Requests, Sessions int64         // to send, 0 = not limited by count
	SessionsDone       int64
	Sent, InFlight     int64
	OK, Errors         int64
	Cancelled          int64
	Records            int64         // processed
	RecordsShare       float64       // processed share of all records of the phase, 0 to 1; NaN = unknown
	ETA                time.Duration // negative = unknown
	RecordsETA         time.Duration // negative = unknown
	CPU                float64       // of the client, percent of the cores that it may use; NaN = unknown
}

// Finished returns the number of requests that came back.
func (c *Counts) Finished() int64 { return c.OK + c.Errors + c.Cancelled }

// grace returns how long the last answers may still take; false if there is no limit, or if the sending is not limited by time.
func (c *Counts) grace() (left time.Duration, ok bool) {
	return max(c.Duration+c.Grace-c.Elapsed, 0), c.Duration > 0 && c.Grace >= 0
}

// Figures holds the six figures of the head, which are also those of the report, and the goodput (NaN without limits of service).
type Figures struct{ Requests, Tokens, TTFT, ITL, Latency, Errors, Goodput Figure }

// Health shows how well the client keeps up in the present phase, and what the verdict would be if the run ended now.
type Health struct {
	LagP99    float64       // schedule lag, ms; NaN = no send times were requested
	ReadDelay float64       // p99 of the time from the arrival of bytes to their read, ms; NaN = not measured
	CPUWait   float64       // time that threads waited for a CPU, percent of the time that they wanted to run; NaN = not measured
	Stalls    int64         // times that the whole process did not run
	Longest   time.Duration // longest of them
	Verdict   string        // provisional; "" = there is none yet
	Reason    string
}

// Figure is one of them. Run is the value over the run, for latencies the median.
type Figure struct {
	Recent, Run                  float64   // of the last 10 s; of the phase
	P90, P99, Avg, Max, Min, Std float64   // of latencies
	Trend                        []float64 // one value per second, oldest first
	Silent                       []bool    // for rates: seconds in which servers stalled
}

// ErrorKind is one kind of error.
type ErrorKind struct {
	Count               int64
	Code, Type, Message string
	Last                float64 // when it last occurred
}

// Slow is one slow request; times in ms.
type Slow struct {
	Latency, TTFT, ITL, Tokens float64
	At                         float64 // when it was sent
	Conversation               string
}

// PodEvent is something that happened to a pod of the server.
type PodEvent struct {
	At   float64
	Text string // in words
}

// Stall describes times in which servers sent nothing although requests waited.
type Stall struct {
	Now    time.Duration // length of the present one; 0 = none
	NowAt  float64       // its start, s after that of the phase
	Waits  int64
	Past   time.Duration // length of the last finished one; 0 = none
	PastAt float64
	Count  int // number of finished ones
}

// Group is a group of rows in the table of metrics.
type Group struct {
	Name string
	Rows []Metric
}

// Metric is one row: avg min max p99 p90 p50 std, in its unit. One = there is only one value for the run, in Avg.
type Metric struct {
	Name, Short, Unit                 string
	Avg, Min, Max, P99, P90, P50, Std float64
	One                               bool
}

// Worker is a group of workers.
type Worker struct {
	Name, State            string
	InFlight, Done, Failed int64
	CPU                    float64 // percent
	Memory, Read, Written  int64   // bytes; negative = unknown
}

// GPU is one GPU with its figures.
type GPU struct {
	Title string
	Rows  []GPUMetric
}

// GPUMetric is one figure of a GPU.
type GPUMetric struct {
	Name, Unit                                 string
	Current, Avg, Min, Max, P99, P90, P50, Std float64
}

// Gauge is one figure of the servers.
type Gauge struct {
	Name, Unit string
	Value      float64
}

// text returns the value with its unit.
func (g *Gauge) text() string { return strings.TrimRight(termdraw.Round(g.Value)+" "+g.Unit, " ") }

// Line is one line of the log.
type Line struct {
	At    time.Time
	Level Level
	Text  string
}

// LogText formats a log as text.
func LogText(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s %s\n", l.At.Format("15:04:05.000"), l.Level, l.Text)
	}
	return b.String()
}

// Level is the importance of a line.
type Level int

// The levels.
const (
	Debug Level = iota
	Info
	Warning
	Error
)

// String returns the level as it is shown.
func (l Level) String() string { return [...]string{"DEBUG", "INFO", "WARN", "ERROR"}[l] }
