package custom

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/synth"
	"aiperf/internal/dataset/trace"
)

// keptFile is the size of the largest file whose rows are all kept in memory, in bytes. Of larger ones an index is kept.
var keptFile int64 = 8 << 20

// readAhead is how many rows are read before they are asked for.
const readAhead = 4096

// longRow is how long a row is that is said to be long, in bytes.
const longRow = 64 << 10

// indexGC is the growth of the heap in percent at which garbage is collected while all rows are read: the index holds few pointers, so that a
// collection costs little, and rows leave much garbage.
const indexGC = 30

var (
	// errUnordered is what is wrong with the times of a file that is sent while it is read.
	errUnordered = errors.New("the file is so large that it is sent while it is read: sort its rows by time")
	// errClosed is why a set has no more rows that is not used any more.
	errClosed = errors.New("the file was closed")
)

// indexable tells whether the rows of a file, or of the files of a folder, can be left there, and lists the files.
func (o Options) indexable(path string, f Format) (files []string, ok bool) {
	if f.supply == nil || o.Context.PrefixLength > 0 || o.Context.PrefixPool > 0 {
		return nil, false
	}
	files = []string{path}
	if isFolder(path) {
		var err error
		if files, err = f.files(path); err != nil {
			return nil, false // reading it says why
		}
	}
	return files, f.read == nil || o.leaves(files)
}

// leaves tells whether files are large, and what they hold is read again where it stands.
func (o Options) leaves(files []string) bool {
	return o.Records == nil && largeFiles(files)
}

// openIndexed keeps where the rows of a file stand. It returns when the file was read once, or, where rows are used in their order
// (Options.Early) and nothing about them depends on later ones, when the first are there.
func openIndexed(path string, files []string, o Options, info dataset.Info, f Format) (*indexed, error) {
	var over overview
	if !o.folder && !f.sessions && !f.Columns { // else it tells nothing that matters
		var err error
		if over, err = overlook(path, f.timeIn); err != nil {
			return nil, err
		}
	}
	early := o.Early && o.Fetch == nil && !o.rescales() && !o.folder && f.gather == nil && o.Context.User == 0 && !over.sessions && !(o.Scheduled && over.unordered)
	for {
		l := newLoader(o, info)
		if l.namespace = over.namespace; early {
			l.Reading = nil // it goes on while requests are sent
		}
		x, err := l.index(path, files, f, early)
		if early && (errors.Is(err, errUnordered) || errors.Is(err, errSessions)) {
			early = false
			continue
		}
		return x, err
	}
}

// errSessions says that rows belong together, so that all have to be seen.
var errSessions = errors.New("rows belong together")

