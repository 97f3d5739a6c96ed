package custom

import (
	"aiperf/internal/base/terminal"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/weka"
)

// TraceLabBlock is the number of tokens per block in a TraceLab recording. The recording has lengths of shared prefixes, not blocks.
const TraceLabBlock = 64

// readTraceLab reads recorded agents in the schema of TraceLab: one round per row, the rows of a session in any order.
func readTraceLab(l *loader, path string) error {
	a := l.Agents()
	if err := a.readRounds(path); err != nil || l.faults.Count() > 0 {
		return err
	}
	return a.Done(path)
}

// readRounds adds the sessions of a TraceLab file.
func (a *Agents) readRounds(path string) error {
	l := a.l
	rounds := weka.NewRounds(&l.faults)
	l.set.info.FirstHasTime = !l.Options.Agents.Instant
	timed := l.set.info.FirstHasTime
	if err := l.rows(path, weka.RoundKeys, rounds.Add); err != nil || l.faults.Count() > 0 {
		return err
	}
	l.set.info.FirstHasTime = timed
	block := TraceLabBlock
	if l.BlockSize > 0 {
		block = l.BlockSize
	}
	unplaced, undated, err := rounds.Traces(l.Join, block, a.add)
	if err != nil {
		return err
	}
	if unplaced > 0 {
		l.Warn("%s: %d agents are replayed as separate traces, because they start before the first request of the session that started them", path, unplaced)
	}
	if undated > 0 {
		l.Warn("%s: %s without a time skipped", path, terminal.Plural(undated, "row"))
	}
	return nil
}

// glanceTraceLab counts the rounds.
func glanceTraceLab(l *FileSample, path string) error {
	return l.rowsOf(path, func(r *rows.Row) (rowSample, bool) {
		events := r.Raw("timing_events")
		return rowSample{1, len(events) > 2}, true
	})
}
