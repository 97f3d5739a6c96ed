package custom

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"aiperf/internal/base/heapgrowth"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/trace"
)

// maxFileInMemory is the maximum size of files whose rows are all stored in memory, in bytes. For larger files only an index is stored.
var maxFileInMemory int64 = 8 << 20

// readAhead is the number of rows that are read before they are requested.
const readAhead = 4096

// longRow is the length from which a row counts as long, in bytes.
const longRow = 64 << 10

// indexGrowth is the growth of the heap, in percent, while all rows are read. The index has few pointers, so that a collection is cheap, and rows leave
// much garbage.
const indexGrowth = 30

var (
	// errUnordered reports times out of order in a file that is sent while it is read.
	errUnordered = errors.New("a large file is sent while it is read; sort its rows by time")
	// errClosed is the reason why a closed dataset has no more rows.
	errClosed = errors.New("the file was closed")
)

// indexable reports whether the rows can stay in the file, or in the files of a folder. It also lists the files.
func (o Options) indexable(path string, f Format) (files []string, ok bool) {
	if f.supply == nil || o.Context.PrefixLength > 0 || o.Context.PrefixPool > 0 {
		return nil, false
	}
	files = []string{path}
	if isFolder(path) {
		var err error
		if files, err = f.files(path); err != nil {
			return nil, false // reading the folder reports the error
		}
	}
	return files, f.read == nil || o.leaves(files)
}

// leaves reports whether files are so large that their rows stay in them.
func (o Options) leaves(files []string) bool {
	return o.Records == nil && largeFiles(files)
}

// openIndexed builds an index of the rows of a file. It returns after one reading of the file. If rows are used in file order (Options.Early) and do
// not depend on later ones, it returns when the first rows were read.
func openIndexed(path string, files []string, o Options, info dataset.Info, f Format) (*indexed, error) {
	var over fileScan
	if !o.folder && !f.sessions && !f.Columns { // otherwise the scan has no effect
		var err error
		if over, err = scanFile(path, f.timeIn); err != nil {
			return nil, err
		}
	}
	early := o.Early && o.Fetch == nil && !o.rescales() && !o.folder && f.gather == nil && o.Context.User == 0 && !over.sessions && !(o.Scheduled && over.unordered)
	for {
		l := newLoader(o, info)
		if l.namespace = over.namespace; early {
			l.Reading = nil // requests are sent while the file is read
		}
		x, err := l.index(path, files, f, early)
		if early && (errors.Is(err, errUnordered) || errors.Is(err, errSessions)) {
			early = false
			continue
		}
		return x, err
	}
}

// errSessions reports that rows form sessions, so that the whole file must be read first.
var errSessions = errors.New("rows form sessions")

func (l *loader) index(path string, files []string, f Format, early bool) (*indexed, error) {
	assign, err := dataset.NewAssigner(l.Assignment, l.Root)
	if err != nil {
		return nil, err
	}
	x := &indexed{Options: l.Options, format: f, path: path, media: l.media, users: -1, onDemand: early, allRequested: !early, latestTime: math.Inf(-1)}
	x.progress, x.demand = sync.NewCond(x.mu.RLocker()), sync.NewCond(&x.mu)
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
		if err == nil && l.Scheduled { // wrong order usually shows in the first rows
			_, err = x.Reach(readAhead - 1)
		}
	} else {
		restore := heapgrowth.Limit(indexGrowth)
		err = x.end()
		restore()
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, x.addContexts(l)
}

