package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/suggest"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/connection"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/modellist"
	"aiperf/internal/wire/transport"
)

// probeRefusal is the error of a probe that failed. why is the error of its request.
type probeRefusal struct{ why *record.Error }

// Error implements error.
func (r probeRefusal) Error() string { return ErrorText(r.why) }

// HopelessError is the reason why a run did not begin: no server can be reached, or none has the model. A retry would fail in the same way.
type HopelessError struct{ text string }

// Error implements error.
func (h HopelessError) Error() string { return h.text }

// connectAttempts is the number of connection attempts to a server that cannot be reached; connectPause is the pause between two of them.
const (
	connectAttempts = 3
	connectPause    = 500 * time.Millisecond
)

// checkHopeless looks at the result of the probe and returns a HopelessError if the run cannot succeed: no server can be reached, or none has the
// model. It returns nil if the run may succeed. Only interactive runs fail this early: load on a dead port measures nothing.
func (p *Sender) checkHopeless(ctx context.Context, probed error) error {
	var refused probeRefusal
	if !p.Interactive || p.Config.Environment.Timing.NoFailFast || !errors.As(probed, &refused) {
		return nil
	}
	over, release, err := p.ownClient(nil)
	if err != nil {
		return nil // the run itself reports this error
	}
	defer release()
	a := &serverQuestions{Sender: p, over: over}
	switch why := refused.why; {
	case connectionFailed(why):
		return a.checkReachable(ctx)
	case why.UnknownModel():
		return a.checkModelListed(ctx, why)
	}
	return nil
}

// serverQuestions sends questions to the servers before the load starts.
type serverQuestions struct {
	*Sender
	over connection.Client
}

// connectionFailed reports whether an error means that the connection failed.
func connectionFailed(e *record.Error) bool {
	return e != nil && (e.Type == transport.ErrConnect || e.Type == transport.ErrDNS)
}

// checkReachable tries to connect to every server, connectAttempts times in all, and returns nil as soon as one of them can be reached.
func (a *serverQuestions) checkReachable(ctx context.Context) error {
	begun := time.Now()
	for n := 1; ; n++ {
		var last *record.Error
		for url := range a.Addresses.Targets {
			_, why := a.get(ctx, url, a.Addresses.Bases[url])
			if !connectionFailed(why) {
				return nil
			}
			last = why
		}
		if n < connectAttempts {
			select {
			case <-ctx.Done():
				return nil // the caller reports the interruption by the user
			case <-time.After(connectPause):
			}
			continue
		}
		return a.unreachableError(n, time.Since(begun), last)
	}
}

// get requests a path from the server with the index url.
func (a *serverQuestions) get(ctx context.Context, url int, path string) (body []byte, why *record.Error) {
	rec, err := a.Executor.RoundTrip(ctx, a.over, url, &endpoint.Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, nil
	}
	defer rec.Release()
	if len(rec.Messages) > 0 {
		body = slices.Clone(rec.Messages[0].Raw)
	}
	return body, rec.Error
}

// unreachableError returns the error that no server can be reached.
func (a *serverQuestions) unreachableError(tries int, took time.Duration, why *record.Error) error {
	base := a.Addresses.Bases[0]
	where := base
	if more := len(a.Addresses.Bases) - 1; more > 0 {
		where = strings.Join(a.Addresses.Bases, ", ")
	}
	said := why.Reason()
	if _, after, found := strings.Cut(said, "connect: "); found { // the message already begins with the address
		said = after
	}
	list := base + modellist.Path
	if u, err := transport.JoinURL(base, modellist.Path); err == nil {
		list = u
	}
	advice := [][2]string{
		{"curl " + list, "is it up?"},
		{a.Config.As("endpoint.wait_for_model_timeout") + " 120", "wait for it"},
		{a.Config.As("endpoint.urls") + " mock://", "run without a server"},
	}
	return HopelessError{fmt.Sprintf("no server at %s: %s\n\n  Nothing was sent; %d attempts in %.1f s.\n\n%s", terminal.Line(where), terminal.Line(said), tries, took.Seconds(), suggestions(advice))}
}

// suggestions formats a list of suggestions: what to type and what it does, one per line.
func suggestions(list [][2]string) string {
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

// maxModelsListed is the largest number of models of a server that an error lists.
const maxModelsListed = 8

// checkModelListed returns an error that lists the models of the server if it does not have the requested one. It returns nil if the server lists that model,
// or lists none.
func (a *serverQuestions) checkModelListed(ctx context.Context, why *record.Error) error {
	body, _ := a.get(ctx, 0, a.Addresses.Bases[0]+modellist.Path)
	list, err := modellist.Parse(body)
	model := a.model()
	if err != nil || len(list.Names) == 0 || slices.Contains(list.Names, model) {
		return nil //nolint:nilerr // then nobody knows better
	}
	names := slices.Clone(list.Names)
	near := suggest.Name(model, names)
	if i := slices.Index(names, near); i > 0 { // list the most similar name first
		names = slices.Insert(slices.Delete(names, i, i+1), 0, near)
	}
	var b strings.Builder
	for i, n := range names[:min(len(names), maxModelsListed)] {
		note := ""
		if i == 0 && n == near {
			note = "  the nearest"
			if strings.EqualFold(n, model) {
				note = "  differs in case only"
			}
		}
		b.WriteString("\n    " + terminal.Line(n) + note)
	}
	if more := len(names) - maxModelsListed; more > 0 {
		fmt.Fprintf(&b, "\n    and %d more", more)
	}
	text := fmt.Sprintf("the server has no model %s\n\n  %s serves%s\n\n  %s", model, terminal.Line(a.Addresses.Bases[0]), b.String(), ErrorText(why))
	if near != "" {
		text += "\n\n  try  " + a.Config.As("models.items") + " " + terminal.Line(near)
	}
	return HopelessError{text}
}
