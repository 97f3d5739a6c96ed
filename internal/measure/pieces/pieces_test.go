package pieces

import (
	compare "cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/base/binenc"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

func selection(t testing.TB) *metric.Selection {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true, Goodput: "request_latency:70 time_to_first_token:30"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// rows makes requests of a warm-up and two measured phases: valid, failed and cut.
func rows(set *metric.Selection, n int) (list []*metric.Row) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		start := int64(1e9) + int64(i)*7_000_003
		rec := &record.Record{
			Meta:  record.Meta{PhaseIndex: i * 3 / n, Warmup: i*3/n == 0, RequestID: fmt.Sprint("r", i), ConversationID: fmt.Sprint("c", i%7), Model: "m"},
			Start: start, Issued: start - 1000, Intended: start - 2000, End: start + 40_000_000 + r.Int64N(60_000_000), WallOffset: 1_800_000_000_000_000_000,
		}
		rec.Trace = &record.Trace{Reused: start, SendStart: start, SendEnd: start + 9000, FirstChunk: start + 10_000_000, LastChunk: rec.End, Reads: 6, ReadDelaySum: r.Int64N(1000), SharedReads: i % 2}
		reply := &record.Reply{PerChunkTokens: -1}
		switch i % 11 {
		case 3:
			rec.Error = &record.Error{Code: 400 + i%2, Type: "Bad Request", Message: fmt.Sprint("no ", i%3)}
		case 7:
			rec.Error, rec.Cut, rec.CancelledAt = &record.Error{Type: "X"}, "deadline", rec.End
		default:
			at := start + 10_000_000 + r.Int64N(25_000_000)
			for k := range 1 + r.IntN(9) {
				reply.Contents = append(reply.Contents, record.Content{At: at, Text: "a", Message: k})
				rec.Messages = append(rec.Messages, record.Message{UncertainNs: int64(r.IntN(3)) * 400_000})
				at += r.Int64N(4_000_000)
			}
		}
		list = append(list, set.Row(rec, reply, record.Counts{Input: r.IntN(60), Output: len(reply.Contents), Reasoning: -1}))
	}
	return list
}

// figures is everything that a report takes from the requests.
type figures struct {
	Summary, Warmup *metric.Summary
	Slices          []metric.Slice
	Bins            []metric.Bin
	Trend           metric.Trend
	Lumps           metric.LumpStats
	Paths           metric.PathUse
	Phases          []*metric.Summary
	Slowest         []metric.SlowRequest
}

func figuresOf(m *Merged) figures {
	f := figures{
		Summary: m.Profiling.Summary(metric.Window{}), Warmup: m.Warmup.Summary(metric.Window{}), Slices: m.Profiling.Slices(0.5), Bins: m.Profiling.Course(metric.Window{}).Bins(0.5, 20),
		Trend: m.Profiling.Trend(), Lumps: m.Profiling.Lumps(), Paths: m.Profiling.Paths(), Slowest: m.Slowest,
	}
	for i := range f.Bins {
		f.Bins[i].InFlight = math.Round(1e9 * f.Bins[i].InFlight) // a sum in the order of the requests; only charts show it
	}
	for i := range 3 {
		f.Phases = append(f.Phases, m.Phases[i].Summary(metric.Window{}))
	}
	for _, s := range append(f.Phases, f.Summary, f.Warmup) { // errors of the same number are in the order in which they came first
		slices.SortStableFunc(s.Errors, func(a, b metric.ErrorGroup) int {
			return compare.Or(compare.Compare(b.Count, a.Count), compare.Compare(a.Error.Code, b.Error.Code), compare.Compare(a.Error.Message, b.Error.Message))
		})
	}
	return f
}

var exactly = cmp.Options{cmpopts.EquateNaNs(), cmpopts.IgnoreUnexported(metric.Summary{}, metric.Metric{}), cmp.Comparer(func(a, b *metric.Metric) bool { return a == b })}

// onOne reduces the rows in one process.
func onOne(set *metric.Selection, list []*metric.Row) figures {
	all := &Merged{Profiling: set.NewReducer(), Warmup: set.NewReducer(), Phases: map[int]*metric.Reducer{}}
	var slowest metric.Slowest
	for i := range 3 {
		all.Phases[i] = set.NewReducer()
	}
	for _, row := range list {
		if row.Meta.Warmup {
			all.Warmup.Add(row)
		} else {
			all.Profiling.Add(row)
			slowest.Add(row)
		}
		all.Phases[row.Meta.PhaseIndex].Add(row)
	}
	all.Slowest = slowest.List
	return figuresOf(all)
}