// fill reads the file, as far ahead as allowed.
func (x *indexed) fill(l *loader, assign *dataset.Assigner) {
	over := false // all following rows are after the window
	var fault error
	gather := x.format.gathering()
	err := x.from.each(l, func(at rows.Line, e *entry) {
		clear(l.media.known)
		if fault != nil || l.faults.Count() > 0 {
			return
		}
		if e.skipped {
			x.index.SkipRow()
			over = x.afterWindow(e)
			return
		}
		x.mu.Lock()
		if fault = x.rejectLate(e, at.Where()); fault == nil && e.prompt.InputLength > 0 {
			fault = l.openBlocks(&x.replayed, e.block)
		}
		x.mu.Unlock()
		if x.rescaled != nil {
			x.rescaled.note(e)
		} else if e.prompt.HashIDs != nil && fault == nil {
			x.replayed.blocks().Claim(e.prompt.HashIDs)
		}
		if fault == nil {
			x.recordRow(l, at, e, assign)
			if !x.onDemand {
				gather.note(l, x.index.RowCount()-1, e)
			}
		}
		if fault == nil {
			fault = l.inline(false)
		}
		x.progress.Broadcast()
	}, func() bool { return fault == nil && !over && x.awaitDemand(l) })
	if err == nil {
		err = x.finish(l, fault)
	}
	if err == nil && !x.onDemand { // nothing is used before all rows are known
		err = x.groupRows(l, gather, assign)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fault == nil { // otherwise it was closed
		x.fault = err
	}
	x.ended, x.info = true, l.set.info
	x.progress.Broadcast()
}

// finish downloads the remaining images after all rows were read, and returns the errors of the rows.
func (x *indexed) finish(l *loader, fault error) error {
	if fault == nil {
		fault = l.inline(true)
	}
	switch {
	case l.faults.Count() > 0:
		return l.faults.Err()
	case fault == nil && x.index.RowCount() == 0:
		return l.nothingLeft(x.path)
	}
	return fault
}

// groupRows groups the rows after all were read, and plans the conversations in their order.
func (x *indexed) groupRows(l *loader, gather grouper, assign *dataset.Assigner) error {
	x.index.Grouping = gather.done(x, l)
	if err := l.faults.Err(); err != nil {
		return err
	}
	if x.index.Conversations() == 0 {
		return l.nothingLeft(x.path)
	}
	if x.rescaled != nil {
		if err := x.rescale(l); err != nil {
			return err
		}
	}
	for i := range x.index.Conversations() {
		list := x.index.RowsOf(i)
		x.plan(l, list, assign, func(row uint32) string { return x.row(int(row)).Turns[0].Origin })
		for k, row := range list {
			want, _ := x.promptTokens.At(int(row))
			if k == 0 && want != 0 && x.Marker != nil {
				e := x.row(int(row))
				x.leaveRoom(&e.prompt, e.block)
				want = int32(promptDemand(&e.prompt, e.block))
			}
			x.request(int(row), int(want))
		}
	}
	x.promptTokens = rowstore.Column[int32]{}
	if x.rescaled != nil {
		x.claimIDs()
	}
	return nil
}

// Ordered reports whether conversations must start in file order.
func (x *indexed) Ordered() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.onDemand && x.Scheduled
}

// afterWindow reports whether a row is after the window of the schedule. All following rows are then too.
func (x *indexed) afterWindow(e *entry) bool {
	at := e.Turns[0].Timestamp
	return x.Ordered() && at != nil && x.Limits.End != nil && *at > *x.Limits.End
}

// rejectLate returns an error for a row that would have required the whole file to be read first. This was unknown when the first row was sent.
func (x *indexed) rejectLate(e *entry, where string) error {
	if !x.onDemand {
		return nil
	}
	at := e.Turns[0].Timestamp
	switch first := x.index.RowCount() == 0; {
	case e.ID != "" && !x.format.sessions && first:
		return errSessions
	case e.ID != "" && !x.format.sessions:
		return fmt.Errorf("%s: session_id: the first row has none, so the file is sent while it is read; move a row with a session_id to the top", where)
	case !x.Scheduled || first && at == nil: // the phase reports that one
	case at == nil:
		return fmt.Errorf("%s: the first turn has no timestamp, which %s needs", where, x.Spell.As("phases.profiling.type"))
	case *at < x.latestTime:
		return fmt.Errorf("%s: timestamp: %g ms comes after %g ms; %w", where, *at, x.latestTime, errUnordered)
	default:
		x.latestTime = *at
	}
	return nil
}

// awaitDemand waits until more rows are requested. It returns false if no more rows will be.
func (x *indexed) awaitDemand(l *loader) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index.RowCount() <= 1 {
		if x.info = l.set.info; l.unknown != "" {
			x.info.Warnings = append(slices.Clone(x.info.Warnings), l.unknown)
		}
	}
	for !x.allRequested && x.fault == nil && x.index.RowCount() >= x.requestedRows+readAhead {
		x.demand.Wait()
	}
	return x.fault == nil && (x.allRequested || l.faults.Count() == 0)
}

// ask requests the first n rows, or all rows.
func (x *indexed) ask(n int, all bool) {
	x.mu.Lock()
	x.requestedRows, x.allRequested = max(x.requestedRows, n), x.allRequested || all
	x.mu.Unlock()
	x.demand.Broadcast()
}

