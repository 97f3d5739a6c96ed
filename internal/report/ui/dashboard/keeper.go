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

	"aiperf/internal/base/terminal"
)

// A process that dies of a panic in some goroutine, of SIGKILL or out of memory cannot restore its terminal. A second process, the keeper, does it
// then. The keeper is this program again. It holds the terminal and the reading end of a pipe, and sleeps. Only we have the writing end, so the pipe
// is closed when we die, however that happens. The message of a panic goes through the pipe too, because the screen of the view would hide it.

// KeeperCommand is the only argument of this program as a keeper, apart from the modes of the terminal.
const KeeperCommand = "keep-terminal"

// Bytes on the pipe. Everything else on it is the message of a panic.
const (
	wordShown = 1 // the view is on the terminal
	wordAside = 2 // it is not
)

// File descriptors of a keeper.
const (
	keeperIn = iota + 3
	keeperOut
)

// keeper is our end of a keeper process. A nil keeper does nothing.
type keeper struct {
	pipe    *os.File
	cmd     *exec.Cmd
	started chan struct{} // closed when it runs, or cannot start
	once    sync.Once
}

// keep starts a keeper that restores the present modes of a terminal. It returns nil if that is impossible; the view works without it. The process
// starts while the view makes its first frame, which waits for it (pacedWriter). Bytes on the pipe need not wait.
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
	k.cmd.Stdin, k.cmd.ExtraFiles, k.cmd.SysProcAttr = read, []*os.File{t.In, t.Out}, newSession()
	go func() {
		defer close(k.started)
		defer read.Close()
		if k.cmd.Start() == nil { // without a keeper the view still works
			_ = debug.SetCrashOutput(write, debug.CrashOptions{}) // if it fails, the terminal is restored anyway
		}
	}()
	return k
}

// await waits until the keeper runs, or has failed to start.
func (k *keeper) await() {
	if k != nil {
		<-k.started
	}
}

func (k *keeper) say(word byte) {
	if k != nil {
		_, _ = k.pipe.Write([]byte{word}) // the keeper may have been killed
	}
}

// release ends the keeper after the terminal was restored.
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

// Keep is the main function of a keeper: it waits for the end of the process with the view, and restores the terminal if that process did not. It
// returns exit status 0.
func Keep(modes string) int {
	in, out := os.NewFile(keeperIn, "terminal in"), os.NewFile(keeperOut, "terminal out")
	shown, fault := listen(os.Stdin)
	if !shown {
		return 0
	}
	restoreModes(in, modes)
	_, _ = io.WriteString(out, reset)
	if fault != "" {
		text := "\naiperf crashed because of an internal error:\n" + terminal.Text(fault)
		_, _ = io.WriteString(out, strings.ReplaceAll(text, "\n", "\r\n")) // the terminal may already be in raw mode again
	}
	return 0
}

// maxFault limits the stored message of a panic, in bytes.
const maxFault = 64 << 10

// listen reads the pipe to its end. It returns whether the view was on the terminal, and the message of a panic.
func listen(pipe io.Reader) (shown bool, fault string) {
	var b strings.Builder
	for r := bufio.NewReader(pipe); ; {
		switch c, err := r.ReadByte(); {
		case err != nil:
			return shown, b.String()
		case b.Len() == 0 && (c == wordShown || c == wordAside):
			shown = c == wordShown
		case b.Len() < maxFault:
			b.WriteByte(c)
		}
	}
}

// encode and decode convert the modes of a terminal to and from one argument.
func encode(modes any) string {
	text, err := json.Marshal(modes)
	if err != nil {
		return ""
	}
	return string(text)
}

func decode(text string, modes any) bool { return json.Unmarshal([]byte(text), modes) == nil }
