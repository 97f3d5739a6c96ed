package hfhub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limits of retries.
const (
	probeTime   = 9 * time.Second
	longestWait = 5 * time.Minute // longest pause that a hub may request
	maxWaits    = 10              // number of pauses in a row that it may request
	maxMoves    = 1000            // number of interrupted downloads that made progress
)

// permanentError marks an error that a retry cannot correct.
type permanentError struct{ error }

func (p permanentError) Unwrap() error { return p.error }

// changedRemoteError marks an error of an attempt that made progress, so that less work remains.
type changedRemoteError struct{ error }

func (m changedRemoteError) Unwrap() error { return m.error }

// minProgress is the number of new bytes from which an interrupted attempt does not count as failed.
const minProgress = 64 << 10

// after returns the error of an attempt that was interrupted after some new bytes.
func after(err error, bytes int64) error {
	if bytes >= minProgress {
		return changedRemoteError{err}
	}
	return err
}

// status is a response that may be temporary: the hub is overloaded or broken.
type status struct {
	code  int
	after time.Duration // pause that the hub requests; 0 = none
}

func (s status) Error() string { return fmt.Sprintf("HTTP %d %s", s.code, http.StatusText(s.code)) }

// pauseAsked returns the pause that a response requests: Retry-After in seconds or as a date, otherwise the time to the end of the hub's window
// ("RateLimit: …;t=SECONDS"); 0 = none.
func pauseAsked(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	for _, field := range strings.Split(h.Get("RateLimit"), ";") {
		if t, ok := strings.CutPrefix(strings.TrimSpace(field), "t="); ok && text == "" {
			text = t
		}
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, 1e6) * float64(time.Second))
}

// retry calls do up to three times, with pauses, until it succeeds or fails permanently. A pause that the hub requests counts neither as an attempt
// nor against budget, the total time (0 = no limit).
func (f *fetcher) retry(ctx context.Context, address string, budget time.Duration, do func(context.Context) error) error {
	pause := orDefault(f.Backoff, 500*time.Millisecond)
	waits, moves, bounded := 0, 0, budget > 0
	var err error
	for i := 0; i < attempts; {
		began := time.Now()
		err = f.attempt(ctx, budget, do)
		spent := bounded && time.Since(began) >= budget
		budget -= time.Since(began)
		var p permanentError
		var s status
		wait := pause
		switch {
		case err == nil:
			return nil
		case errors.As(err, &p):
			return p.error
		case ctx.Err() != nil:
			return f.network(ctx, address, err)
		case errors.As(err, &s) && s.after > longestWait:
			return f.network(ctx, address, fmt.Errorf("%w: the server asks to retry in %v", s, s.after.Round(time.Second)))
		case s.after > 0 && waits < maxWaits:
			waits++
			wait = s.after
			f.notice("%s answered %d; retrying in %v, as the server asks", f.Endpoint, s.code, wait.Round(time.Second))
		case errors.As(err, new(changedRemoteError)) && moves < maxMoves:
			moves++
		case spent:
			return f.network(ctx, address, err)
		default:
			if i++; i == attempts {
				return f.network(ctx, address, err)
			}
			pause *= 2
		}
		select {
		case <-ctx.Done():
			return f.network(ctx, address, err)
		case <-time.After(wait):
		}
	}
	return f.network(ctx, address, err)
}

// attempt calls do once, within the rest of a budget.
func (f *fetcher) attempt(ctx context.Context, budget time.Duration, do func(context.Context) error) error {
	if budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, budget)
		defer cancel()
	}
	return do(ctx)
}

// network returns the error for a hub that did not answer.
func (f *fetcher) network(ctx context.Context, address string, err error) error {
	kind := Offline
	var s status
	switch {
	case errors.As(err, &s):
		kind = Down
		if s.code == http.StatusTooManyRequests {
			kind = Busy
		}
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		kind = Timeout
	}
	return f.fail(kind, f.repo, f.rev, err, address, f.folder(f.repo))
}
