//go:build linux

package foreign

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"time"
)

// opened has the C library open; nil = this system has another C library, which the refusal says.
func opened(t *testing.T, patience time.Duration) *Process {
	t.Helper()
	p, err := Open("libc.so.6", patience)
	if err != nil {
		if _, none := os.Stat(interpreter); none != nil && strings.Contains(err.Error(), "GNU C library") {
			return nil
		}
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func symbol(t *testing.T, p *Process, name string) uint64 {
	t.Helper()
	at, err := p.Symbol(name)
	if err != nil || at == 0 {
		t.Fatalf("%s: %#x, %v", name, at, err)
	}
	return at
}

// TestCalls: functions of the C library get all six arguments and work on the memory; several calls go in one message.
func TestCalls(t *testing.T) {
	p := opened(t, time.Minute)
	if p == nil {
		return
	}
	if id, err := p.call(symbol(t, p, "getpid")); err != nil || int(id) != p.cmd.Process.Pid {
		t.Errorf("process %d, %v; want %d", id, err, p.cmd.Process.Pid)
	}
	if err := p.Put(100, []byte("%d %d %d\x00")); err != nil {
		t.Fatal(err)
	}
	write, length := symbol(t, p, "snprintf"), symbol(t, p, "strlen")
	calls := []Call{{Function: write, Args: [6]uint64{p.Address(200), 100, p.Address(100), 1, 22, 333}}, {Function: length, Args: [6]uint64{p.Address(200)}}}
	text := make([]byte, 20)
	if err := p.Do(calls, 200, text); err != nil || calls[0].Result != 8 || calls[1].Result != 8 || Text(text) != "1 22 333" {
		t.Errorf("%+v, %q, %v", calls, text, err)
	}
	set := symbol(t, p, "memset")
	many := make([]Call, MostCalls)
	for i := range many {
		many[i] = Call{Function: set, Args: [6]uint64{p.Address(1000 + i), uint64(i), 1}}
	}
	bytes := make([]byte, MostCalls)
	if err := p.Do(many, 1000, bytes); err != nil {
		t.Fatal(err)
	}
	for i, b := range bytes {
		if int(b) != i {
			t.Errorf("byte %d is %d", i, b)
		}
	}
	// malloc and the threads' storage of the library work, though no main of C ever ran: getenv, strdup and errno need them.
	if err := p.Put(0, []byte("/no/such/file\x00")); err != nil {
		t.Fatal(err)
	}
	calls = []Call{{Function: symbol(t, p, "strdup"), Args: [6]uint64{p.Address(0)}}, {Function: symbol(t, p, "access"), Args: [6]uint64{p.Address(0)}}, {Function: symbol(t, p, "__errno_location")}}
	if err := p.Do(calls, 0, nil); err != nil || calls[0].Result == 0 || int32(calls[1].Result) != -1 {
		t.Fatalf("%+v, %v", calls, err)
	}
	copied := Call{Function: symbol(t, p, "memcpy"), Args: [6]uint64{p.Address(0), calls[2].Result, 4}}
	number := make([]byte, 4)
	if err := p.Do([]Call{copied}, 0, number); err != nil || binary.LittleEndian.Uint32(number) != 2 {
		t.Errorf("errno %d, want 2 (ENOENT): %v", binary.LittleEndian.Uint32(number), err)
	}
}

// TestRefusals: what is not there is said in the loader's words, and too much is refused before it is sent.
func TestRefusals(t *testing.T) {
	p := opened(t, time.Minute)
	if p == nil {
		return
	}
	if at, err := p.Symbol("no_such_function"); at != 0 || err != nil {
		t.Errorf("%#x, %v", at, err)
	}
	if _, err := Open("libno-such.so.1", time.Minute); err == nil || !strings.Contains(err.Error(), "libno-such.so.1: cannot open shared object file") {
		t.Error(err)
	}
	if _, err := start("/no/such/loader", time.Minute); err == nil || !strings.Contains(err.Error(), "no loader") {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"long": p.Put(0, make([]byte, message)), "beyond": p.Put(Memory-1, []byte("ab")), "before": p.Put(-1, []byte("a")), "calls": p.Do(make([]Call, MostCalls+1), 0, nil),
		"out": p.Do(nil, Memory, make([]byte, 1)),
	} {
		if err == nil || !strings.Contains(err.Error(), "fit") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if id, err := p.call(symbol(t, p, "getpid")); err != nil || int(id) != p.cmd.Process.Pid {
		t.Error("the process is gone:", err)
	}
}

// TestBroken: a library that dies or hangs costs the process, never the program; afterwards every call fails at once.
func TestBroken(t *testing.T) {
	p := opened(t, time.Minute)
	if p == nil {
		return
	}
	if _, err := p.call(symbol(t, p, "abort")); err == nil || !strings.Contains(err.Error(), "abort") {
		t.Error(err)
	}
	if _, err := p.call(1); err == nil {
		t.Error("a dead process answers")
	}
	p = opened(t, time.Minute)
	if _, err := p.call(8); err == nil || !strings.Contains(err.Error(), "segmentation") {
		t.Error(err)
	}
	p = opened(t, time.Minute)
	hang := symbol(t, p, "pause")
	p.patience = 10 * time.Millisecond
	if _, err := p.call(hang); err == nil || !strings.Contains(err.Error(), "no answer within 10ms") {
		t.Error(err)
	}
	if _, err := p.call(hang); err == nil {
		t.Error("a dead process answers")
	}
	p.Close()
}
