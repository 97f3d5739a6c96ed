package custom

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
)

// keptFile is the size of the largest file whose rows are all kept in memory, in bytes. Of larger ones an index is kept.
var keptFile int64 = 8 << 20

// readAhead is how many rows are read before they are asked for.
const readAhead = 4096

var (
	// errSessions says that rows belong together: they have to be kept.
	errSessions = errors.New("rows belong together")
	// errUnordered is what is wrong with the times of a file that is sent while it is read.
	errUnordered = errors.New("the file is so large that it is sent while it is read: sort its rows by time")
	// errClosed is why a set has no more rows that is not used any more.
	errClosed = errors.New("the file was closed")
)

// indexable tells whether the rows of a file can be left in it.
func (o Options) indexable(path string, f Format) bool {
	info, err := os.Stat(path)
	return err == nil && f.entry != nil && info.Mode().IsRegular() && info.Size() > keptFile && !strings.HasSuffix(path, ".gz") &&
		o.Synthesis == nil && !o.StripKnown && o.Fetch == nil && !o.PayloadRows
}

// openIndexed keeps where the rows of a file stand. It returns when the file was read once, or, where rows are used in their order
// (Options.Early) and nothing about them depends on later ones, when the first are there.
func openIndexed(path string, o Options, info dataset.Info, f Format) (*indexed, error) {
	over, err := overlook(path)
	if err != nil {
		return nil, err
	}
	early := o.Early && o.Context.User == 0 && !over.sessions && !(o.Scheduled && over.unordered)
	for {
		l := newLoader(o, info)
		if l.namespace = over.namespace; early {
			l.Reading = nil // it goes on while requests are sent
		}
		x, err := l.index(path, f, early)
		if early && errors.Is(err, errUnordered) {
			early = false
			continue
		}
		return x, err
	}
}

func (l *loader) index(path string, f Format, early bool) (*indexed, error) {
	assign, err := dataset.NewAssigner(l.Assignment, l.Root)
	if err != nil {
		return nil, err
	}
	x := &indexed{Options: l.Options, read: f.entry, media: l.media.store, users: -1, early: early, whole: !early, latest: math.Inf(-1)}
	x.grew, x.gate = sync.NewCond(x.mu.RLocker()), sync.NewCond(&x.mu)
	if x.file, err = os.Open(path); err != nil {
		return nil, err
	}
	go x.fill(l, path, f, assign)
	_, err = x.Reach(0)
	if err == nil && early && l.Scheduled { // rows that are not in order mostly show it soon
		_, err = x.Reach(readAhead - 1)
	}
	if err == nil && early && x.row(0).ID != "" { // the rows of its session may be far behind
		x.mu.Lock()
		x.early, early = false, false
		x.mu.Unlock()
	}
	if err == nil && !early {
		err = x.end()
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, x.surround(l)
}

// fill reads the file, as far ahead as it may.
func (x *indexed) fill(l *loader, path string, f Format, assign *dataset.Assigner) {
	seen := map[uint64]struct{}{} // ids of sessions, hashed
	over := false                 // what follows is outside the window
	var fault error
	err := l.rowsWhile(path, f.keys, func(r *rows.Row) {
		e := f.entry(l, r)
		clear(l.media.known)
		if fault != nil || l.faults.Count() > 0 {
			return
		}
		if e.left {
			x.places.skip()
			over = x.behind(&e)
			return
		}
		if e.ID != "" {
			h := fnv.New64a()
			_, _ = h.Write([]byte(e.ID)) // it never fails
			if _, again := seen[h.Sum64()]; again {
				fault = errSessions
				return
			}
			seen[h.Sum64()] = struct{}{}
		}
		x.mu.Lock()
		if fault = x.late(&e, r.Where); fault == nil && e.prompt.InputLength > 0 {
			fault = l.openBlocks(&x.made, e.block)
		}
		x.mu.Unlock()
		if e.prompt.HashIDs != nil && fault == nil {
			x.made.blocks().Claim(e.prompt.HashIDs)
		}
		x.mu.Lock()
		if fault == nil {
			x.add(l, &e, r, assign)
		}
		x.mu.Unlock()
		x.grew.Broadcast()
	}, func() bool { return fault == nil && !over && x.goOn(l) })
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case err != nil:
		fault = err
	case l.faults.Count() > 0:
		fault = l.faults.Err()
	case fault != nil:
	case x.places.rows == 0:
		fault = l.nothingLeft(path)
	case x.own > 0 && x.own < x.places.rows: // the others are counted among themselves
		fault = errSessions
	}
	if x.fault == nil { // else it was closed
		x.fault = fault
	}
	x.ended, x.info = true, l.set.info
	x.grew.Broadcast()
}

