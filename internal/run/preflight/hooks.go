package preflight

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/exec"
	"aiperf/internal/run/message"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
)

// hookLimit is the default time limit of a hook on a server.
const hookLimit = 30 * time.Second

// hooks sends the requests to servers that come before and after the load (transport, section 13.2). They are not part of any result. They have their
// own connections and use no proxy.
type hooks struct {
	executor *exec.Executor
	over     connection.Client
	servers  []*transport.Target // each server once, in the order of the URLs
}

// StartHooks resets the caches of the servers and prepares the profiler, if the settings ask for it. The caller calls release at
// the end of the run; it is nil if there are no hooks.
func (p *Sender) StartHooks(ctx context.Context) (prof *Profiler, release func(), err error) {
	reset, profile := p.Config.Endpoint.ResetKVCache, p.Config.Endpoint.ServerProfiler
	if reset == nil && profile == nil {
		return nil, nil, nil
	}
	over, release, err := p.ownClient(func(o *transport.Options) { o.Proxy, o.ProxyFromEnv, o.Timeout = "", false, 0 })
	if err != nil {
		return nil, nil, err
	}
	h := &hooks{executor: p.Executor, over: over}
	for _, one := range p.Addresses.Targets {
		if !slices.ContainsFunc(h.servers, one.SameOrigin) {
			h.servers = append(h.servers, one)
		}
	}
	if reset != nil {
		if err := h.reset(ctx, reset, retryPolicyOf(reset), p.Say); err != nil {
			return nil, release, fmt.Errorf("%s: %w", p.Config.As("endpoint.reset_kv_cache"), err)
		}
	}
	if profile != nil {
		prof = newProfiler(h, p.Config, p.Say.Warn)
	}
	return prof, release, nil
}

// post sends one hook to one server. again is true if the error may be temporary.
func (h *hooks) post(ctx context.Context, server *transport.Target, path string, limit time.Duration) (again bool, err error) {
	to, err := server.At(path)
	if err != nil {
		return false, err
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	rec := h.executor.RoundTripTo(ctx, h.over, to, &endpoint.Request{Method: http.MethodPost})
	defer rec.Release()
	switch {
	case rec.Status >= 200 && rec.Status < 300:
		return false, nil
	case rec.Status > 0: // the body may contain secrets
		return slices.Contains(temporaryStatuses, rec.Status), fmt.Errorf("POST %s: %d %s", to.URL, rec.Status, http.StatusText(rec.Status))
	case ctx.Err() == context.DeadlineExceeded:
		return true, fmt.Errorf("POST %s: no answer within %s", to.URL, limit)
	}
	return true, fmt.Errorf("POST %s: %w", to.URL, failed(rec.Error))
}

// temporaryStatuses lists the statuses of a server that is temporarily busy.
var temporaryStatuses = []int{http.StatusConflict, http.StatusLocked, http.StatusTooManyRequests, http.StatusServiceUnavailable}

// retryPolicy says how often and how long a hook is retried.
type retryPolicy struct {
	first, most time.Duration // pause after the first try; it doubles each time up to most
	whole       time.Duration // no new try begins after this time since the first one
}

func retryPolicyOf(c *config.ResetKVCache) retryPolicy {
	p := retryPolicy{first: time.Second, most: 8 * time.Second, whole: time.Minute}
	if c.MaxRetryBy != nil {
		p.whole = c.MaxRetryBy.Duration()
	}
	return p
}

// run calls try until it succeeds, fails for good, or the time is up. It calls begin with the first error that is retried.
func (p retryPolicy) run(ctx context.Context, begin func(error), try func() (again bool, err error)) error {
	end, pause, notified := time.Now().Add(p.whole), p.first, false
	for {
		again, err := try()
		if err == nil || !again || ctx.Err() != nil || !time.Now().Add(pause).Before(end) {
			return err
		}
		if !notified {
			notified = true
			begin(err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause = min(2*pause, p.most)
	}
}

// reset resets the prefix caches, one server after the other. The first failure ends it.
func (h *hooks) reset(ctx context.Context, set *config.ResetKVCache, p retryPolicy, say *message.Reporter) error {
	path := set.Path
	if path == "" {
		path = config.ResetPath
	}
	for _, server := range h.servers {
		err := p.run(ctx, func(why error) {
			say.Note("retrying to empty the prefix cache, for at most %s: %v", p.whole, why)
		},
			func() (bool, error) { return h.post(ctx, server, path, timeOr(set.Timeout, hookLimit)) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%w; vLLM offers %s only with VLLM_SERVER_DEV_MODE=1; for SGLang give the path /flush_cache", err, config.ResetPath)
		}
	}
	say.Note("prefix caches emptied: POST %s, servers: %d", path, len(h.servers))
	return nil
}

// timeOr returns the setting, or the default if it is not set.
func timeOr(s *config.Seconds, otherwise time.Duration) time.Duration {
	if s == nil {
		return otherwise
	}
	return s.Duration()
}
