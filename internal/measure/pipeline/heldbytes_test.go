package pipeline

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/measure/record"
)

// large is a finished request with an answer of a mebibyte.
func large(i int) *record.Record {
	rec := request(i)
	rec.Messages[0].Raw = append([]byte("data: "), bytes.Repeat([]byte("x"), 1<<20)...)
	return rec
}

// TestLargeAnswersDoNotPileUp: a queue that has room for a thousand records holds only as many bytes as it may; what is put beyond them waits
// in the temporary file, what is fed waits with its giver, and everything comes out.
func TestLargeAnswersDoNotPileUp(t *testing.T) {
	const n = 40
	sink := new(lines)
	o := options(t, sink)
	o.Memory, o.Workers = 4<<20, 1
	blocked := make(chan struct{})
	var most atomic.Int64
	var p *Pipeline
	o.Decode = func(rec *record.Record) (*record.Reply, *record.Error) {
		<-blocked
		p.memory.mu.Lock()
		most.Store(max(most.Load(), p.memory.bytes))
		p.memory.mu.Unlock()
		return decode(rec)
	}
	p = New(o)
	for i := range n {
		p.Put(large(i))
	}
	if _, spilled := p.Backlog(); spilled != n-3 {
		t.Errorf("%d of %d records went to the file", spilled, n)
	}
	close(blocked)
	for i := range n {
		p.Feed(large(n + i))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(sink.got.String(), "\n"); got != 2*n {
		t.Errorf("%d lines of %d", got, 2*n)
	}
	if most.Load() > o.Memory || p.memory.bytes != 0 {
		t.Errorf("%d bytes held at most, %d at the end", most.Load(), p.memory.bytes)
	}
}

// TestMediaDoNotPileUp: the pictures of waiting requests count, those that requests share once.
func TestMediaDoNotPileUp(t *testing.T) {
	const n = 40
	o := options(t, new(lines))
	o.Memory, o.Workers = 4<<20, 1
	blocked := make(chan struct{})
	o.Decode = func(rec *record.Record) (*record.Reply, *record.Error) {
		<-blocked
		return decode(rec)
	}
	p := New(o)
	shared := bytes.Repeat([]byte("s"), 1<<20)
	for i := range n {
		rec := request(i)
		rec.Payload = record.Plain([]byte("{"), shared, []byte("}"))
		p.Put(rec)
	}
	if _, spilled := p.Backlog(); spilled != 0 {
		t.Errorf("%d of %d records with the same picture went to the file", spilled, n)
	}
	for i := range n {
		rec := request(n + i)
		rec.Payload = record.Plain([]byte("{"), bytes.Repeat([]byte("o"), 1<<20), []byte("}"))
		p.Put(rec)
	}
	if _, spilled := p.Backlog(); spilled != n-2 {
		t.Errorf("%d of %d records with pictures of their own went to the file", spilled, n)
	}
	close(blocked)
	if err := p.Close(); err != nil || p.memory.bytes != 0 || len(p.memory.pieces) != 0 {
		t.Errorf("%v; %d bytes, %d pieces held at the end", err, p.memory.bytes, len(p.memory.pieces))
	}
}
