package metric

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"aiperf/internal/measure/record"
)

// drawRow makes a request that succeeded, failed or was cut, at any time.
func drawRow(t *rapid.T, set *Selection) *Row {
	at := float64(rapid.IntRange(0, 100_000).Draw(t, "at"))
	rec := &record.Record{Start: ms(at), Issued: ms(at - 1), Intended: ms(at - 2), End: ms(at + 90), WallOffset: 1_800_000_000_000_000_000}
	rec.MaxTokens = rapid.IntRange(0, 9).Draw(t, "asked for")
	if rapid.Bool().Draw(t, "traced") {
		rec.Trace = &record.Trace{Reused: ms(at), SendStart: ms(at), SendEnd: ms(at + 1), FirstChunk: ms(at + 5), LastChunk: ms(at + 60), Reads: 6, ReadDelaySum: 70, SharedReads: 1}
	}
	reply := &record.Reply{PerChunkTokens: -1}
	switch rapid.IntRange(0, 3).Draw(t, "class") {
	case 0:
		rec.Error = &record.Error{Code: 400, Type: "Bad Request", Message: rapid.SampledFrom([]string{"maximum context length", "no"}).Draw(t, "message"), Chain: []string{"a"}}
	case 1:
		rec.Error, rec.Cut, rec.CancelledAt = &record.Error{Type: "X"}, "deadline", rec.End
	default:
		for k := range rapid.IntRange(1, 4).Draw(t, "messages") {
			reply.Contents = append(reply.Contents, record.Content{At: ms(at + 10 + 10*float64(k)), Text: "a", Message: k})
			rec.Messages = append(rec.Messages, record.Message{UncertainNs: rapid.SampledFrom([]int64{0, 100, 3_000_000}).Draw(t, "uncertain")})
		}
	}
	return set.Row(rec, reply, record.Counts{Input: rapid.IntRange(-1, 50).Draw(t, "isl"), Output: rapid.IntRange(-1, 9).Draw(t, "osl"), Reasoning: -1})
}

// TestRowsReadBack: a row that was written down and read back is the same row.
func TestRowsReadBack(t *testing.T) {
	o := chat
	o.Goodput = "request_latency:60"
	set := newSelection(t, o)
	rapid.Check(t, func(t *rapid.T) {
		row := drawRow(t, set)
		row.Meta = record.Meta{RequestID: rapid.String().Draw(t, "id"), PhaseIndex: 2, ProfilingIndex: -1, Warmup: true}
		if rapid.Bool().Draw(t, "drafts") {
			row.Drafts = &record.Drafts{Steps: 1, Accepted: 2, Proposed: 3, Buckets: []int64{4, 5}}
		}
		back, err := set.ReadRow(row.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(func(a, b *Selection) bool { return a == b })}
		if d := cmp.Diff(row, back, same); d != "" {
			t.Fatal(d)
		}
	})
}

// TestDamagedRows: a row of other metrics, of another layout or with missing parts is refused.
func TestDamagedRows(t *testing.T) {
	set, o := newSelection(t, chat), chat
	o.Streaming = false
	other := newSelection(t, o)
	row := set.Row(&record.Record{Start: ms(1), End: ms(2)}, &record.Reply{PerChunkTokens: -1}, record.Counts{})
	b := row.Append(nil)
	refused := func(want string, s *Selection, b []byte) {
		t.Helper()
		if _, err := s.ReadRow(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refused("other metrics", other, b)
	refused("bytes behind", set, append(append([]byte(nil), b...), 1))
	for n := range b {
		refused("", set, b[:n])
	}
	changed := append([]byte(nil), b...)
	changed[0] += 2
	refused("layout", set, changed)
	failed := *row
	failed.Class, failed.Err = Failed, nil
	refused("without an error", set, failed.Append(nil))
	failed.Class = Cut + 1
	refused("unknown", set, failed.Append(nil))
	bent := *row
	bent.margins = &margins{below: []float64{1}, above: []float64{1}}
	refused("margins", set, bent.Append(nil))
}

// FuzzReadRow: no bytes break the reader.
func FuzzReadRow(f *testing.F) {
	set, err := NewSelection(chat)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(set.Row(&record.Record{Start: 1, End: 2}, nil, record.Counts{}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if row, err := set.ReadRow(b); err == nil {
			set.NewReducer().Add(row)
		}
	})
}
