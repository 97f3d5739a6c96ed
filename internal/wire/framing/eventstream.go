package framing

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/utf8text"
)

// EventStream is the binary framing application/vnd.amazon.eventstream (Amazon Bedrock). A message is a prelude (lengths of the message and of its
// headers, and a checksum), headers, a payload and a checksum; numbers are big-endian. A payload {"bytes": BASE64} stands for the decoded bytes.
// (Smithy 2.0 documentation, "Amazon Event Stream specification")
type EventStream struct{}

var eventStreamMedia = []string{"application/vnd.amazon.eventstream"}

const (
	preludeBytes    = 12
	checksumBytes   = 4
	maxEventMessage = 24 << 20 // bytes; the specification allows payloads of 24 MB
)

// Media implements Format.
func (EventStream) Media() []string { return eventStreamMedia }

// Framer implements Format.
func (EventStream) Framer() Framer { return new(lengthFramer) }

// Ends implements Format: only the end of the body ends the stream.
func (EventStream) Ends([]byte) (last, mark bool) { return false, false }

// MayFail implements Format: damaged messages, exceptions and errors report failures.
func (EventStream) MayFail(raw []byte, _ bool) bool {
	m := readEventMessage(raw)
	return m.fault != "" || m.kind != "event" || NDJSON{}.MayFail(m.payload, true)
}

// wrapped is the start of a payload that holds the real one in Base64.
var wrapped = []byte(`{"bytes":`)

// Data implements Format.
func (EventStream) Data(raw []byte, _ bool) (doc []byte, ok bool) {
	m := readEventMessage(raw)
	return m.payload, m.fault == "" && m.kind == "event" && !bytes.HasPrefix(m.payload, wrapped)
}

// Parse implements Format. A message that is not an event becomes an error event whose comment says what it is.
func (EventStream) Parse(e *Event, raw []byte) {
	e.Reset()
	m := readEventMessage(raw)
	add := func(name, value string) { e.lines = append(e.lines, line{name: []byte(name), value: []byte(value)}) }
	if m.fault != "" {
		add("event", "error")
		add("comment", "The event stream is damaged: "+m.fault)
		return
	}
	switch m.kind {
	case "event":
		if m.name != "" {
			add("event", m.name)
		}
	default:
		add("event", "error")
		add("comment", m.failure())
	}
	if doc := m.document(); len(doc) > 0 {
		e.lines = append(e.lines, line{name: dataName, value: utf8text.Valid(doc)})
	}
}

// Unlabelled implements Format.
func (EventStream) Unlabelled(body []byte) bool {
	n, fault := messageLength(body)
	return fault == "" && n > 0
}

// Failure implements Format.
func (EventStream) Failure() string { return NDJSON{}.Failure() }

// eventMessage is a message of an event stream.
type eventMessage struct {
	kind    string // :message-type: event, exception or error
	name    string // :event-type, :exception-type or :error-code
	text    string // :error-message
	payload []byte
	fault   string // why the message cannot be read; "" = it is intact
}

// failure describes an exception or an error.
func (m *eventMessage) failure() string {
	text := m.text
	if v, err := fastjson.ParseBytes(m.payload); err == nil && text == "" {
		text = string(v.GetStringBytes("message"))
	}
	if text == "" {
		text = string(m.payload)
	}
	if m.name == "" {
		return text
	}
	return m.name + ": " + text
}

// document returns the payload, decoded if it is wrapped.
func (m *eventMessage) document() []byte {
	if !bytes.HasPrefix(m.payload, wrapped) {
		return m.payload
	}
	v, err := fastjson.ParseBytes(m.payload)
	if err != nil {
		return m.payload
	}
	inner, err := base64.StdEncoding.DecodeString(string(v.GetStringBytes("bytes")))
	if err != nil {
		return m.payload
	}
	return inner
}

