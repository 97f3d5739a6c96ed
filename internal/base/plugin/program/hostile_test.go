//go:build unix

package program

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/testhome"
)

// TestMain lets the test binary stand in for programs: called as `plug-in BEHAVIOUR` it is one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "plug-in" {
		newActor().behave(os.Args[2])
		return
	}
	goleak.VerifyTestMain(testhome.Tests{M: m})
}

// actor is a program, mostly a bad one.
type actor struct{ in *bufio.Reader }

func newActor() actor { return actor{bufio.NewReader(os.Stdin)} }

const (
	goodHello = `{"type":"hello","protocol":1,"methods":["echo"],"metadata":{"colour":"red"}}`
	forever   = time.Hour
)

// read reads one line and returns its id.
func (a actor) read() (id int) {
	line, err := a.in.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	_, after, ok := strings.Cut(line, `"id":`)
	if ok {
		_, _ = fmt.Sscanf(after, "%d", &id)
	}
	return id
}

// greet reads the greeting of aiperf and answers it.
func (a actor) greet() {
	a.read()
	fmt.Println(goodHello)
}

func (a actor) behave(how string) {
	if act := greetings[how]; act != nil {
		act(a)
		return
	}
	a.greet()
	if text, ok := texts[how]; ok {
		id := a.read()
		fmt.Print(strings.ReplaceAll(text, "ID", fmt.Sprint(id)))
		a.read() // until stdin ends
		return
	}
	answers[how](a)
}

// greetings are behaviours before or instead of the greeting.
var greetings = map[string]func(actor){
	"silent-hello":  func(actor) { time.Sleep(forever) },
	"half-hello":    func(actor) { fmt.Print(`{"type":"hel`); time.Sleep(forever) },
	"cut-hello":     func(actor) { fmt.Print(`{"type":"hel`) },
	"chatty":        func(actor) { fmt.Println("Loading the model…"); time.Sleep(forever) },
	"list-hello":    func(actor) { fmt.Println(`[1]`); time.Sleep(forever) },
	"other-type":    func(actor) { fmt.Println(`{"type":"hi"}`); time.Sleep(forever) },
	"protocol-2":    func(actor) { fmt.Println(`{"type":"hello","protocol":2}`); time.Sleep(forever) },
	"text-protocol": func(actor) { fmt.Println(`{"type":"hello","protocol":"1"}`); time.Sleep(forever) },
	"refusal":       func(actor) { fmt.Println(`{"type":"error","message":"no licence\u001b[31m"}`) },
	"no-method":     func(actor) { fmt.Println(`{"type":"hello","protocol":1,"methods":["other"]}`); time.Sleep(forever) },
	"exit-hello":    func(actor) { fmt.Fprintln(os.Stderr, "ImportError: no module"); os.Exit(3) },
	"binary-hello":  func(actor) { _, _ = os.Stdout.Write([]byte("{\"type\":\"\xff\xfe\"}\n")); time.Sleep(forever) },
	"flood-hello":   func(actor) { flood(os.Stdout, 1<<30) },
}

// texts are bad answers to the first call, with ID for its id.
var texts = map[string]string{
	"half-line":    `{"id":ID,"res`,
	"wrong-id":     `{"id":99,"result":{}}` + "\n",
	"negative-id":  `{"id":-1,"result":{}}` + "\n",
	"text-id":      `{"id":"ID","result":{}}` + "\n",
	"no-id":        `{"result":{}}` + "\n",
	"repeated-id":  strings.Repeat(`{"id":ID,"result":{"n":1}}`+"\n", 2),
	"both":         `{"id":ID,"result":{},"error":{"message":"x"}}` + "\n",
	"neither":      `{"id":ID}` + "\n",
	"chat":         "done!\n",
	"empty-line":   "\n",
	"nan":          `{"id":ID,"result":{"n":NaN}}` + "\n",
	"list":         `[{"id":ID}]` + "\n",
	"latin1":       `{"id":ID,"result":{"text":"` + "\xe9" + `"}}` + "\n",
	"wrong-type":   `{"id":ID,"result":{"n":"many"}}` + "\n",
	"twice":        `{"id":ID,"result":{"list":[{"n":1}],"n":1,"n":2}}` + "\n",
	"null":         `{"id":ID,"result":null}` + "\n",
	"list-result":  `{"id":ID,"result":[1]}` + "\n",
	"part":         `{"id":ID,"part":{}}` + "\n",
	"late-refusal": `{"type":"error","message":"disk full"}` + "\n",
	"error":        `{"id":ID,"error":{"message":"bad\nluck"}}` + "\n",
	"text-error":   `{"id":ID,"error":"bad"}` + "\n",
	"crlf":         `{"id":ID,"result":{"n":7}}` + "\r\n",
}

