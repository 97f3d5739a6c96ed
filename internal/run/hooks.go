package run

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/transport"
)

// hookTime is how long a server may take for a hook, unless the settings say otherwise.
const hookTime = 30 * time.Second

// hooks are what the servers are asked to do around the load (transport, section 13.2). No result holds these requests; they have connections
// of their own and go through no proxy.
type hooks struct {
	*executor
	over    carrier
	servers []*transport.Target // each once, in the order of the URLs
}

// startHooks empties the caches of the servers and makes ready what starts their profilers, where that is asked for.
func (o *opened) startHooks(ctx context.Context, cfg *config.Benchmark, opts *Options, r *resolved, say *reporter) error {
	reset, profile := cfg.Endpoint.ResetKVCache, cfg.Endpoint.ServerProfiler
	if reset == nil && profile == nil {
		return nil
	}
	connections := Connections(cfg, nil)
	connections.Capture, connections.Proxy, connections.ProxyFromEnv, connections.Timeout = transport.CaptureOff, "", false, 0
	over, _, release, err := carry(cfg, r, connections, userAgent(opts.Version))
	if err != nil {
		return err
	}
	o.held.opened(func() error { release(); return nil })
	h := &hooks{executor: o.executor, over: over}
	for _, one := range o.addresses.list {
		if !slices.ContainsFunc(h.servers, one.SameOrigin) {
			h.servers = append(h.servers, one)
		}
	}
	if reset != nil {
		if err := h.reset(ctx, reset, retriesOf(reset), say); err != nil {
			return fmt.Errorf("%s: %w", cfg.As("endpoint.reset_kv_cache"), err)
		}
	}
	if profile != nil {
		o.profiler = newProfiler(h, cfg, say.warn)
	}
	return nil
}

// post asks one server. An error may pass where again says so.
func (h *hooks) post(ctx context.Context, server *transport.Target, path string, limit time.Duration) (again bool, err error) {
	to, err := server.At(path)
	if err != nil {
		return false, err
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	rec := h.asideTo(ctx, h.over, to, &endpoint.Request{Method: http.MethodPost})
	defer rec.Release()
	switch {
	case rec.Status >= 200 && rec.Status < 300:
		return false, nil
	case rec.Status > 0: // the body may hold what is to be told to nobody
		return slices.Contains(passing, rec.Status), fmt.Errorf("POST %s: %d %s", to.URL, rec.Status, http.StatusText(rec.Status))
	case ctx.Err() == context.DeadlineExceeded:
		return true, fmt.Errorf("POST %s: no answer within %s", to.URL, limit)
	}
	return true, fmt.Errorf("POST %s: %w", to.URL, failed(rec.Error))
}

// passing are the statuses of a server that is busy with something else.
var passing = []int{http.StatusConflict, http.StatusLocked, http.StatusTooManyRequests, http.StatusServiceUnavailable}

// retries is how often a server is asked again.
type retries struct {
	first, most time.Duration // pause after the first try, doubled each time up to most
	whole       time.Duration // no try begins so long after the first one
}

func retriesOf(c *config.ResetKVCache) retries {
	p := retries{first: time.Second, most: 8 * time.Second, whole: time.Minute}
	if c.MaxRetryBy != nil {
		p.whole = c.MaxRetryBy.Duration()
	}
	return p
}

// keep tries until it succeeds, fails for good, or time is up. begin is told the first failure that is waited for.
func (p retries) keep(ctx context.Context, begin func(error), try func() (again bool, err error)) error {
	end, pause, told := time.Now().Add(p.whole), p.first, false
	for {
		again, err := try()
		if err == nil || !again || ctx.Err() != nil || !time.Now().Add(pause).Before(end) {
			return err
		}
		if !told {
			told = true
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

// reset empties the prefix caches, one server after the other. The first that does not ends it.
func (h *hooks) reset(ctx context.Context, set *config.ResetKVCache, p retries, say *reporter) error {
	path := set.Path
	if path == "" {
		path = config.ResetPath
	}
	for _, server := range h.servers {
		err := p.keep(ctx, func(why error) {
			say.note("asking again to empty the prefix cache, for %s at the most: %v", p.whole, why)
		},
			func() (bool, error) { return h.post(ctx, server, path, timeOr(set.Timeout, hookTime)) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%w; vLLM has %s with VLLM_SERVER_DEV_MODE=1 alone, SGLang has /flush_cache", err, config.ResetPath)
		}
	}
	say.note("prefix caches emptied: POST %s, servers: %d", path, len(h.servers))
	return nil
}

// timeOr is a setting, or what it is where nobody set it.
func timeOr(s *config.Seconds, otherwise time.Duration) time.Duration {
	if s == nil {
		return otherwise
	}
	return s.Duration()
}