// messageLength returns the length in bytes that the prelude at the start of b says; 0 = the prelude is not complete.
func messageLength(b []byte) (n int, fault string) {
	if len(b) < preludeBytes {
		return 0, ""
	}
	total, headers := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	switch {
	case crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]):
		return 0, "the checksum of a prelude is wrong"
	case total > maxEventMessage:
		return 0, fmt.Sprintf("a message has %d bytes, at most %d are allowed", total, maxEventMessage)
	case uint64(total) < preludeBytes+checksumBytes+uint64(headers):
		return 0, fmt.Sprintf("a message of %d bytes cannot have headers of %d bytes", total, headers)
	}
	return int(total), ""
}

// readEventMessage reads one message.
func readEventMessage(raw []byte) (m eventMessage) {
	n, fault := messageLength(raw)
	switch {
	case fault != "":
		m.fault = fault
		return m
	case n != len(raw):
		m.fault = "the last message is cut"
		return m
	case crc32.ChecksumIEEE(raw[:n-checksumBytes]) != binary.BigEndian.Uint32(raw[n-checksumBytes:]):
		m.fault = "the checksum of a message is wrong"
		return m
	}
	end := preludeBytes + int(binary.BigEndian.Uint32(raw[4:]))
	m.kind, m.payload = "event", raw[end:n-checksumBytes]
	if !m.headers(raw[preludeBytes:end]) {
		m.fault = "the headers of a message cannot be read"
	}
	return m
}

// valueBytes are the sizes of the header values with a fixed size, by type; -1 = the size precedes the value.
var valueBytes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

// stringHeader is the type of headers that are strings.
const stringHeader = 7

// headers reads the headers that say what the message is; false = they are damaged.
func (m *eventMessage) headers(b []byte) bool {
	for len(b) > 0 {
		name, rest, ok := prefixed(b[1:], int(b[0]))
		if !ok || len(rest) == 0 || int(rest[0]) >= len(valueBytes) {
			return false
		}
		kind := rest[0]
		size := valueBytes[kind]
		if rest = rest[1:]; size < 0 {
			if len(rest) < 2 {
				return false
			}
			size, rest = int(binary.BigEndian.Uint16(rest)), rest[2:]
		}
		var value []byte
		if value, b, ok = prefixed(rest, size); !ok {
			return false
		}
		if kind == stringHeader {
			m.header(string(name), string(value))
		}
	}
	return true
}

func (m *eventMessage) header(name, value string) {
	switch name {
	case ":message-type":
		m.kind = value
	case ":event-type", ":exception-type", ":error-code":
		m.name = value
	case ":error-message":
		m.text = value
	}
}

// prefixed cuts the first n bytes off; ok = false: there are fewer.
func prefixed(b []byte, n int) (head, rest []byte, ok bool) {
	if n > len(b) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// lengthFramer finds messages by their lengths. The zero value is ready for the start of a stream. After a damaged prelude no message can be found
// any more: what follows is one message, which reports the fault, and the rest is skipped.
type lengthFramer struct {
	pos  int // first byte of the current message
	lost bool
}

// Next implements Framer.
func (f *lengthFramer) Next(buf []byte) (Span, bool) {
	if f.lost {
		f.pos = len(buf)
		return Span{}, false
	}
	n, fault := messageLength(buf[f.pos:])
	switch {
	case fault != "":
		f.lost = true
		return f.Finish(buf)
	case n == 0 || n > len(buf)-f.pos:
		return Span{}, false
	}
	s := Span{f.pos, f.pos + n, 1}
	f.pos += n
	return s, true
}

// Finish implements Framer.
func (f *lengthFramer) Finish(buf []byte) (Span, bool) {
	s := Span{f.pos, len(buf), 1}
	f.pos = len(buf)
	return s, s.Start < s.End
}

// Pending implements Framer.
func (f *lengthFramer) Pending() int { return f.pos }

// PendingLines implements Framer: line ends do not matter.
func (f *lengthFramer) PendingLines() int { return 0 }

// Rebase implements Framer.
func (f *lengthFramer) Rebase(n int) { f.pos -= n }
