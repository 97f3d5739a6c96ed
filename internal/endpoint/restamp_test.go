package endpoint

import (
	"testing"

	"aiperf/internal/record"
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
