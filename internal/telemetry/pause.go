package telemetry

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/measure/record"
)

// Limits of the pause for an exporter that answers 429 without saying for how long.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// longestPause limits the pause that Retry-After may request.
const longestPause = 24 * time.Hour

// retryAfter returns the pause that a server requests (RFC 9110, section 10.2.3): with status 429 or 503, Retry-After in seconds or as a date. 0 =
// none.
func retryAfter(status int, h http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), longestPause)
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, longestPause.Seconds()) * float64(time.Second))
}

// Busy reports whether the exporter answered that it is scraped too often, or requested a pause.
func (a *Answer) Busy() bool {
	return a.Pause > 0 || a.Err != nil && a.Err.Code == http.StatusTooManyRequests
}

// pauses prevents scrapes of an exporter while it wants a pause. A 429 without a duration doubles the previous pause, from one second on.
type pauses struct {
	mu      sync.Mutex
	until   time.Time
	last    time.Duration // for an answer without a duration
	skipped int64         // number of skipped scrapes
}

// answered processes an answer and returns the pause that it requests; 0 = none.
func (p *pauses) answered(a *Answer, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !a.Busy() {
		if a.Err == nil {
			p.last = 0
		}
		return 0
	}
	pause := a.Pause
	if pause == 0 {
		p.last = min(max(2*p.last, firstPause), maxPause)
		pause = p.last
	}
	if until := now.Add(pause); until.After(p.until) {
		p.until = until
	}
	return pause
}

// on reports whether a scrape must be skipped, and counts it.
func (p *pauses) on(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !now.Before(p.until) {
		return false
	}
	p.skipped++
	return true
}

// Paused returns the error of the scrapes that were skipped because the exporter requested a pause, and their number.
func (e *Exporter) Paused() (*record.Error, int64) {
	e.pauses.mu.Lock()
	defer e.pauses.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	return Fault("ScrapePaused", e.address, "skipped: the server asked for a pause (429 or Retry-After)"), e.pauses.skipped
}

// PauseText says that an exporter is not scraped for a while.
func PauseText(address string, pause time.Duration) string {
	return fmt.Sprintf("%s asked for a pause; aiperf reads it again in %.3g s", Shown(address), pause.Seconds())
}