// Reach waits until conversation i has been read.
func (x *indexed) Reach(i int) (bool, error) {
	x.ask(i+1, false)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for !x.ended && (!x.onDemand || x.index.RowCount() <= i) {
		x.progress.Wait()
	}
	if (x.onDemand || x.fault == nil) && x.drawn() > i {
		return true, nil
	}
	return false, x.fault
}

// end reads the rest of the file.
func (x *indexed) end() error {
	x.ask(0, true)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for !x.ended {
		x.progress.Wait()
	}
	return x.fault
}

// Known returns the number of conversations so far that can be drawn.
func (x *indexed) Known() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.drawn()
}

// Close stops the reading and closes the file.
func (x *indexed) Close() error {
	x.mu.Lock()
	if !x.ended && x.fault == nil {
		x.fault = errClosed
	}
	x.mu.Unlock()
	x.demand.Broadcast()
	return x.from.Close()
}

// recordRow records a row. If rows are used on demand, it also plans the row as a conversation.
func (x *indexed) recordRow(l *loader, at rows.Line, e *entry, assign *dataset.Assigner) {
	x.mu.Lock()
	defer x.mu.Unlock()
	row := x.index.RowCount()
	l.set.info.LongRows = l.set.info.LongRows || e.size > longRow
	x.index.AddRow(at, e.Turns, markOf)
	if x.onDemand { // each row is a conversation; otherwise the first row of a conversation is only known at the end
		x.leaveRoom(&e.prompt, e.block)
	}
	want := promptDemand(&e.prompt, e.block)
	if !x.onDemand {
		if want != 0 && x.rescaled == nil {
			x.promptTokens.Set(row, int32(want), 0)
		}
		return
	}
	if e.ID != "" {
		x.withID++
	}
	x.plan(l, []uint32{uint32(row)}, assign, func(uint32) string { return e.Turns[0].Origin })
	x.request(row, want)
}

// promptDemand returns the number of tokens that a row takes from the prompt sequence. It is negative if they follow blocks of hash ids.
func promptDemand(rec *trace.Record, block int) int {
	if ids := len(rec.HashIDs); ids > 0 {
		return -max(0, rec.InputLength-ids*block)
	}
	return rec.InputLength
}

// request adds the prompt of a row to the sequence.
func (x *indexed) request(row, want int) {
	switch {
	case want > 0:
		x.prompts.Set(row, int32(x.replayed.texts.Add(want, synth.NoPrefix)), -1)
	case want < 0:
		x.prompts.Set(row, int32(x.replayed.texts.AddUnchecked(-want)), -1)
	}
}

// markOf returns the flags of a turn.
func markOf(t *conversation.Turn) (m rowstore.Mark) {
	if t.Model != "" {
		m |= rowstore.HasModel
	}
	if t.MaxTokens != nil {
		m |= rowstore.HasLength
	}
	if t.RawPayload != nil {
		m |= rowstore.IsBody
	}
	if t.Role == "system" {
		m |= rowstore.IsSystem
	}
	if t.Silent {
		m |= rowstore.IsSilent
	}
	if m&rowstore.IsSystem != 0 && liftable(t) != "" {
		m |= rowstore.MayHoist
	}
	return m
}

// plan sets models and output lengths for the turns of a conversation and updates the info. list holds its rows. origin returns the position of a row.
func (x *indexed) plan(l *loader, list []uint32, assign *dataset.Assigner, origin func(row uint32) string) {
	info := &l.set.info
	if x.format.liftsSystem && x.HoistSystem {
		x.index.Hoist(list)
	}
	slots := x.index.Slots(list)
	if x.PayloadRows {
		x.index.MoveDelays(slots)
	}
	info.CheckFirst(x.index.Time(slots[0]), func() string {
		first := 0 // earlier rows of the list may have no turns
		for first+1 < len(list) && slots[0] >= x.index.FirstSlot(int(list[first])+1) {
			first++
		}
		return origin(list[first])
	})
	for k, slot := range slots {
		info.Timestamps = info.Timestamps || x.index.Time(slot) != nil
		info.Delays = info.Delays || k > 0 && x.index.Delay(slot) != nil
		m := x.index.Mark(slot)
		if m&rowstore.HasModel == 0 {
			if model := assign.Model(); model > 0 {
				x.index.Models.Set(slot, uint16(model), 0)
			}
		}
		if m&rowstore.HasLength == 0 {
			if n := assign.MaxTokens(); n > 0 && m&rowstore.IsBody == 0 && !assign.OSL.Fixed() {
				x.index.Lengths.Set(slot, uint32(n), 0)
			}
		}
	}
	info.Turns += len(slots)
}
