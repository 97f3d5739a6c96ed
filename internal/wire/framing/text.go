package framing

import (
	"unicode/utf8"

	"aiperf/internal/base/jsontext"
)

// Text is a stream of plain text without any framing: whatever one read of the connection brings is a message. So the messages depend on how the
// network cuts the stream. A character is never cut.
type Text struct{}

var textMedia = []string{"text/plain", "application/octet-stream", "text/html"}

// Media implements Format.
func (Text) Media() []string { return textMedia }

// Framer implements Format.
func (Text) Framer() Framer { return new(textFramer) }

// Ends implements Format: only the end of the body ends the stream.
func (Text) Ends([]byte) (last, mark bool) { return false, false }

// MayFail implements Format: text reports no failure.
func (Text) MayFail([]byte, bool) bool { return false }

// Data implements Format.
func (Text) Data(raw []byte, _ bool) (doc []byte, ok bool) { return raw, true }

// Parse implements Format. The data of the event are the text as a JSON string, because white space at its ends counts.
func (Text) Parse(e *Event, raw []byte) {
	e.Reset()
	e.lines = append(e.lines, line{name: dataName, value: jsontext.AppendString(nil, string(raw))})
}

// Unlabelled implements Format.
func (Text) Unlabelled([]byte) bool { return false }

// Failure implements Format.
func (Text) Failure() string { return NDJSON{}.Failure() }

// textFramer cuts a stream where its reads end. The zero value is ready for the start of a stream.
type textFramer struct{ pos int }

// Next implements Framer.
func (f *textFramer) Next(buf []byte) (Span, bool) {
	from, to := f.pos, wholeRunes(buf, f.pos)
	f.pos = to
	return Span{from, to, 1}, from < to
}

// wholeRunes returns the end of the last complete character of buf, at least from.
func wholeRunes(buf []byte, from int) int {
	for i := len(buf) - 1; i >= max(from, len(buf)-utf8.UTFMax); i-- {
		if utf8.RuneStart(buf[i]) {
			if utf8.FullRune(buf[i:]) {
				break
			}
			return i
		}
	}
	return len(buf)
}

// Finish implements Framer.
func (f *textFramer) Finish(buf []byte) (Span, bool) {
	s := Span{f.pos, len(buf), 1}
	f.pos = len(buf)
	return s, s.Start < s.End
}

// Pending implements Framer.
func (f *textFramer) Pending() int { return f.pos }

// PendingLines implements Framer.
func (f *textFramer) PendingLines() int { return 0 }

// Rebase implements Framer.
func (f *textFramer) Rebase(n int) { f.pos -= n }