// Ordered tells whether rows start in the order in which they stand.
func (x *indexed) Ordered() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.early && x.Scheduled
}

// behind tells whether a row, and so all rows that follow, lies behind the window of the schedule.
func (x *indexed) behind(e *entry) bool {
	at := e.Turns[0].Timestamp
	return x.Ordered() && at != nil && x.Limits.End != nil && *at > *x.Limits.End
}

// late refuses a row that would have needed the whole file to be read first, which nobody knew when the first row was sent.
func (x *indexed) late(e *entry, where string) error {
	if !x.early {
		return nil
	}
	at := e.Turns[0].Timestamp
	switch first := x.places.rows == 0; {
	case !first && e.ID != "" && x.own == 0:
		return fmt.Errorf("%s: session_id: the first row has none, and the file is sent while it is read; put a row with them first", where)
	case !x.Scheduled || first && at == nil: // the phase refuses that one
	case at == nil:
		return fmt.Errorf("%s: the first turn has no timestamp, which %s needs", where, x.Spell.As("phases.profiling.type"))
	case *at < x.latest:
		return fmt.Errorf("%s: timestamp: %g ms comes behind one of %g ms, and %w", where, *at, x.latest, errUnordered)
	default:
		x.latest = *at
	}
	return nil
}

// goOn waits until more rows are asked for. false = none will be.
func (x *indexed) goOn(l *loader) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.places.rows <= 1 {
		if x.info = l.set.info; l.unknown != "" {
			x.info.Warnings = append(slices.Clone(x.info.Warnings), l.unknown)
		}
	}
	for !x.whole && x.fault == nil && x.places.rows >= x.asked+readAhead {
		x.gate.Wait()
	}
	return x.fault == nil && (x.whole || l.faults.Count() == 0)
}

// ask says that so many rows are wanted, all = every one.
func (x *indexed) ask(n int, all bool) {
	x.mu.Lock()
	x.asked, x.whole = max(x.asked, n), x.whole || all
	x.mu.Unlock()
	x.gate.Broadcast()
}

// Reach waits until row i is known.
func (x *indexed) Reach(i int) (bool, error) {
	x.ask(i+1, false)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for x.places.rows <= i && !x.ended {
		x.grew.Wait()
	}
	if x.places.rows > i {
		return true, nil
	}
	return false, x.fault
}

// end reads the rest.
func (x *indexed) end() error {
	x.ask(0, true)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for !x.ended {
		x.grew.Wait()
	}
	return x.fault
}

// Known is the number of rows so far.
func (x *indexed) Known() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.places.rows
}

// Close ends the reading of the file.
func (x *indexed) Close() error {
	x.mu.Lock()
	if !x.ended && x.fault == nil {
		x.fault = errClosed
	}
	x.mu.Unlock()
	x.gate.Broadcast()
	return x.file.Close()
}

// add notes a row.
func (x *indexed) add(l *loader, e *entry, r *rows.Row, assign *dataset.Assigner) {
	n := x.places.rows
	info := &l.set.info
	first := info.Turns
	if e.ID != "" {
		x.own++
	}
	if e.Turns[0].Timestamp == nil && info.UntimedOrigin == "" {
		info.UntimedOrigin = r.Where
	}
	if len(e.Turns) > 1 && x.turns.n == 0 {
		for i := range n + 1 {
			x.turns.add(uint32(i))
		}
	}
	for k := range e.Turns {
		t := &e.Turns[k]
		info.Timestamps = info.Timestamps || t.Timestamp != nil
		info.Delays = info.Delays || k > 0 && t.Delay != nil
		note(&x.times, t.Timestamp, first+k)
		note(&x.delays, t.Delay, first+k)
		if model := assign.Model(); assign.Drawn() {
			x.models.add(uint16(model))
		}
		x.draw(t, assign, first+k)
	}
	info.Turns += len(e.Turns)
	if x.turns.n > 0 {
		x.turns.add(uint32(info.Turns))
	}
	if e.prompt.InputLength > 0 {
		if in := x.made.turn(&e.prompt, e.block).sequence; in >= 0 {
			x.prompts.pad(n, -1)
			x.prompts.add(int32(in))
		}
	}
	x.places.add(r.Line)
}

// draw draws the output length of a turn that has none.
func (x *indexed) draw(t *conversation.Turn, assign *dataset.Assigner, at int) {
	if t.MaxTokens != nil {
		return
	}
	n := assign.MaxTokens()
	if n == 0 || t.RawPayload != nil || assign.OSL.Fixed() {
		return
	}
	x.lengths.pad(at, 0)
	x.lengths.add(uint32(n))
}

// note puts a value at a place of a column; nil = none.
func note(to *column[float64], value *float64, at int) {
	if value != nil {
		to.pad(at, math.NaN())
		to.add(*value)
	}
}
