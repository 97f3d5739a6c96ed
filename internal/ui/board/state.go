// Package board is what the live view shows: a state of the run, and a pure function from it and the size of the terminal to lines of text.
// It knows of no terminal and no clock, so every frame can be tested.
package board

import (
	"fmt"
	"strings"
	"time"

	"aiperf/internal/draw"
)

// Stage is what the run does.
type Stage int

// The stages.
const (
	Starting Stage = iota
	Warmup
	Profiling
	Draining // nothing more is sent, answers are awaited
	Processing
)

// String is the stage as it is shown.
func (s Stage) String() string {
	return [...]string{"Starting", "Warm-up", "Profiling", "Draining", "Processing"}[s]
}

// State is a run at one instant. Times within it are seconds since the phase began, unless they say otherwise; NaN is a figure that does not
// exist.
type State struct {
	Plan  Plan
	Steps []Step // of the start, and of phases that are over
	Stage Stage
	Phase string // its name, if it is not the usual one of its stage

	Counts   Counts
	Share    float64 // of the phase that is done, 0 to 1
	Known    bool    // Share is
	Figures  Figures
	Errors   []ErrorKind // in the order of first sight
	Slowest  []Slow      // the slowest first
	Stall    Stall
	Stopping bool          // the user asked for the end
	NoNews   time.Duration // of a run in another process that has said nothing for so long; 0 = it speaks
	Timeline draw.Timeline
	Writing  Writing

	Timelines []Sized             // for terminals that are not known yet, by ascending width
	Pictures  []draw.Distribution // TTFT (where there is one) and latency
	Metrics   []Group
	Workers   []Worker
	GPUs      []GPU
	GPUNote   []string // why there are none
	Gauges    []Gauge  // of the servers' own metrics, and of all GPUs together
	Log       []Line
}

// Writing is how far inputs.json is while the run waits for it, in conversations; Of is 0 when it does not wait.
type Writing struct{ Done, Of int64 }

// Sized is a timeline for terminals of a width and more.
type Sized struct {
	Width    int
	Timeline draw.Timeline
}

// TimelineWidths are the widths for which timelines are made where the terminal is not known.
var TimelineWidths = []int{100, 120, 160, 200}

// Fit takes the timeline for a terminal of so many columns.
func (s *State) Fit(width int) {
	for i := range s.Timelines {
		if i == 0 || s.Timelines[i].Width <= width {
			s.Timeline = s.Timelines[i].Timeline
		}
	}
}

// Plan is what the run is going to do, in words.
type Plan struct {
	Model, Target string
	What          []string    // more, the most important first
	Phases        [][2]string // label and text
	Results       string
}

// Step is one step of the start, or a phase.
type Step struct {
	Name, Text string
	State      StepState
	Took       time.Duration
}

// StepState is how far a step is.
type StepState int

// The states.
const (
	Waits StepState = iota
	Runs
	Done
)

// Counts are those of the phase.
type Counts struct {
	Began              time.Time     // wall clock; zero = not yet
	Elapsed, Duration  time.Duration // Duration: of the sending, 0 = not limited by time
	Grace              time.Duration // for the last answers; negative = no limit
	Requests, Sessions int64         // to send, 0 = not limited by count
	SessionsDone       int64
	Sent, InFlight     int64
	OK, Errors         int64
	Cancelled          int64
	Records            int64         // worked up
	RecordsShare       float64       // of all that the phase will have, 0 to 1; NaN = not known
	ETA                time.Duration // negative = not known
	RecordsETA         time.Duration // likewise
	CPU                float64       // of the client, percent of the cores that it may use; NaN = not known
}

// Finished is what came back.
func (c *Counts) Finished() int64 { return c.OK + c.Errors + c.Cancelled }

// grace is how long the last answers may still take; false = as long as they need, or the sending is not limited by time.
func (c *Counts) grace() (left time.Duration, ok bool) {
	return max(c.Duration+c.Grace-c.Elapsed, 0), c.Duration > 0 && c.Grace >= 0
}

// Figures are the six of the head, the same that the report ends with.
type Figures struct{ Requests, Tokens, TTFT, ITL, Latency, Errors Figure }

// Figure is one of them. Run is that of the run, the median for latencies.
type Figure struct {
	Recent, Run                  float64   // of the last 10 s; of the phase
	P90, P99, Avg, Max, Min, Std float64   // of latencies
	Trend                        []float64 // a second each, oldest first
	Silent                       []bool    // of rates: in which of these seconds servers stood still
}

// ErrorKind is one kind of error.
type ErrorKind struct {
	Count               int64
	Code, Type, Message string
	Last                float64 // when it came last
}

// Slow is one slow request; times in ms.
type Slow struct {
	Latency, TTFT, ITL, Tokens float64
	At                         float64 // sent
	Conversation               string
}

// Stall is a time in which servers sent nothing although requests waited.
type Stall struct {
	Now    time.Duration // 0 = there is none now
	NowAt  float64       // its start, s after that of the phase
	Waits  int64
	Past   time.Duration // the last one that is over; 0 = there was none
	PastAt float64
	Count  int // that are over
}

// Group is some rows of the table of metrics.
type Group struct {
	Name string
	Rows []Metric
}

// Metric is one row: avg min max p99 p90 p50 std, in its unit. One: there is only a value of the run, in Avg.
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
	Memory, Read, Written  int64   // bytes; negative = not known
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

// text is its value with its unit.
func (g *Gauge) text() string { return strings.TrimRight(draw.Round(g.Value)+" "+g.Unit, " ") }

// Line is one line of the log.
type Line struct {
	At    time.Time
	Level Level
	Text  string
}

// LogText is a log as text.
func LogText(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s %s\n", l.At.Format("15:04:05.000"), l.Level, l.Text)
	}
	return b.String()
}

// Level is how much a line matters.
type Level int

// The levels.
const (
	Debug Level = iota
	Info
	Warning
	Error
)

// String is the level as it is shown.
func (l Level) String() string { return [...]string{"DEBUG", "INFO", "WARN", "ERROR"}[l] }
