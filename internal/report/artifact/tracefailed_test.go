package artifact

import (
	"testing"

	"github.com/valyala/fastjson"

	"aiperf/internal/measure/record"
)

// TestTraceOfRequestWithoutAnswer: the file keeps by how much a request without an answer may have left later, so that a report computes the same limits.
func TestTraceOfRequestWithoutAnswer(t *testing.T) {
	r := &record.Record{Start: 100, End: 900, Error: &record.Error{Type: record.ClientTimeout}, Trace: &record.Trace{SendStart: 100, SendUncertainNs: 7, EndUncertainNs: 9}}
	v, err := fastjson.ParseBytes(appendTrace(nil, r))
	if err != nil {
		t.Fatal(err)
	}
	if got := readTrace(v, 0); got.SendUncertainNs != 7 || got.EndUncertainNs != 9 || got.SendStart == 0 {
		t.Errorf("%+v", got)
	}
}
