// Package program starts external programs of plug-ins and calls their methods with JSON lines on stdin and stdout (docs/plugin-protocol.md). It knows
// no category. A program that breaks the protocol is ended, and each of its calls fails with one error that says what was found.
package program

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Protocol is the version of the protocol that this package speaks.
const Protocol = 1

// Settings say what to start and how to treat it.
type Settings struct {
	Category string         // category of the plug-in, for example accuracy_grader
	Plugin   string         // its name
	Position string         // file:line of its definition, for the error of a program that cannot be started; "" = none
	Command  []string       // program and arguments
	Dir      string         // working directory
	Options  map[string]any // the plug-in's metadata, sent in the greeting
	Env      []string       // names of variables that the program gets although they look like credentials
	Methods  []string       // methods that it must have
	Version  string         // version of aiperf
	Log      func(line string)
	Limits   Limits
}

// Limits bound what a program may do. A zero is replaced by its default.
type Limits struct {
	Hello time.Duration // time until the greeting; default 10 s
	Call  time.Duration // time until the answer of a call or the next part of it, for each call under way; default 60 s
	End   time.Duration // time to end after stdin was closed; default 5 s
	Term  time.Duration // time between SIGTERM and SIGKILL; default 2 s
	Line  int           // bytes of a line; default 64 MiB
	Calls int           // maximum number of calls under way; default 64
}

func (l Limits) complete() Limits {
	setDefault(&l.Hello, 10*time.Second)
	setDefault(&l.Call, time.Minute)
	setDefault(&l.End, 5*time.Second)
	setDefault(&l.Term, 2*time.Second)
	setDefault(&l.Line, 64<<20)
	setDefault(&l.Calls, 64)
	return l
}

func setDefault[N int | time.Duration](value *N, standard N) {
	if *value == 0 {
		*value = standard
	}
}

// Program is a running program. Its methods may be called from several goroutines.
type Program struct {
	s     Settings
	proc  *process
	log   *stderrLog
	hello greeting

	lines   chan []byte    // what the writer sends; one place for each call under way, so that no caller waits for the pipe
	slots   chan struct{}  // one element for each call under way
	ended   chan struct{}  // closed when fault is set
	pumps   sync.WaitGroup // the reader and the writer
	unwatch func() bool    // ends the watch of the context
	closing sync.Once

	mu    sync.Mutex
	fault *Fault // why no call is possible any more; nil = the program works
	calls map[int64]*call
	last  int64 // id of the latest call
}

// name returns "category:name".
func (s *Settings) name() string { return s.Category + ":" + s.Plugin }

// Start starts a program and waits for its greeting. The end of ctx ends the program at any time.
func Start(ctx context.Context, s Settings) (*Program, error) {
	s.Limits = s.Limits.complete()
	if s.Log == nil {
		s.Log = func(string) {}
	}
	p := &Program{s: s, ended: make(chan struct{}), calls: map[int64]*call{},
		lines: make(chan []byte, s.Limits.Calls+1), slots: make(chan struct{}, s.Limits.Calls)}
	var err error
	if p.proc, err = startProcess(&s); err != nil {
		return nil, p.wrap("start", &Fault{Found: strings.TrimPrefix(err.Error(), "fork/exec ") + where(s.Position) + StartAdvice(s.Command[0], err)})
	}
	p.log = logStderr(p.proc.stderr, s.name(), s.Log)
	p.pumps.Go(p.write)
	p.unwatch = context.AfterFunc(ctx, func() {
		p.fail(&Fault{Found: "ended by aiperf: " + context.Cause(ctx).Error(), Cause: context.Cause(ctx)})
	})
	in := newLineReader(p.proc.stdout, s.Limits.Line)
	if err := p.greet(in); err != nil {
		p.fail(p.explain(err))
		fault := p.Fault()
		_ = p.Close() // the program is at fault already
		return nil, p.wrap("hello", fault)
	}
	p.pumps.Go(func() { p.read(in) })
	return p, nil
}

func where(position string) string {
	if position == "" {
		return ""
	}
	return " (" + position + ")"
}