// delivery is a sealed piece on its way.
type delivery struct {
	machine int
	number  int64
	sealed  []byte
}

// onSeveral reduces the rows on several machines, each into some pieces.
func onSeveral(t *testing.T, set *metric.Selection, list []*metric.Row, machines, pieces int) (all []delivery) {
	t.Helper()
	for k := range machines {
		s := NewSealer(set, func(number int64, sealed []byte) error {
			all = append(all, delivery{k, number, sealed})
			return nil
		})
		mine := 0
		for i, row := range list {
			if i%machines != k {
				continue
			}
			s.Observe(row)
			if mine++; mine%max(1, len(list)/machines/pieces) == 0 {
				if err := s.Seal(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.Close(fmt.Append(nil, "about ", k)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestPiecesMergeExactly: pieces of 2, 4 and 8 machines, in any order and some of them twice, give every figure of one process, bit for bit.
func TestPiecesMergeExactly(t *testing.T) {
	set := selection(t)
	list := rows(set, 400)
	want := onOne(set, list)
	r := rand.New(rand.NewPCG(5, 6))
	for _, machines := range []int{1, 2, 4, 8} {
		for range 2 {
			sent := onSeveral(t, set, list, machines, 1+r.IntN(5))
			sent = append(sent, sent[:len(sent)/2]...)
			r.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
			m, err := NewMerger(set, machines, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for i, d := range sent {
				if err := m.Add(d.machine, d.sealed); err != nil {
					t.Fatal(err)
				}
				if s := m.State(d.machine); i == 0 && len(sent) > 3*machines && s.Complete {
					t.Errorf("complete after one piece: %+v", s)
				}
				size += len(d.sealed)
			}
			total := int64(0)
			for k := range machines {
				s := m.State(k)
				if total += s.Rows; !s.Complete || string(s.About) != fmt.Sprint("about ", k) {
					t.Errorf("machine %d: %+v", k, s)
				}
			}
			if total != int64(len(list)) {
				t.Errorf("%d requests of %d", total, len(list))
			}
			for range 2 { // merging changes nothing
				merged, err := m.Merge()
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, figuresOf(merged), exactly); d != "" {
					t.Fatalf("%d machines: %s", machines, d)
				}
			}
			if size > 600*len(list) {
				t.Errorf("%d bytes for %d requests", size, len(list))
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestLostPieces: without one of its pieces a machine is not complete, and what came is used.
func TestLostPieces(t *testing.T) {
	set := selection(t)
	list := rows(set, 300)
	sent := onSeveral(t, set, list, 2, 5)
	dir := t.TempDir()
	m, err := NewMerger(set, 2, dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range sent {
		if d.machine == 1 && d.number == 2 {
			continue
		}
		if err := m.Add(d.machine, sent[i].sealed); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := m.State(0), m.State(1); !a.Complete || b.Complete || b.Rows >= 150 || b.About == nil {
		t.Errorf("%+v %+v", a, b)
	}
	merged, err := m.Merge()
	if err != nil {
		t.Fatal(err)
	}
	valid, failed, cut := merged.Profiling.Counts()
	warm, warmFailed, warmCut := merged.Warmup.Counts()
	if got := valid + failed + cut + warm + warmFailed + warmCut; got != m.State(0).Rows+m.State(1).Rows {
		t.Errorf("%d requests", got)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestHostilePieces: nothing that a machine sends counts requests twice or is used half.
func TestHostilePieces(t *testing.T) {
	set := selection(t)
	one, other := onSeveral(t, set, rows(set, 100), 1, 4), onSeveral(t, set, rows(set, 200), 1, 4)
	m, err := NewMerger(set, 1, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	refuse := func(what, want string, sealed []byte) {
		t.Helper()
		before := m.State(0)
		if err := m.Add(0, sealed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
		if d := cmp.Diff(before, m.State(0)); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	if err := m.Add(0, one[1].sealed); err != nil {
		t.Fatal(err)
	}
	refuse("another piece of the same number", "different contents", other[1].sealed)
	refuse("half a piece", "cannot be read", one[0].sealed[:len(one[0].sealed)/2])
	refuse("noise", "cannot be read", []byte(strings.Repeat("noise", 100)))
	refuse("nothing", "cannot be read", nil)
	refuse("a large piece", "at most", make([]byte, MaxSize+1))
	if err := m.Add(5, one[0].sealed); err == nil {
		t.Error("machine 5 of 1")
	}
	p, err := open(one[0].sealed)
	if err != nil {
		t.Fatal(err)
	}
	change := func(do func(p *piece)) []byte {
		changed := *p
		changed.parts = slices.Clone(p.parts)
		do(&changed)
		b, err := changed.seal()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	refuse("too few rows", "and says", change(func(p *piece) { p.rows-- }))
	refuse("a part twice", "and says", change(func(p *piece) { p.parts = append(p.parts, p.parts[0]) }))
	refuse("a negative number", "number -1", change(func(p *piece) { p.number = -1 }))
	refuse("a far number", "at most", change(func(p *piece) { p.number = maxPieces }))
	refuse("last, but not so", "not the last one", change(func(p *piece) { p.last, p.total.Pieces = true, 9 }))
	refuse("other metrics", "other metrics", change(func(p *piece) {
		set, err := metric.NewSelection(metric.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.parts[0].reduced = set.NewReducer().Append(nil)
	}))
	last := one[len(one)-1]
	if err := m.Add(0, last.sealed); err != nil {
		t.Fatal(err)
	}
	refuse("a piece after the last one", "the machine said", change(func(p *piece) { p.number = last.number + 1 }))
}

// TestSealerKeepsUnacceptedPieces: a piece whose receipt was not confirmed is offered again, unchanged, and those after it wait.
func TestSealerKeepsUnacceptedPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := selection(t)
		list := rows(set, 60)
		var sent []delivery
		broken := true
		s := NewSealer(set, func(number int64, sealed []byte) error {
			sent = append(sent, delivery{0, number, sealed})
			if broken {
				return errors.New("no connection")
			}
			return nil
		})
		for i, row := range list {
			s.Observe(row)
			if i%20 == 19 {
				time.Sleep(sealEvery)
				synctest.Wait()
			}
		}
		broken = false
		if err := s.Close(nil); err != nil {
			t.Fatal(err)
		}
		m, err := NewMerger(set, 1, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, d := range sent {
			if err := m.Add(0, d.sealed); err != nil {
				t.Fatal(err)
			}
		}
		if s := m.State(0); !s.Complete || s.Rows != 60 || s.Twice != 3 || s.Pieces < 3 {
			t.Errorf("%+v of %d deliveries", s, len(sent))
		}
	})
}

// TestSealerReportsLoss: if the sink never takes a piece, Close says so.
func TestSealerReportsLoss(t *testing.T) {
	set := selection(t)
	s := NewSealer(set, func(int64, []byte) error { return os.ErrClosed })
	s.Observe(rows(set, 3)[1])
	if err := s.Close(nil); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func FuzzOpen(f *testing.F) {
	set := selection(f)
	s := NewSealer(set, func(_ int64, sealed []byte) error { f.Add(sealed); return nil })
	for _, row := range rows(set, 20) {
		s.Observe(row)
	}
	if err := s.Close([]byte("about")); err != nil {
		f.Fatal(err)
	}
	m := &Merger{set: set}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := open(b)
		if err != nil {
			return
		}
		if list, err := m.read(p); err == nil && len(list) != len(p.parts) {
			t.Fatalf("%d of %d parts", len(list), len(p.parts))
		}
	})
}

// FuzzPlain reads the binary form without its compression, which hides it from the fuzzer.
func FuzzPlain(f *testing.F) {
	set := selection(f)
	s := NewSealer(set, func(_ int64, sealed []byte) error {
		p, err := open(sealed)
		if err != nil {
			return err
		}
		c := binenc.NewWriter(nil)
		p.visit(c)
		f.Add(c.Bytes())
		return nil
	})
	for _, row := range rows(set, 20) {
		s.Observe(row)
	}
	if err := s.Close([]byte("about")); err != nil {
		f.Fatal(err)
	}
	m := &Merger{set: set}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := read(b)
		if err != nil {
			return
		}
		if list, err := m.read(p); err == nil && len(list) != len(p.parts) {
			t.Fatalf("%d of %d parts", len(list), len(p.parts))
		}
	})
}
