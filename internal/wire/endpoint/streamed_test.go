package endpoint

import (
	"encoding/binary"
	"hash/crc32"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// streamed makes a record of a stream that arrives byte by byte; the instant of a message is the number of bytes until its end.
func streamed(f framing.Format, stream []byte) *record.Record {
	rec, framer := &record.Record{Start: 1, End: 1 << 20}, f.Framer()
	add := func(at int, s framing.Span) {
		rec.Messages = append(rec.Messages, record.Message{At: int64(at), Line: s.Lines == 1, Raw: stream[s.Start:s.End]})
	}
	for n := range len(stream) + 1 {
		for s, ok := framer.Next(stream[:n]); ok; s, ok = framer.Next(stream[:n]) {
			add(n, s)
		}
	}
	if s, ok := framer.Finish(stream); ok {
		add(len(stream), s)
	}
	return rec
}

func newEvent(f framing.Format, raw []byte) *framing.Event {
	e := new(framing.Event)
	f.Parse(e, raw)
	return e
}

// eventMessageText returns a message of an Amazon event stream: a header with its kind, and a payload.
func eventMessageText(kind, payload string) string {
	const name = ":message-type"
	headers := append([]byte{byte(len(name))}, name...)
	headers = append(headers, 7)
	headers = binary.BigEndian.AppendUint16(headers, uint16(len(kind)))
	headers = append(headers, kind...)
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}