// greeting is the first line of either side.
type greeting struct {
	Type     string          `json:"type"`
	Protocol int             `json:"protocol"`
	Version  string          `json:"aiperf,omitempty"`
	Category string          `json:"category,omitempty"`
	Name     string          `json:"name,omitempty"`
	Options  map[string]any  `json:"options,omitempty"`
	Methods  []string        `json:"methods,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// greet sends the greeting and reads the one of the program.
func (p *Program) greet(in *lineReader) error {
	line, err := encode(greeting{Type: "hello", Protocol: Protocol, Version: p.s.Version, Category: p.s.Category, Name: p.s.Plugin, Options: p.s.Options})
	if err != nil {
		return &Fault{Found: "the metadata of the manifest cannot be sent: " + err.Error()}
	}
	p.lines <- line
	if err := p.proc.stdout.SetReadDeadline(time.Now().Add(p.s.Limits.Hello)); err != nil {
		return err
	}
	text, err := in.next()
	if isTimeout(err) {
		return &Fault{Found: fmt.Sprintf("no greeting within %v", p.s.Limits.Hello)}
	}
	if err != nil {
		return err
	}
	if fault := unmarshal("its first line", text, &p.hello); fault != nil {
		fault.Found += "; standard output is for the protocol, print to standard error"
		return fault
	}
	if err := p.accept(); err != nil {
		return err
	}
	return p.proc.readWithoutDeadline()
}

// accept checks the program's greeting.
func (p *Program) accept() error {
	h := &p.hello
	switch {
	case h.Type == "error":
		return &Fault{Found: "the program says: " + quote(h.Message)}
	case h.Type != "hello":
		return &Fault{Found: fmt.Sprintf(`the first line has the type %s, but must be {"type":"hello",…}`, quote(h.Type))}
	case h.Protocol != Protocol:
		return &Fault{Found: fmt.Sprintf("the program speaks protocol %d, but this aiperf speaks %d", h.Protocol, Protocol)}
	}
	for _, m := range p.s.Methods {
		if !slices.Contains(h.Methods, m) {
			return &Fault{Found: fmt.Sprintf("the program has no method %s, only %s", m, quote(strings.Join(h.Methods, ", ")))}
		}
	}
	return nil
}

// Metadata decodes the metadata of the program's greeting. It changes nothing if there are none.
func (p *Program) Metadata(into any) error {
	if len(p.hello.Metadata) == 0 {
		return nil
	}
	if fault := unmarshal("its metadata", p.hello.Metadata, into); fault != nil {
		return p.wrap("hello", fault)
	}
	return nil
}

// Has reports whether the program has a method.
func (p *Program) Has(method string) bool { return slices.Contains(p.hello.Methods, method) }

// Fault returns why no call is possible any more; nil = the program works.
func (p *Program) Fault() *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// fail ends the program, because it broke the protocol or nobody needs it. Only the first reason counts.
func (p *Program) fail(f *Fault) {
	p.mu.Lock()
	first := p.fault == nil
	if first {
		p.fault = f
		close(p.ended)
	}
	p.mu.Unlock()
	if first {
		p.proc.terminate(p.s.Limits.Term)
	}
}

// Close ends the program: it closes stdin, sends SIGTERM if the program does not end, then SIGKILL. It returns the fault of the program, if it had one.
func (p *Program) Close() (err error) {
	p.closing.Do(func() {
		p.unwatch()
		p.mu.Lock()
		fault := p.fault
		if fault == nil {
			p.fault = &Fault{Found: "the program was closed", closed: true}
			close(p.ended)
		}
		p.mu.Unlock()
		if fault == nil {
			p.proc.awaitExit(p.s.Limits.End)
		}
		p.proc.terminate(p.s.Limits.Term)
		err = p.finish()
		if fault != nil {
			err = p.wrap("end", fault)
		}
	})
	return err
}

// finish waits for the end of the process and of the goroutines. A process of another group that holds a pipe is not waited for.
func (p *Program) finish() error {
	if !p.proc.awaitExit(p.s.Limits.Term + lastWait) {
		return p.wrap("end", &Fault{Found: "the process does not end, not even after SIGKILL"})
	}
	p.log.await(drainWait)
	p.proc.closePipes()
	p.pumps.Wait()
	p.log.finish()
	return nil
}

// lastWait is the time for things that are immediate on a working machine: the death of a killed process, the last bytes in a pipe.
const lastWait = 5 * time.Second
