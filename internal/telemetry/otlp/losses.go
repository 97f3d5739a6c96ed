package otlp

import (
	"fmt"
	"sync"
)

// losses counts deliveries, and stores why others failed.
type losses struct {
	mu        sync.Mutex
	delivered int64 // spans
	failures  map[string]*failure
}

// failure is the last failure of its kind, with their number.
type failure struct {
	err   error
	count int
}

// deliver counts delivered spans.
func (l *losses) deliver(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delivered += int64(n)
}

func (l *losses) note(what string, err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures == nil {
		l.failures = map[string]*failure{}
	}
	if f := l.failures[what]; f != nil {
		f.err, f.count = err, f.count+1
		return
	}
	l.failures[what] = &failure{err, 1}
}

// warnLost warns about lost spans; begun is the number of all spans.
func (l *losses) warnLost(begun int64, warn func(string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.failures["metrics"]; f != nil {
		warn(fmt.Sprintf("OpenTelemetry: the collector did not accept the metrics %d times; the last error: %v", f.count, f.err))
	}
	if lost := begun - l.delivered; lost > 0 {
		text := fmt.Sprintf("OpenTelemetry: %d of %d spans were not delivered", lost, begun)
		if f := l.failures["spans"]; f != nil {
			text += fmt.Sprintf(": %v", f.err)
		}
		warn(text)
	}
}
