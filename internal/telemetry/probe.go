package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/record"
)

// Probe reads all addresses concurrently, each for at most most.
func Probe(ctx context.Context, c *Client, addresses []string, most time.Duration) []*Answer {
	answers := make([]*Answer, len(addresses))
	var all sync.WaitGroup
	for i, address := range addresses {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, most)
			defer cancel()
			answers[i] = c.Get(ctx, address)
		})
	}
	all.Wait()
	return answers
}

// Losses counts lost readings by type and message. The methods may be called from any goroutine.
type Losses struct {
	mu   sync.Mutex
	list []Loss
}

// Loss is one kind of lost reading.
type Loss struct {
	Error record.Error
	Count int64
}

// maxLosses limits the number of distinct kinds.
const maxLosses = 100

// Add adds n losses of a kind.
func (l *Losses) Add(e *record.Error, n int64) {
	if n <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.list {
		if have := &l.list[i]; have.Error.Type == e.Type && have.Error.Message == e.Message {
			have.Count += n
			return
		}
	}
	if len(l.list) < maxLosses {
		l.list = append(l.list, Loss{*e, n})
	}
}

// List returns the kinds, the most frequent first.
func (l *Losses) List() []Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.list)
	sorting.Stable(out, func(a, b Loss) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// maxReported limits the number of kinds that a sentence names.
const maxReported = 5

// Text describes the losses in one line; "" = none.
func (l *Losses) Text() string {
	list := l.List()
	var parts []string
	for i, one := range list {
		if i == maxReported {
			parts = append(parts, fmt.Sprintf("and %d more kinds of errors", len(list)-maxReported))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d×)", one.Error.Message, one.Count))
	}
	return strings.Join(parts, "; ")
}

// Fault returns an error about the content of a page.
func Fault(kind, address, text string) *record.Error {
	return &record.Error{Type: kind, Message: Shown(address) + ": " + text, Chain: []string{kind}}
}
