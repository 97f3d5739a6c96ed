package cluster

import (
	"errors"

	"aiperf/internal/measure/pieces"
	"aiperf/internal/run"
	"aiperf/internal/wire/bus"
)

// store takes a piece of the results of a machine: a part of a sealed piece.
func (l *machineLoad) store(name string, b *bus.Piece) error {
	p := l.part(name)
	if len(p.rest)+len(b.Data) > pieces.MaxSize+bus.MaxPiece {
		return errors.New("a part of the results is damaged")
	}
	p.rest = append(p.rest, b.Data...)
	if b.More {
		return nil
	}
	sealed := p.rest
	p.rest = nil
	if err := l.accept(p, sealed); err != nil {
		l.c.lose(name, "its results cannot be used: "+err.Error())
		_ = l.c.server.Order(name, orderCancel, nil) // a machine that is gone needs none
	}
	return nil
}

// accept uses a sealed piece, or nothing of it.
func (l *machineLoad) accept(p *part, sealed []byte) error {
	opened, err := l.r.Results.Open(sealed)
	if err != nil {
		return err
	}
	var report *run.WorkerReport
	if opened.Total != nil {
		if report, err = run.ReadWorkerReport(opened.Total.About); err != nil {
			return err
		}
	}
	l.mu.Lock()
	if err = p.account.Add(opened); err == nil && report != nil {
		p.report = report
		l.r.Prompts.Merge(report.Prompts)
	}
	l.mu.Unlock()
	if err != nil {
		return err
	}
	for i := range opened.Results {
		l.r.Accept(opened.Results[i])
	}
	return nil
}