func (l *loader) index(path string, files []string, f Format, early bool) (*indexed, error) {
	assign, err := dataset.NewAssigner(l.Assignment, l.Root)
	if err != nil {
		return nil, err
	}
	x := &indexed{Options: l.Options, format: f, path: path, media: l.media, users: -1, early: early, whole: !early, latest: math.Inf(-1)}
	x.grew, x.gate = sync.NewCond(x.mu.RLocker()), sync.NewCond(&x.mu)
	if l.rescales() {
		if err := l.Synthesis.Check(); err != nil {
			return nil, err
		}
		x.rescaled = &rescaling{Synthesis: *l.Synthesis}
	}
	if x.from, err = f.supply(f, files); err != nil {
		return nil, err
	}
	go x.fill(l, assign)
	if early {
		_, err = x.Reach(0)
		if err == nil && l.Scheduled { // rows that are not in order mostly show it soon
			_, err = x.Reach(readAhead - 1)
		}
	} else {
		before := debug.SetGCPercent(indexGC)
		err = x.end()
		debug.SetGCPercent(before)
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, x.surround(l)
}

// fill reads the file, as far ahead as it may.
func (x *indexed) fill(l *loader, assign *dataset.Assigner) {
	over := false // what follows is outside the window
	var fault error
	gather := x.format.gathering()
	err := x.from.each(l, func(at rows.Line, e *entry) {
		clear(l.media.known)
		if fault != nil || l.faults.Count() > 0 {
			return
		}
		if e.left {
			x.places.skip()
			over = x.behind(e)
			return
		}
		x.mu.Lock()
		if fault = x.late(e, at.Where()); fault == nil && e.prompt.InputLength > 0 {
			fault = l.openBlocks(&x.made, e.block)
		}
		x.mu.Unlock()
		if x.rescaled != nil {
			x.rescaled.note(e)
		} else if e.prompt.HashIDs != nil && fault == nil {
			x.made.blocks().Claim(e.prompt.HashIDs)
		}
		if fault == nil {
			x.take(l, at, e, assign)
			if !x.early {
				gather.note(l, x.places.rows-1, e)
			}
		}
		if fault == nil {
			fault = l.inline(false)
		}
		x.grew.Broadcast()
	}, func() bool { return fault == nil && !over && x.goOn(l) })
	if err == nil {
		err = x.finish(l, fault)
	}
	if err == nil && !x.early { // nobody looks at anything until all is known
		err = x.settle(l, gather, assign)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fault == nil { // else it was closed
		x.fault = err
	}
	x.ended, x.info = true, l.set.info
	x.grew.Broadcast()
}

// finish fetches what is left to fetch when all rows were read, and tells what was wrong with them.
func (x *indexed) finish(l *loader, fault error) error {
	if fault == nil {
		fault = l.inline(true)
	}
	switch {
	case l.faults.Count() > 0:
		return l.faults.Err()
	case fault == nil && x.places.rows == 0:
		return l.nothingLeft(x.path)
	}
	return fault
}

// settle brings rows together when all are known, and plans the conversations in their order.
func (x *indexed) settle(l *loader, gather gathering, assign *dataset.Assigner) error {
	x.members = gather.done(x, l)
	if err := l.faults.Err(); err != nil {
		return err
	}
	if x.conversations() == 0 {
		return l.nothingLeft(x.path)
	}
	if x.rescaled != nil {
		if err := x.rescale(l); err != nil {
			return err
		}
	}
	for i := range x.conversations() {
		list := x.rowsOf(i)
		x.plan(l, list, assign, func(row uint32) string { return x.row(int(row)).Turns[0].Origin })
		for k, row := range list {
			want, _ := x.wants.at(int(row))
			if k == 0 && want != 0 && x.Marker != nil {
				e := x.row(int(row))
				x.leaveRoom(&e.prompt, e.block)
				want = int32(wanted(&e.prompt, e.block))
			}
			x.request(int(row), int(want))
		}
	}
	x.wants = column[int32]{}
	if x.rescaled != nil {
		x.claim()
	}
	return nil
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
	case e.ID != "" && !x.format.sessions && first:
		return errSessions
	case e.ID != "" && !x.format.sessions:
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

// Reach waits until conversation i is known.
func (x *indexed) Reach(i int) (bool, error) {
	x.ask(i+1, false)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for !x.ended && (!x.early || x.places.rows <= i) {
		x.grew.Wait()
	}
	if (x.early || x.fault == nil) && x.drawn() > i {
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

// Known is the number of conversations so far that are drawn.
func (x *indexed) Known() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.drawn()
}

// Close ends the reading of the file.
func (x *indexed) Close() error {
	x.mu.Lock()
	if !x.ended && x.fault == nil {
		x.fault = errClosed
	}
	x.mu.Unlock()
	x.gate.Broadcast()
	return x.from.Close()
}

// take notes a row, and plans it where it is a conversation that is used at once.
func (x *indexed) take(l *loader, at rows.Line, e *entry, assign *dataset.Assigner) {
	x.mu.Lock()
	defer x.mu.Unlock()
	row := x.places.rows
	l.set.info.LongRows = l.set.info.LongRows || e.size > longRow
	if len(e.Turns) > 1 && x.slots.n == 0 {
		for i := range row + 1 {
			x.slots.add(uint32(i))
		}
	}
	first := x.firstSlot(row)
	for k := range e.Turns {
		t := &e.Turns[k]
		x.marks.add(markOf(t))
		note(&x.times, t.Timestamp, first+k)
		note(&x.delays, t.Delay, first+k)
	}
	if x.slots.n > 0 {
		x.slots.add(uint32(first + len(e.Turns)))
	}
	x.places.add(at)
	if x.early { // the row is a conversation; of others the first row is known when all are
		x.leaveRoom(&e.prompt, e.block)
	}
	want := wanted(&e.prompt, e.block)
	if !x.early {
		if want != 0 && x.rescaled == nil {
			x.wants.set(row, int32(want), 0)
		}
		return
	}
	if e.ID != "" {
		x.own++
	}
	x.plan(l, []uint32{uint32(row)}, assign, func(uint32) string { return e.Turns[0].Origin })
	x.request(row, want)
}

// wanted is the number of tokens that a row takes from the sequence of prompts; below 0 they stand behind blocks of hash ids.
func wanted(rec *trace.Record, block int) int {
	if ids := len(rec.HashIDs); ids > 0 {
		return -max(0, rec.InputLength-ids*block)
	}
	return rec.InputLength
}

// request asks for what a row wants.
func (x *indexed) request(row, want int) {
	switch {
	case want > 0:
		x.prompts.set(row, int32(x.made.texts.Add(want, synth.NoPrefix)), -1)
	case want < 0:
		x.prompts.set(row, int32(x.made.texts.AddLoose(-want)), -1)
	}
}

// markOf is what is known of a turn beside its times.
func markOf(t *conversation.Turn) (m mark) {
	if t.Model != "" {
		m |= hasModel
	}
	if t.MaxTokens != nil {
		m |= hasLength
	}
	if t.RawPayload != nil {
		m |= isBody
	}
	if t.Role == "system" {
		m |= isSystem
	}
	if t.Silent {
		m |= isSilent
	}
	if m&isSystem != 0 && liftable(t) != "" {
		m |= mayLift
	}
	return m
}

// plan gives the turns of a conversation, whose rows are given, models and output lengths, and notes what it holds. origin is where a row
// begins.
func (x *indexed) plan(l *loader, list []uint32, assign *dataset.Assigner, origin func(row uint32) string) {
	info := &l.set.info
	if x.format.lifts && x.HoistSystem {
		x.lift(list)
	}
	slots := x.slotsOf(list)
	if x.PayloadRows {
		x.delayNext(slots)
	}
	if info.UntimedOrigin == "" && x.time(slots[0]) == nil {
		for k, row := range list {
			if k+1 == len(list) || slots[0] < x.firstSlot(int(row)+1) {
				info.UntimedOrigin = origin(row)
				break
			}
		}
	}
	for k, slot := range slots {
		info.Timestamps = info.Timestamps || x.time(slot) != nil
		info.Delays = info.Delays || k > 0 && noted(&x.delays, slot) != nil
		m, _ := x.marks.at(slot)
		if m&hasModel == 0 {
			if model := assign.Model(); model > 0 {
				x.models.set(slot, uint16(model), 0)
			}
		}
		if m&hasLength == 0 {
			if n := assign.MaxTokens(); n > 0 && m&isBody == 0 && !assign.OSL.Fixed() {
				x.lengths.set(slot, uint32(n), 0)
			}
		}
	}
	info.Turns += len(slots)
}

// lift marks a turn that becomes the system message of its conversation.
func (x *indexed) lift(list []uint32) {
	slots := x.slotsOf(list)
	if len(slots) < 2 {
		return
	}
	first, _ := x.marks.at(slots[0])
	if second, _ := x.marks.at(slots[1]); first&mayLift != 0 && second&isSystem == 0 {
		x.marks.set(slots[0], first|isLifted, 0)
	}
}

// delayNext moves every delay, a wait after its turn, to the next one.
func (x *indexed) delayNext(slots []int) {
	after := math.NaN()
	for _, slot := range slots {
		own, ok := x.delays.at(slot)
		if !ok {
			own = math.NaN()
		}
		if ok || !math.IsNaN(after) {
			x.delays.set(slot, after, math.NaN())
		}
		after = own
	}
}

// note puts a value at a place of a column; nil = none.
func note(to *column[float64], value *float64, at int) {
	if value != nil {
		to.set(at, *value, math.NaN())
	}
}
