package metric

import (
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

// TestReducersMerge: requests that were reduced in parts, some of them written down and read back, add up to what they are together.
func TestReducersMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := chat
		o.Goodput = "request_latency:60"
		set, err := NewSelection(o)
		if err != nil {
			t.Fatal(err)
		}
		whole, merged := set.NewReducer(), set.NewReducer()
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			part := set.NewReducer()
			for range rapid.IntRange(0, 6).Draw(t, "rows") {
				row := drawRow(t, set)
				whole.Add(row)
				part.Add(row)
			}
			if rapid.Bool().Draw(t, "written down") {
				back := set.NewReducer()
				if err := back.Read(part.Append(nil)); err != nil {
					t.Fatal(err)
				}
				part = back
			}
			if err := merged.Merge(part); err != nil {
				t.Fatal(err)
			}
		}
		same := cmp.Options{cmpopts.EquateNaNs(), cmpopts.IgnoreUnexported(Summary{}, Metric{}), cmp.Comparer(func(a, b *Metric) bool { return a == b })}
		if d := cmp.Diff(whole.Summary(Window{}), merged.Summary(Window{}), same); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(whole.Slices(7), merged.Slices(7), same); d != "" {
			t.Fatal(d)
		}
		if whole.Trend() != merged.Trend() {
			t.Fatalf("%+v, want %+v", merged.Trend(), whole.Trend())
		}
	})
}

func TestOtherMetricsDoNotMerge(t *testing.T) {
	one := newSelection(t, chat).NewReducer()
	o := chat
	o.Streaming = false
	other := newSelection(t, o).NewReducer()
	if err := one.Merge(other); err == nil {
		t.Error("merged")
	}
	if err := one.Read(other.Append(nil)); err == nil || !strings.Contains(err.Error(), "other metrics") {
		t.Errorf("read: %v", err)
	}
	b := one.Append(nil)
	b[0] += 2
	if err := newSelection(t, chat).NewReducer().Read(b); err == nil || !strings.Contains(err.Error(), "layout") {
		t.Errorf("another layout: %v", err)
	}
}

func FuzzReadReducer(f *testing.F) {
	set, err := NewSelection(chat)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fill(set, 3).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := set.NewReducer()
		if r.Read(b) == nil && r.class.Len() != r.rows {
			t.Fatalf("%d rows, %d classes", r.rows, r.class.Len())
		}
	})
}
