package program

import (
	"context"
	"errors"
	"sync"
)

// Pool is a program that runs several times, so that calls do not wait for one another. Every process has one call at a time. The first process starts
// with the pool, the others when all before them are busy. A fault of one process ends the whole pool.
type Pool struct {
	s    Settings
	most int
	idle chan *Program
	ctx  context.Context //nolint:containedctx // of the processes
	stop context.CancelFunc

	mu      sync.Mutex
	count   int // processes that were started or are starting
	started []*Program
	fault   error
}

// NewPool starts the first process of a pool of at most most. The end of ctx ends all processes.
func NewPool(ctx context.Context, s Settings, most int) (*Pool, error) {
	p := &Pool{s: s, most: max(1, most), idle: make(chan *Program, max(1, most))}
	p.ctx, p.stop = context.WithCancel(ctx)
	one, err := Start(p.ctx, s) //nolint:contextcheck // it is a child of ctx
	if err != nil {
		p.stop()
		return nil, err
	}
	p.count, p.started = 1, []*Program{one}
	p.idle <- one
	return p, nil
}

// Call calls a method in a process that is idle.
func (p *Pool) Call(ctx context.Context, method string, params, result any) error {
	one, err := p.take(ctx)
	if err != nil {
		return err
	}
	err = one.Call(ctx, method, params, result)
	if fault := one.Fault(); fault != nil {
		p.fail(&Error{Plugin: p.s.name(), Method: method, Err: fault})
	}
	p.idle <- one // one at fault, too: take returns the fault then
	return err
}

// take returns an idle process, and starts one if none is idle.
func (p *Pool) take(ctx context.Context) (*Program, error) {
	select {
	case one := <-p.idle:
		return p.healthy(one)
	default:
	}
	if p.reserve() {
		return p.another()
	}
	select {
	case one := <-p.idle:
		return p.healthy(one)
	case <-ctx.Done():
		return nil, &Error{Plugin: p.s.name(), Method: "wait", Err: context.Cause(ctx)}
	}
}

// healthy returns the process, or the fault of the pool. Then the process stays idle for others that wait.
func (p *Pool) healthy(one *Program) (*Program, error) {
	if err := p.failure(); err != nil {
		p.idle <- one
		return nil, err
	}
	return one, nil
}

// reserve reports whether one more process may start, and counts it.
func (p *Pool) reserve() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil || p.count == p.most {
		return false
	}
	p.count++
	return true
}

// another starts a process that was reserved.
func (p *Pool) another() (*Program, error) {
	one, err := Start(p.ctx, p.s)
	if err != nil {
		p.fail(err)
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = append(p.started, one)
	return one, nil
}

func (p *Pool) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

func (p *Pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault == nil {
		p.fault = err
	}
}

// Close ends all processes at the same time, as Program.Close does, and returns the fault of the pool.
func (p *Pool) Close() error {
	p.mu.Lock()
	list, fault := p.started, p.fault
	if p.fault == nil {
		p.fault = &Error{Plugin: p.s.name(), Method: "call", Err: errors.New("the program was closed")}
	}
	p.mu.Unlock()
	defer p.stop()
	errs := make([]error, len(list))
	var wait sync.WaitGroup
	for i, one := range list {
		wait.Go(func() { errs[i] = one.Close() })
	}
	wait.Wait()
	if fault != nil {
		return fault
	}
	return errors.Join(errs...)
}
