package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/models"
	"aiperf/internal/record"
	"aiperf/internal/suggest"
	"aiperf/internal/terminal"
	"aiperf/internal/transport"
)

// refusal is why the probe was not answered.
type refusal struct{ why *record.Error }

// Error implements error.
func (r refusal) Error() string { return named(r.why) }

// HopelessError is why a run did not begin: no server can be reached, or none has the model. Another try would end the same.
type HopelessError struct{ text string }

// Error implements error.
func (h HopelessError) Error() string { return h.text }

// How often a server that cannot be reached is tried in all, and the pause between.
const (
	knocks     = 3
	knockPause = 500 * time.Millisecond
)

// hopeless is why a run need not begin, by what became of its probe: no server can be reached, or none has the model. nil = it may succeed. Who
// watches is told at once; load at a dead port is no benchmark.
func (o *opened) hopeless(ctx context.Context, cfg *config.Benchmark, opts *Options, r *resolved, probed error) error {
	var refused refusal
	if !opts.Interactive || cfg.Environment.Timing.NoFailFast || !errors.As(probed, &refused) {
		return nil
	}
	connections := Connections(cfg, nil)
	connections.Capture = transport.CaptureOff
	over, _, release, err := carry(cfg, r, connections, userAgent(opts.Version))
	if err != nil {
		return nil // the run itself will say it
	}
	defer release()
	a := &asking{opened: o, cfg: cfg, over: over}
	switch why := refused.why; {
	case unreached(why):
		return a.reach(ctx)
	case why.UnknownModel():
		return a.offered(ctx, why)
	}
	return nil
}

// asking is questions to the servers before the load.
type asking struct {
	*opened
	cfg  *config.Benchmark
	over carrier
}

// unreached tells failures to connect.
func unreached(e *record.Error) bool {
	return e != nil && (e.Type == transport.ErrConnect || e.Type == transport.ErrDNS)
}

// reach tries every server until one can be reached, a little while.
func (a *asking) reach(ctx context.Context) error {
	begun := time.Now()
	for n := 1; ; n++ {
		var last *record.Error
		for url := range a.addresses.list {
			_, why := a.get(ctx, url, a.addresses.bases[url])
			if !unreached(why) {
				return nil
			}
			last = why
		}
		if n < knocks {
			select {
			case <-ctx.Done():
				return nil // the user's interruption has words of its own
			case <-time.After(knockPause):
			}
			continue
		}
		return a.dead(n, time.Since(begun), last)
	}
}

// get asks a server for a page.
func (a *asking) get(ctx context.Context, url int, path string) (body []byte, why *record.Error) {
	rec, err := a.executor.aside(ctx, a.over, url, &endpoint.Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, nil
	}
	defer rec.Release()
	if len(rec.Messages) > 0 {
		body = slices.Clone(rec.Messages[0].Raw)
	}
	return body, rec.Error
}

// dead says that no server can be reached.
func (a *asking) dead(tries int, took time.Duration, why *record.Error) error {
	base := a.addresses.bases[0]
	where := base
	if more := len(a.addresses.bases) - 1; more > 0 {
		where = strings.Join(a.addresses.bases, ", ")
	}
	said := why.Said()
	if _, after, found := strings.Cut(said, "connect: "); found { // the address stands before it already
		said = after
	}
	list := base + models.Path
	if u, err := transport.JoinURL(base, models.Path); err == nil {
		list = u
	}
	advice := [][2]string{
		{"curl " + list, "is it up?"},
		{a.cfg.As("endpoint.wait_for_model_timeout") + " 120", "wait for it"},
		{a.cfg.As("endpoint.urls") + " mock://", "run without a server"},
	}
	return HopelessError{fmt.Sprintf("no server at %s: %s\n\n  Nothing was sent; %d attempts in %.1f s.\n\n%s", terminal.Line(where), terminal.Line(said), tries, took.Seconds(), ways(advice))}
}

// ways are lines of what can be tried, each with what it is for.
func ways(list [][2]string) string {
	wide := 0
	for _, one := range list {
		wide = max(wide, len(one[0]))
	}
	var b strings.Builder
	for i, one := range list {
		label := "   "
		if i == 0 {
			label = "try"
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %s  %-*s  %s", label, wide, one[0], one[1]), " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mostOffered is how many models of a server are named.
const mostOffered = 8

// offered says which models the server has instead of the one that it does not know; nil = it lists that one, or nothing.
func (a *asking) offered(ctx context.Context, why *record.Error) error {
	body, _ := a.get(ctx, 0, a.addresses.bases[0]+models.Path)
	list, err := models.Parse(body)
	model := a.executor.model
	if err != nil || len(list.Names) == 0 || slices.Contains(list.Names, model) {
		return nil //nolint:nilerr // then nobody knows better
	}
	names := slices.Clone(list.Names)
	near := suggest.Name(model, names)
	if i := slices.Index(names, near); i > 0 { // the nearest first
		names = slices.Insert(slices.Delete(names, i, i+1), 0, near)
	}
	var b strings.Builder
	for i, n := range names[:min(len(names), mostOffered)] {
		note := ""
		if i == 0 && n == near {
			note = "  the nearest"
			if strings.EqualFold(n, model) {
				note = "  differs in case only"
			}
		}
		b.WriteString("\n    " + terminal.Line(n) + note)
	}
	if more := len(names) - mostOffered; more > 0 {
		fmt.Fprintf(&b, "\n    and %d more", more)
	}
	text := fmt.Sprintf("the server has no model %s\n\n  %s serves%s\n\n  %s", model, terminal.Line(a.addresses.bases[0]), b.String(), named(why))
	if near != "" {
		text += "\n\n  try  " + a.cfg.As("models.items") + " " + terminal.Line(near)
	}
	return HopelessError{text}
}
