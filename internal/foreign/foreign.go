// Package foreign calls functions of shared libraries of this machine from a program that is linked to none.
//
// A static program cannot open such a library: the library wants the system's C library, and that one wants to have been there from the first
// instruction on, with its loader and its thread-local storage. So a process of its own has both: a program of some hundred bytes, written into
// memory and started from there, that the system's loader links to the C library. It does one thing: it reads the address of a function and six
// arguments, calls, and writes the result. What a library breaks, it breaks there; a call that never returns is given up.
package foreign

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Call is one call of a function of the process. Arguments are integers and addresses there.
type Call struct {
	Function uint64 // address, from Symbol
	Args     [6]uint64
	Result   uint64 // filled by Do; a C int is its low half
}

// Process is one that has a library open. Its methods but Kill are of one user at a time.
type Process struct {
	cmd      *exec.Cmd
	requests *os.File
	answers  *os.File
	trouble  strings.Builder // what the loader says when it cannot start the program
	patience time.Duration
	handle   uint64     // of the library
	own      [4]uint64  // addresses of what the program itself is linked to, in the order of imports
	broken   error      // why it cannot be used any more
	ended    chan error // the end of the process
}

// Bounds of the process' memory that Put, Do and Address speak of, and of one message: a pipe takes so many bytes at once or none.
const (
	Memory  = 4 << 20
	message = 4096
)

// request is the size of a call on the way to the process: its function and arguments.
const request = 7 * 8

// MostCalls is how many calls go into one Do.
const MostCalls = message/request - 1

// Open starts a process and opens a library there, as dlopen finds it by its name. patience bounds each exchange with it.
func Open(library string, patience time.Duration) (*Process, error) {
	p, err := start(interpreter, patience)
	if err != nil {
		return nil, err
	}
	if err := p.open(library); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// open opens the library. Why it cannot be opened is asked at once: every later call of the loader would answer for itself.
func (p *Process) open(library string) error {
	why, err := p.Symbol("dlerror")
	if err != nil {
		return err
	}
	copied, err := p.Symbol("strncpy")
	if err != nil {
		return err
	}
	const now = 2 // RTLD_NOW
	p.handle, err = p.withText(library, func(at uint64) (uint64, error) { return p.call(p.own[0], at, now) })
	if err != nil || p.handle != 0 {
		return err
	}
	at, err := p.call(why)
	if err != nil || at == 0 {
		return errors.Join(errors.New(library+" cannot be opened"), err)
	}
	text := make([]byte, 300)
	if err := p.Do([]Call{{Function: copied, Args: [6]uint64{p.Address(0), at, uint64(len(text) - 1)}}}, 0, text); err != nil {
		return err
	}
	return errors.New(Text(text))
}

// Text is a C string: what stands before the first zero.
func Text(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Symbol is the address of a function of the library; 0 = it has none of that name. Before one is open, all that the process has is looked through.
func (p *Process) Symbol(name string) (uint64, error) {
	return p.withText(name, func(at uint64) (uint64, error) { return p.call(p.own[1], p.handle, at) })
}

// withText has a C string at the end of the memory while something is called.
func (p *Process) withText(text string, do func(at uint64) (uint64, error)) (uint64, error) {
	if len(text) >= message/2 || strings.ContainsRune(text, 0) {
		return 0, fmt.Errorf("%.40q is no name", text)
	}
	if err := p.Put(Memory-message, append([]byte(text), 0)); err != nil {
		return 0, err
	}
	return do(p.Address(Memory - message))
}

// call makes one call.
func (p *Process) call(function uint64, args ...uint64) (uint64, error) {
	calls := []Call{{Function: function}}
	copy(calls[0].Args[:], args)
	err := p.Do(calls, 0, nil)
	return calls[0].Result, err
}

// Address is a place of the memory as functions see it; at counts from 0 to Memory.
func (p *Process) Address(at int) uint64 { return memoryAt + uint64(at) }

// Put writes bytes into the memory.
func (p *Process) Put(at int, b []byte) error {
	if request+len(b) > message || at < 0 || at+len(b) > Memory {
		return fmt.Errorf("%d bytes at %d do not fit", len(b), at)
	}
	read := Call{Function: p.own[2], Args: [6]uint64{requestsAt, p.Address(at), uint64(len(b))}}
	answer := make([]byte, 8)
	if err := p.exchange(append(read.append(nil), b...), answer); err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint64(answer); n != uint64(len(b)) {
		return p.breakOff(fmt.Errorf("%d of %d bytes arrived", int64(n), len(b)))
	}
	return nil
}

// Do makes calls in their order, fills their results in, and then reads memory from a place on into out.
func (p *Process) Do(calls []Call, from int, out []byte) error {
	if len(calls) > MostCalls || from < 0 || from+len(out) > Memory {
		return fmt.Errorf("%d calls, %d bytes at %d do not fit", len(calls), len(out), from)
	}
	var asked []byte
	for i := range calls {
		asked = calls[i].append(asked)
	}
	if len(out) > 0 {
		write := Call{Function: p.own[3], Args: [6]uint64{answersAt, p.Address(from), uint64(len(out))}}
		asked = write.append(asked)
	}
	answer := make([]byte, 8*len(calls)+len(out)+8)
	if len(out) == 0 {
		answer = answer[:8*len(calls)]
	}
	if err := p.exchange(asked, answer); err != nil {
		return err
	}
	for i := range calls {
		calls[i].Result = binary.LittleEndian.Uint64(answer[8*i:])
	}
	copy(out, answer[8*len(calls):])
	return nil
}

// append writes a call as the process reads it.
func (c *Call) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, c.Function)
	for _, a := range c.Args {
		dst = binary.LittleEndian.AppendUint64(dst, a)
	}
	return dst
}

// exchange sends a message and reads an answer of a known length.
func (p *Process) exchange(asked, answer []byte) error {
	if p.broken != nil {
		return p.broken
	}
	deadline := time.Now().Add(p.patience)
	err := errors.Join(p.requests.SetWriteDeadline(deadline), p.answers.SetReadDeadline(deadline))
	if err == nil {
		_, err = p.requests.Write(asked)
	}
	if err == nil {
		_, err = io.ReadFull(p.answers, answer)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", p.patience)
	}
	if err != nil {
		return p.breakOff(err)
	}
	return nil
}

// breakOff gives the process up: nobody knows any more which answer would be the next.
func (p *Process) breakOff(err error) error {
	_ = p.cmd.Process.Kill()
	select {
	case end := <-p.ended:
		p.ended <- end
		if text := strings.TrimSpace(p.trouble.String()); text != "" {
			err = fmt.Errorf("%w (%.200q)", err, text)
		} else if end != nil && !strings.Contains(end.Error(), "killed") {
			err = fmt.Errorf("%w (%w)", err, end)
		}
	case <-time.After(time.Second): // it hangs in the kernel, and is left there
	}
	p.broken = fmt.Errorf("the process that has the library open: %w", err)
	return p.broken
}

// Kill ends what is under way: its user gets an error. It may be called from any goroutine.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// Close ends the process. Nothing is under way.
func (p *Process) Close() {
	if p.broken == nil {
		_ = p.breakOff(errors.New("closed"))
	}
	_ = p.requests.Close() // both are pipes: nothing is kept back
	_ = p.answers.Close()
}
