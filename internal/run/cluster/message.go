package cluster

import (
	"fmt"

	"aiperf/internal/base/binenc"
	"aiperf/internal/config"
	"aiperf/internal/workload/load"
)

// More kinds of questions.
const (
	askHello  = "hello"  // may this machine take part?
	askFinish = "finish" // the machine has ended its part
	askFile   = "file"   // the content of a file of the run
	askKeep   = "keep"   // a part of a file of the machine, for the artifact directory
)

// Kinds of orders from the controller.
const (
	orderRun    = "run"    // take a share of a run
	orderCancel = "cancel" // end it at once, without results
	orderStop   = "stop"   // end the load at an instant, as Ctrl-C does
	orderMove   = "move"   // change the load of an adaptive phase at an instant
	orderEnd    = "end"    // end the sending of a phase at an instant
	orderDone   = "done"   // enough was measured
	orderLeave  = "leave"  // there are no more runs
)

// noteProgress is the kind of the notes about the state of the load.
const noteProgress = "progress"

// hello is how a machine introduces itself.
type hello struct {
	Version string // of the program
	Build   string // source of the program (build)
	Host    string // name of the computer
	Cores   int
	Spare   bool // it waits for a place if the run has all of its machines
}

// Exit statuses of a worker.
const (
	StatusOther = 2 // it is not the program of the controller, or its token is wrong
	StatusLate  = 3 // the run has all of its machines
	StatusAlone = 4 // the controller has gone away
)

// welcome is the answer to hello.
type welcome struct {
	Status int    // exit status of a machine that cannot take part; 0 = it takes part
	Reason string // why not
}

// plan is the share of a run that a machine sends.
type plan struct {
	Epoch         int64
	Index, Of     int
	Config        config.Benchmark
	Seed          config.Seed
	BenchmarkID   string
	WallBase      int64 // the controller's wall time minus its clock, ns
	Timeout       int64 // ns without a sign of the controller after which the machine stops
	Files         []inputFile
	Together      int  // machines that are processes of one computer; 0 = they are not
	CacheCounters bool // the controller reads counters of the servers' prompt caches
}

// progress is the state of a machine's load.
type progress struct {
	Epoch     int64
	Snapshots []load.Snapshot
	Offset    int64 // ns: the machine's wall clock minus the controller's
	Bound     int64 // largest error of the offset so far, ns; 0 = unknown
}

func (p *progress) visit(c *binenc.Coder) {
	for _, v := range []*int64{&p.Epoch, &p.Offset, &p.Bound} {
		c.Int64(v)
	}
	binenc.Slice(c, &p.Snapshots, func(c *binenc.Coder, s *load.Snapshot) { s.Visit(c) })
}

// loadOrder is an order about the load.
type loadOrder struct {
	Epoch int64
	Phase int
	To    float64
	At    int64 // instant on the controller's clock
}

// finish is what a machine says when it has ended its part.
type finish struct {
	progress
	Error string // why it failed; "" = it did not
}

func (f *finish) visit(c *binenc.Coder) {
	f.progress.visit(c)
	c.String(&f.Error)
}

// keptPart is a part of a file of a machine (artifact.MachineFiles), which is appended to it.
type keptPart struct {
	Epoch int64
	File  int // number in that list
	Text  []byte
}

// encode returns the binary form of a message.
func encode(m any) ([]byte, error) {
	c := binenc.NewWriter(nil)
	if v, ok := m.(interface{ visit(*binenc.Coder) }); ok {
		v.visit(c)
	} else {
		binenc.Value(c, m)
	}
	return c.Bytes(), c.Err()
}

// decode fills a message from its binary form.
func decode(b []byte, m any) error {
	c := binenc.NewReader(b)
	if v, ok := m.(interface{ visit(*binenc.Coder) }); ok {
		v.visit(c)
	} else {
		binenc.Value(c, m)
	}
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes too many", len(c.Bytes()))
	}
	if c.Err() != nil {
		return fmt.Errorf("a message is damaged: %w", c.Err())
	}
	return nil
}
