package endpoint

import (
	"testing"

	"aiperf/internal/measure/record"
)

// An answer that was read while it arrived has the instants that its messages got in the end.
func TestContentsTakeTheFinalInstants(t *testing.T) {
	c := chatCodec(t)
	rec := &record.Record{Start: 1, End: 100, Messages: []record.Message{
		{At: 50, Raw: []byte(`data: {"choices":[{"delta":{"content":"a"}}]}`), Line: true},
		{At: 60, Raw: []byte(`data: {"choices":[{"delta":{"content":"b"}}]}`), Line: true},
	}}
	r := NewReading(c, false)
	if _, failure := r.Content(rec.Messages[:1]); failure != nil {
		t.Fatal(failure)
	}
	rec.Messages[0].At, rec.Messages[1].At = 20, 40
	reply, failure := r.Finish(rec)
	if failure != nil || len(reply.Contents) != 2 || reply.Contents[0].At != 20 || reply.Contents[1].At != 40 {
		t.Errorf("%+v, %v", reply, failure)
	}
}

// TestDecodeGoesOn: a reading that began while messages arrived is finished; its messages are not read again.
func TestDecodeGoesOn(t *testing.T) {
	c, rec := chatCodec(t), events(delta(`"content":"a"`), delta(`"content":"b"`))
	rec.Start, rec.End = 1, 9
	begun := NewReading(c, false)
	if content, failure := begun.Content(rec.Messages); !content || failure != nil {
		t.Fatal(content, failure)
	}
	rec.Messages[0].Raw = []byte(delta(`"content":"x"`))
	rec.Reading = begun
	if reply, failure := Decode(c, rec, DecodeOptions{}); failure != nil || reply.Output != "ab" {
		t.Errorf("%q %v", reply.Output, failure)
	}
	rec.Reading = nil
	if reply, failure := Decode(c, rec, DecodeOptions{}); failure != nil || reply.Output != "xb" {
		t.Errorf("%q %v without a reading", reply.Output, failure)
	}
}
