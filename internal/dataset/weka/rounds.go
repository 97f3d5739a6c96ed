package weka

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/dataset/rows"
	"aiperf/internal/infile"
)

// keptRounds are rounds that are not kept in memory: records of one size, each of which tells where the one before it in its session stands.
type keptRounds struct {
	infile.Kept
	path   string // of the file
	buffer []byte // of what is not written yet
	models map[string]uint32
	names  []string // of the models
	fault  error
}

// roundSize is the size of a record: the place of the one before (0 = none, else one more), seven numbers, the line, the model and its flags.
const roundSize = 8*8 + 4 + 4 + 1

// Flags of a record.
const (
	roundTool = 1 << iota
	roundStopped
)

// put keeps a round.
func (k *keptRounds) put(s *recorded, q *round, r *rows.Row) {
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

// flush writes what is not written yet.
func (k *keptRounds) flush() {
	if k.fault == nil {
		_, k.fault = k.Write(k.buffer)
	}
	k.buffer = k.buffer[:0]
}

// of reads the rounds of a session in the order in which they came. After an error there are none.
func (k *keptRounds) of(s *recorded) []round {
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