// answers are behaviours after the greeting.
var answers = map[string]func(actor){
	"good":            func(a actor) { a.echo() },
	"exit-after-read": func(a actor) { a.read(); fmt.Fprintln(os.Stderr, "ValueError: boom"); os.Exit(3) },
	"exit-at-once":    func(actor) { os.Exit(0) },
	"killed":          func(a actor) { a.read(); _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	"silent":          func(a actor) { a.read(); time.Sleep(forever) },
	"stubborn":        func(a actor) { signal.Ignore(syscall.SIGTERM); a.read(); time.Sleep(forever) },
	"deaf":            func(actor) { time.Sleep(forever) },
	"no-stdin":        func(actor) { _ = os.Stdin.Close(); time.Sleep(forever) },
	"no-stdout":       func(a actor) { a.read(); _ = os.Stdout.Close(); time.Sleep(forever) },
	"flood":           func(a actor) { a.read(); flood(os.Stdout, 1<<30) },
	"late":            func(a actor) { a.read(); a.late() },
	"reverse":         func(a actor) { a.reverse() },
	"parts":           func(a actor) { a.parts() },
	"stop-in-parts":   func(a actor) { fmt.Printf(`{"id":%d,"part":{"n":1}}`+"\n", a.read()); time.Sleep(forever) },
	"die-in-parts":    func(a actor) { fmt.Printf(`{"id":%d,"part":{"n":1}}`+"\n", a.read()); os.Exit(1) },
	"shout": func(a actor) {
		for range 100_000 {
			fmt.Fprintln(os.Stderr, "\x1b[31mnoise")
		}
		flood(os.Stderr, 10<<20)
		a.echo()
	},
	"family":  func(a actor) { a.fork(false); a.echo() },
	"escape":  func(a actor) { a.fork(true); os.Exit(4) },
	"orphan":  func(a actor) { a.fork(true); a.echo() },
	"outlive": func(actor) { signal.Ignore(syscall.SIGTERM); time.Sleep(forever) },
}

// echo answers every call with its id until stdin ends.
func (a actor) echo() {
	for {
		fmt.Printf(`{"id":%d,"result":{"n":1}}`+"\n", a.read())
	}
}

// flood writes a line without an end.
func flood(to io.Writer, bytes int) {
	piece := []byte(strings.Repeat("x", 1<<20))
	for range bytes >> 20 {
		if _, err := to.Write(piece); err != nil {
			os.Exit(1)
		}
	}
}

// late answers the first call after the second one has arrived.
func (a actor) late() {
	second := a.read()
	fmt.Printf(`{"id":%d,"result":{"n":1}}`+"\n", second-1)
	fmt.Printf(`{"id":%d,"result":{"n":2}}`+"\n", second)
	a.read()
}

// reverse answers eight calls in reverse order.
func (a actor) reverse() {
	var ids []int
	for range 8 {
		ids = append(ids, a.read())
	}
	for i := range ids {
		id := ids[len(ids)-1-i]
		fmt.Printf(`{"id":%d,"result":{"n":%d}}`+"\n", id, id)
	}
	a.read()
}

// parts answers in a thousand parts.
func (a actor) parts() {
	id := a.read()
	for i := range 1000 {
		fmt.Printf(`{"id":%d,"part":{"n":%d}}`+"\n", id, i)
	}
	fmt.Printf(`{"id":%d,"result":{}}`+"\n", id)
	a.read()
}

// fork starts a process that keeps the pipes, and writes its number to standard error.
func (actor) fork(leave bool) {
	child := exec.Command(os.Args[0], "plug-in", "heir")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if leave {
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	fmt.Fprintf(os.Stderr, "child %d\n", child.Process.Pid)
}

func init() {
	greetings["heir"] = func(actor) { signal.Ignore(syscall.SIGTERM); time.Sleep(forever) }
}

// collectChildren collects the processes that a program starts and tells of on standard error. At the end of the test they are killed.
func collectChildren(t *testing.T, s *Settings) func() []int {
	var mu sync.Mutex
	var list []int
	s.Log = func(line string) {
		if _, number, ok := strings.Cut(line, "child "); ok {
			if pid, err := strconv.Atoi(number); err == nil {
				mu.Lock()
				defer mu.Unlock()
				list = append(list, pid)
			}
		}
	}
	get := func() []int { mu.Lock(); defer mu.Unlock(); return list }
	t.Cleanup(func() {
		for _, pid := range get() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return get
}
