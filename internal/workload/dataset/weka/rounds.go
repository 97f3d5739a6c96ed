package weka

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/workload/dataset/rows"
)

// storedRounds stores rounds in a temporary file. Records have a fixed size, and each has the offset of the previous one of its session.
type storedRounds struct {
	boundedfile.SpooledBytes
	path   string // path of the recording
	buffer []byte // data not yet written
	models map[string]uint32
	names  []string // model names
	fault  error
}

// roundSize is the size of a record in bytes: the offset of the previous record plus 1 (0 = none), seven numbers, line, model and flags.
const roundSize = 8*8 + 4 + 4 + 1

// Flags of a record.
const (
	roundTool = 1 << iota
	roundStopped
)

// put stores a round.
func (k *storedRounds) put(s *recordedSession, q *round, r *rows.Row) {
	if k.path == "" {
		if k.path = r.Line.Path; k.path == "" {
			k.path = r.Where
		}
		k.Name = k.path
	}
	model, known := k.models[q.request.model]
	if !known {
		model = uint32(len(k.names))
		k.models[q.request.model] = model
		k.names = append(k.names, q.request.model)
	}
	before := s.last + 1
	if s.rounds == 0 {
		before = 0
	}
	s.last = k.Size() + int64(len(k.buffer))
	s.rounds++
	b := k.buffer
	for _, v := range []uint64{
		uint64(before), math.Float64bits(q.request.at), math.Float64bits(q.request.service), uint64(q.number), uint64(q.prefix), uint64(q.total),
		uint64(q.request.in), uint64(q.request.out),
	} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Line.Number))
	b = binary.LittleEndian.AppendUint32(b, model)
	var flags byte
	if q.request.toolResult {
		flags |= roundTool
	}
	if q.request.stopped {
		flags |= roundStopped
	}
	b = append(b, flags)
	if k.buffer = b; len(b) >= 1<<16 {
		k.flush()
	}
}

// flush writes the buffered data.
func (k *storedRounds) flush() {
	if k.fault == nil {
		_, k.fault = k.Write(k.buffer)
	}
	k.buffer = k.buffer[:0]
}

// read reads the rounds of a session in the order in which they were added. After an error it returns none.
func (k *storedRounds) read(s *recordedSession) []round {
	list := make([]round, 0, s.rounds)
	var b [roundSize]byte
	for at := s.last; len(list) < s.rounds && k.fault == nil; {
		if _, k.fault = k.ReadAt(b[:], at); k.fault != nil {
			return nil
		}
		number := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
		q := round{number: int64(number(3)), prefix: int(number(4)), total: int(number(5))}
		q.request = Request{
			at: math.Float64frombits(number(1)), service: math.Float64frombits(number(2)), in: int(number(6)), out: int(number(7)), typed: true,
			where: k.path, model: k.names[binary.LittleEndian.Uint32(b[68:])], toolResult: b[72]&roundTool != 0, stopped: b[72]&roundStopped != 0,
		}
		if line := binary.LittleEndian.Uint32(b[64:]); line > 0 {
			q.request.where += ":" + strconv.Itoa(int(line))
		}
		list = append(list, q)
		at = int64(number(0)) - 1
	}
	slices.Reverse(list)
	return list
}
