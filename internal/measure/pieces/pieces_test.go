package pieces

import (
	"bytes"
	compare "cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
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

// merged is what a report is made of.
type merged struct {
	profiling, warmup *metric.Reducer
	phases            []*metric.Reducer
	slowest           metric.Slowest
	lines             []string
}

func newMerged(set *metric.Selection) *merged {
	m := &merged{profiling: set.NewReducer(), warmup: set.NewReducer()}
	for range 3 {
		m.phases = append(m.phases, set.NewReducer())
	}
	return m
}

func (m *merged) add(row *metric.Row) {
	if row.Meta.Warmup {
		m.warmup.Add(row)
	} else {
		m.profiling.Add(row)
		m.slowest.Add(row)
	}
	m.phases[row.Meta.PhaseIndex].Add(row)
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

func figuresOf(m *merged) figures {
	f := figures{
		Summary: m.profiling.Summary(metric.Window{}), Warmup: m.warmup.Summary(metric.Window{}), Slices: m.profiling.Slices(0.5), Bins: m.profiling.Course(metric.Window{}).Bins(0.5, 20),
		Trend: m.profiling.Trend(), Lumps: m.profiling.Lumps(), Paths: m.profiling.Paths(), Slowest: m.slowest.List,
	}
	for i := range f.Bins {
		f.Bins[i].InFlight = math.Round(1e9 * f.Bins[i].InFlight) // a sum in the order of the requests; only charts show it
	}
	for i := range 3 {
		f.Phases = append(f.Phases, m.phases[i].Summary(metric.Window{}))
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
	all := newMerged(set)
	for _, row := range list {
		all.add(row)
	}
	return figuresOf(all)
}

// linesOf returns the entries of a row in two files.
func linesOf(row *metric.Row) ([]byte, []int) {
	first := []byte(row.Meta.RequestID + "\n")
	return append(first, row.Meta.ConversationID...), []int{len(first), len(first) + len(row.Meta.ConversationID)}
}

// delivery is a sealed piece on its way.
type delivery struct {
	machine int
	sealed  []byte
}

// onSeveral gives the rows to several machines, each of which seals some pieces.
func onSeveral(t testing.TB, list []*metric.Row, machines, pieces int) (all [][]delivery) {
	t.Helper()
	all = make([][]delivery, machines)
	for k := range machines {
		s := NewSealer(func(number int64, sealed []byte, last bool) error {
			if number != int64(len(all[k])) {
				t.Errorf("piece %d came as piece %d", number, len(all[k]))
			}
			all[k] = append(all[k], delivery{k, sealed})
			return nil
		})
		mine := 0
		for i, row := range list {
			if i%machines != k {
				continue
			}
			lines, ends := linesOf(row)
			s.Add(row, lines, ends)
			for j := range lines {
				lines[j] = '?' // the caller uses its buffer again
			}
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

// interleave returns the deliveries in an order that keeps that of each machine.
func interleave(r *rand.Rand, sent [][]delivery) (all []delivery) {
	for left := sent; len(left) > 0; {
		k := r.IntN(len(left))
		if len(left[k]) == 0 {
			left = slices.Delete(slices.Clone(left), k, k+1)
			continue
		}
		all = append(all, left[k][0])
		left = slices.Clone(left)
		left[k] = left[k][1:]
	}
	return all
}

func expected(set *metric.Selection) Expected { return Expected{Metrics: set, Phases: 3, Files: 2} }

// TestPiecesMergeExactly: pieces of 2, 4 and 8 machines, in any order, give every figure of one process, bit for bit, and every line once.
func TestPiecesMergeExactly(t *testing.T) {
	set := selection(t)
	list := rows(set, 400)
	want := onOne(set, list)
	r := rand.New(rand.NewPCG(5, 6))
	for _, machines := range []int{1, 2, 4, 8} {
		for range 2 {
			all, accounts, size := newMerged(set), make([]Account, machines), 0
			for _, d := range interleave(r, onSeveral(t, list, machines, 1+r.IntN(5))) {
				p, err := expected(set).Open(d.sealed)
				if err != nil {
					t.Fatal(err)
				}
				if accounts[d.machine].Complete() {
					t.Errorf("machine %d is complete before its last piece", d.machine)
				}
				if err := accounts[d.machine].Add(p); err != nil {
					t.Fatal(err)
				}
				for _, one := range p.Results {
					all.add(one.Row)
					all.lines = append(all.lines, string(one.Lines))
					if lines, ends := linesOf(one.Row); string(lines) != string(one.Lines) || !slices.Equal(ends, one.Ends) {
						t.Fatalf("lines %q, ends %v", one.Lines, one.Ends)
					}
				}
				size += len(d.sealed)
			}
			total := int64(0)
			for k := range accounts {
				a := &accounts[k]
				if total += a.Rows; !a.Complete() || string(a.About()) != fmt.Sprint("about ", k) {
					t.Errorf("machine %d: %+v", k, a)
				}
			}
			if slices.Sort(all.lines); total != int64(len(list)) || len(slices.Compact(all.lines)) != len(list) {
				t.Errorf("%d requests and %d different lines of %d", total, len(slices.Compact(all.lines)), len(list))
			}
			if d := cmp.Diff(want, figuresOf(all), exactly); d != "" {
				t.Fatalf("%d machines: %s", machines, d)
			}
			if size > 600*len(list) {
				t.Errorf("%d bytes for %d requests", size, len(list))
			}
		}
	}
}

// TestAccounts: a machine is complete only with all of its pieces, each once and in their order.
func TestAccounts(t *testing.T) {
	set := selection(t)
	sent := onSeveral(t, rows(set, 300), 1, 5)[0]
	var list []*Piece
	for _, d := range sent {
		p, err := expected(set).Open(d.sealed)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	last := list[len(list)-1]
	for name, one := range map[string]struct {
		order []*Piece
		want  string
	}{
		"a piece twice":         {[]*Piece{list[0], list[0]}, "piece 0 of results came, want 1"},
		"a piece missing":       {[]*Piece{list[0], list[2]}, "piece 2 of results came, want 1"},
		"one after the last":    {append(slices.Clone(list), list[0]), "follows the last"},
		"other numbers":         {[]*Piece{{Total: &Total{Pieces: 1, Rows: 3}}}, "has sent 3 requests in 1 pieces; 0 came in 1"},
		"another last number":   {[]*Piece{{Total: &Total{Pieces: 2}}}, "in 2 pieces"},
		"the last one as first": {[]*Piece{last}, "want 0"},
	} {
		var a Account
		for i, p := range one.order {
			before := a
			err := a.Add(p)
			if i < len(one.order)-1 {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), one.want) || a != before {
				t.Errorf("%s: %v, want %q; %+v, before %+v", name, err, one.want, a, before)
			}
		}
		if name != "one after the last" && (a.Complete() || a.About() != nil) {
			t.Errorf("%s: complete", name)
		}
	}
}

// TestHostilePieces: nothing of a piece is used that does not fit the run.
func TestHostilePieces(t *testing.T) {
	set := selection(t)
	sealed := onSeveral(t, rows(set, 100), 1, 4)[0][0].sealed
	refuse := func(what, want string, x Expected, sealed []byte) {
		t.Helper()
		if _, err := x.Open(sealed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	x := expected(set)
	refuse("half a piece", "cannot be read", x, sealed[:len(sealed)/2])
	refuse("noise", "cannot be read", x, []byte(strings.Repeat("noise", 100)))
	refuse("nothing", "cannot be read", x, nil)
	refuse("a large piece", "at most", x, make([]byte, MaxSize+1))
	other, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refuse("other metrics", "other metrics", Expected{Metrics: other, Phases: 3, Files: 2}, sealed)
	refuse("too few phases", "phase 0 of 0", Expected{Metrics: set, Files: 2}, sealed)
	refuse("other files", "2 entries, want 1", Expected{Metrics: set, Phases: 3, Files: 1}, sealed)
	change := func(do func(p *plain)) []byte {
		p, err := unseal(sealed)
		if err != nil {
			t.Fatal(err)
		}
		do(p)
		b, err := p.seal()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	refuse("a negative number", "number -1", x, change(func(p *plain) { p.number = -1 }))
	refuse("an entry beyond the lines", "ends at byte", x, change(func(p *plain) { p.results[3].ends[1]++ }))
	refuse("an entry that ends before the one before", "ends at byte", x, change(func(p *plain) { p.results[3].ends[1] = 0 }))
	refuse("half a row", "result 2 of piece 0", x, change(func(p *plain) { p.results[2].row = p.results[2].row[:9] }))
}

// TestSealerKeepsUnacceptedPieces: a piece whose receipt was not confirmed is offered again, unchanged, and those after it wait.
func TestSealerKeepsUnacceptedPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := selection(t)
		var taken, refused [][]byte
		broken := true
		s := NewSealer(func(number int64, sealed []byte, last bool) error {
			if broken {
				refused = append(refused, sealed)
				return errors.New("no connection")
			}
			taken = append(taken, sealed)
			return nil
		})
		for i, row := range rows(set, 60) {
			lines, ends := linesOf(row)
			s.Add(row, lines, ends)
			if i%20 == 19 {
				time.Sleep(sealEvery)
				synctest.Wait()
			}
		}
		broken = false
		if err := s.Close(nil); err != nil {
			t.Fatal(err)
		}
		var a Account
		for _, sealed := range taken {
			p, err := expected(set).Open(sealed)
			if err == nil {
				err = a.Add(p)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !a.Complete() || a.Rows != 60 || a.Pieces < 3 || len(refused) != 3 {
			t.Errorf("%+v after %d refusals", a, len(refused))
		}
		for _, sealed := range refused {
			if !bytes.Equal(sealed, taken[0]) {
				t.Error("the piece was changed")
			}
		}
	})
}

// TestSealerReportsLoss: if the sink never takes a piece, or a result fits into none, Close says so.
func TestSealerReportsLoss(t *testing.T) {
	row := rows(selection(t), 3)[1]
	s := NewSealer(func(int64, []byte, bool) error { return os.ErrClosed })
	s.Add(row, nil, nil)
	if err := s.Close(nil); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	pieces := 0
	s = NewSealer(func(int64, []byte, bool) error { pieces++; return nil })
	s.Add(row, make([]byte, maxPlain), []int{maxPlain})
	if err := s.Close(nil); err == nil || !strings.Contains(err.Error(), "at most") || pieces != 1 {
		t.Errorf("%v after %d pieces", err, pieces)
	}
}

// FuzzOpen reads pieces without their compression, which hides the contents from the fuzzer.
func FuzzOpen(f *testing.F) {
	set := selection(f)
	for _, d := range onSeveral(f, rows(set, 20), 1, 2)[0] {
		p, err := unseal(d.sealed)
		if err != nil {
			f.Fatal(err)
		}
		c := binenc.NewWriter(nil)
		p.visit(c)
		f.Add(c.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := readPlain(b)
		if err != nil {
			return
		}
		opened, err := expected(set).open(p)
		if err != nil {
			return
		}
		for _, r := range opened.Results {
			newMerged(set).add(r.Row)
		}
	})
}

// BenchmarkMillion merges a million requests of four machines into everything that a report is made of. It reports the bytes that travel and the heap
// that the merged requests keep.
func BenchmarkMillion(b *testing.B) {
	const count, chunk, machines = 1_000_000, 10_000, 4
	set := selection(b)
	list := rows(set, chunk)
	for b.Loop() {
		all, sent, accounts := newMerged(set), 0, make([]Account, machines)
		var sealers [machines]*Sealer
		for k := range machines {
			sealers[k] = NewSealer(func(_ int64, sealed []byte, _ bool) error {
				p, err := expected(set).Open(sealed)
				if err != nil {
					return err
				}
				sent += len(sealed)
				for _, one := range p.Results {
					all.add(one.Row)
				}
				return accounts[k].Add(p)
			})
		}
		for i := range count {
			row := list[i%chunk]
			lines, ends := linesOf(row)
			if sealers[i%machines].Add(row, lines, ends); i%chunk == chunk-1 {
				for _, s := range sealers {
					if err := s.Seal(); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		for k, s := range sealers {
			if err := s.Close(nil); err != nil || !accounts[k].Complete() {
				b.Fatal(err, accounts[k])
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-heap")
		b.ReportMetric(float64(sent)/count, "B/request")
		if n := all.profiling.Summary(metric.Window{}).Valid + all.warmup.Summary(metric.Window{}).Valid; n < count/2 {
			b.Fatalf("%d valid requests", n)
		}
	}
}
