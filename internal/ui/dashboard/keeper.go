package dashboard

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"

	"aiperf/internal/terminal"
)

// A process that ends by a fault in some goroutine, by SIGKILL or for want of memory cannot give its terminal back. A second process does it
// then, the keeper: this program again, which holds the terminal and the reading end of a pipe, and sleeps. The writing end is ours alone, so
// the pipe ends when we do, however that is. What the runtime says of a fault goes through it too, since it was said on the screen of the view.

// KeeperCommand is the only argument of this program as a keeper, but for the modes of the terminal.
const KeeperCommand = "keep-terminal"

// Words on the pipe. All else on it is what the runtime says of a fault.
const (
	wordShown = 1 // the view has the terminal
	wordAside = 2 // it does not
)

// Files of a keeper.
const (
	keeperIn = iota + 3
	keeperOut
)

// keeper is our end of one. A nil one keeps nothing.
type keeper struct {
	pipe    *os.File
	cmd     *exec.Cmd
	started chan struct{} // closed when it runs, or cannot
	once    sync.Once
}

// keep starts a keeper of a terminal as it is now; nil = there can be none, and the view goes on without. The process starts while the view makes its
// first frame, which waits for it (paced): words on the pipe do not.
func keep(t *Terminal) *keeper {
	modes, ok := modesOf(t.In)
	if !ok {
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	k := &keeper{pipe: write, cmd: exec.Command(exe, KeeperCommand, modes), started: make(chan struct{})}
	k.cmd.Stdin, k.cmd.ExtraFiles, k.cmd.SysProcAttr = read, []*os.File{t.In, t.Out}, apart()
	go func() {
		defer close(k.started)
		defer read.Close()
		if k.cmd.Start() == nil { // else nobody keeps the terminal; the view goes on without
			_ = debug.SetCrashOutput(write, debug.CrashOptions{}) // without it the terminal is given back all the same
		}
	}()
	return k
}

// await waits until it runs, or cannot.
func (k *keeper) await() {
	if k != nil {
		<-k.started
	}
}

func (k *keeper) say(word byte) {
	if k != nil {
		_, _ = k.pipe.Write([]byte{word}) // one that was killed keeps nothing
	}
}

// release ends it: the terminal was given back.
func (k *keeper) release() {
	if k == nil {
		return
	}
	k.once.Do(func() {
		k.say(wordAside)
		k.await()
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = k.pipe.Close()
		go func() { _ = k.cmd.Wait() }()
	})
}

// Keep is what a keeper does: it waits for the end of the process that shows the view, and gives the terminal back if nobody has. Status 0.
func Keep(modes string) int {
	in, out := os.NewFile(keeperIn, "terminal in"), os.NewFile(keeperOut, "terminal out")
	shown, fault := listen(os.Stdin)
	if !shown {
		return 0
	}
	restoreModes(in, modes)
	_, _ = io.WriteString(out, reset)
	if fault != "" {
		text := "\naiperf: this program has ended by a fault of its own:\n" + terminal.Text(fault)
		_, _ = io.WriteString(out, strings.ReplaceAll(text, "\n", "\r\n")) // whoever has the terminal by now may want raw lines
	}
	return 0
}

// mostFault bounds what is kept of a fault, in bytes.
const mostFault = 64 << 10

// listen reads words until the pipe ends: whether the view has the terminal, and what was said of a fault.
func listen(pipe io.Reader) (shown bool, fault string) {
	var b strings.Builder
	for r := bufio.NewReader(pipe); ; {
		switch c, err := r.ReadByte(); {
		case err != nil:
			return shown, b.String()
		case b.Len() == 0 && (c == wordShown || c == wordAside):
			shown = c == wordShown
		case b.Len() < mostFault:
			b.WriteByte(c)
		}
	}
}

// encode and decode are modes of a terminal as one argument.
func encode(modes any) string {
	text, err := json.Marshal(modes)
	if err != nil {
		return ""
	}
	return string(text)
}

func decode(text string, modes any) bool { return json.Unmarshal([]byte(text), modes) == nil }
