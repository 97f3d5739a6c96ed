package kube

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"aiperf/internal/run/podserver"
)

// Periods of following a run.
const (
	pollPeriod = time.Second
	silence    = 5 * time.Second  // without an answer until the user hears of it
	hopeTime   = 10 * time.Second // for which a problem that waiting does not fix is tolerated
)

// Follower follows runs on a cluster.
type Follower struct {
	Cluster Cluster
	Note    func(text string) // tells the user something
	Out     io.Writer         // receives the output of the run
	Poll    time.Duration     // 0 = every second
	Silence time.Duration     // without an answer until the user hears of it; 0 = 5 s
	Hope    time.Duration     // for which a problem that waiting does not fix is tolerated; 0 = 10 s
}

func (f *Follower) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(cmp.Or(f.Poll, pollPeriod)):
		return nil
	}
}

// Await waits until the controller of a run runs. It tells what the run waits for, and gives up if waiting cannot help.
func (f *Follower) Await(ctx context.Context, name string) (*Run, error) {
	told, down := "", f.trouble()
	var since, short time.Time // of a problem that waiting does not fix; of a controller that runs without all worker pods
	for {
		run, err := Find(ctx, f.Cluster, name, "")
		if down.lasts(err) {
			return nil, err
		}
		if err == nil {
			if run.State == Failed || run.State == Complete {
				return run, fmt.Errorf("run %s: %s", name, orElse(run.Problem, "it has ended"))
			}
			if (run.State == Running || run.State == Finished) && run.Problem == "" && !f.isShort(ctx, run, &short) {
				return run, nil
			}
			if line := waitsFor(ctx, f.Cluster, run); line != told && since.IsZero() {
				told = line
				f.Note(line)
			}
			switch lost := cannotStart(ctx, f.Cluster, run); {
			case lost == "":
				since = time.Time{}
			case since.IsZero():
				since = time.Now()
			case time.Since(since) > cmp.Or(f.Hope, hopeTime):
				return run, errors.New(lost)
			}
			if run.State == Running && told == run.Problem && since.IsZero() { // a worker waits for a node
				return run, nil
			}
		}
		if err := f.pause(ctx); err != nil {
			return nil, err
		}
	}
}

// isShort reports whether a run whose controller runs lacks worker pods that the cluster refuses, or that it may still create. since is when the first
// was missing.
func (f *Follower) isShort(ctx context.Context, run *Run, since *time.Time) bool {
	if run.State != Running || len(run.PodNames(RoleWorker)) >= run.Workers {
		return false
	}
	if since.IsZero() {
		*since = time.Now()
	}
	return time.Since(*since) < cmp.Or(f.Hope, hopeTime) || cannotStart(ctx, f.Cluster, run) != ""
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// waitsFor says what a run waits for.
func waitsFor(ctx context.Context, c Cluster, run *Run) string {
	switch {
	case run.Problem != "":
		return run.Problem
	case run.State == Queued:
		return fmt.Sprintf("run %s waits in its queue", run.Name)
	}
	if refused := Refusals(ctx, c, run); len(refused) > 0 {
		return refused[len(refused)-1]
	}
	return fmt.Sprintf("waiting for pods: %d of %d workers run", run.RunningWorkers(), run.Workers)
}

// cannotStart says why waiting cannot help; "" = it can.
func cannotStart(ctx context.Context, c Cluster, run *Run) string {
	for _, p := range run.pods {
		if hopeless(p) {
			return Problem(p)
		}
	}
	if len(run.PodNames(RoleController)) == 0 && run.State == Pending || run.State == Running && len(run.PodNames(RoleWorker)) < run.Workers {
		if refused := Refusals(ctx, c, run); len(refused) > 0 {
			return refused[len(refused)-1]
		}
	}
	return ""
}

// trouble tolerates an API server that does not answer, and tells the user.
type trouble struct {
	note    func(text string)
	silence time.Duration
	since   time.Time
	told    bool
}

func (f *Follower) trouble() trouble {
	return trouble{note: f.Note, silence: cmp.Or(f.Silence, silence)}
}

// lasts records the result of a request and reports whether its error is final. A missing answer is not: the run continues on the cluster.
func (t *trouble) lasts(err error) bool {
	switch {
	case err == nil:
		if t.told {
			t.note("the cluster answers again")
		}
		t.since, t.told = time.Time{}, false
		return false
	case isFinal(err):
		return true
	case t.since.IsZero():
		t.since = time.Now()
	case !t.told && time.Since(t.since) > t.silence:
		t.told = true
		t.note(fmt.Sprintf("no answer from the cluster for %.0f s (%v); the run continues there, trying again", time.Since(t.since).Seconds(), err))
	}
	return false
}

// isFinal reports whether trying again cannot help.
func isFinal(err error) bool {
	var api *APIError
	if errors.As(err, &api) {
		return api.Reason != Unreachable && api.Reason != Other
	}
	var refused *refusedError
	return errors.As(err, &refused) || errors.Is(err, context.Canceled)
}

// Follow copies the output of a run until its end, and returns its state then. It survives a time without answers of the cluster.
func (f *Follower) Follow(ctx context.Context, run *Run) (podserver.State, error) {
	var (
		from      int64
		down      = f.trouble()
		connector = NewConnector(f.Cluster, run)
	)
	defer connector.Close()
	for {
		remote, err := connector.Remote(ctx)
		finished := false
		if err == nil {
			var text []byte
			if text, from, finished, err = remote.output(ctx, from); len(text) > 0 {
				if _, err := f.Out.Write(text); err != nil {
					return podserver.State{}, err
				}
			}
		}
		if err == nil && finished {
			return remote.State(ctx)
		}
		if ctx.Err() != nil {
			return podserver.State{}, context.Cause(ctx)
		}
		if err != nil {
			if gone := f.gone(ctx, run); gone != nil {
				return podserver.State{}, gone
			}
		}
		if down.lasts(err) {
			return podserver.State{}, err
		}
		if err == nil {
			continue
		}
		if err := f.pause(ctx); err != nil {
			return podserver.State{}, err
		}
	}
}

// gone returns how a run ended whose controller does not answer; nil = it may still run.
func (f *Follower) gone(ctx context.Context, run *Run) error {
	now, err := Find(ctx, f.Cluster, run.Name, "")
	switch {
	case Is(err, NotFound):
		return fmt.Errorf("run %s was deleted while it ran; its files are gone", run.Name)
	case err != nil:
		return nil //nolint:nilerr // nobody answers
	case now.State == Failed || now.State == Complete:
		return fmt.Errorf("run %s has ended before its files were fetched: %s", run.Name, orElse(now.Problem, "the time to fetch them is over"))
	}
	before, after := run.ControllerPod(), now.ControllerPod()
	if after == nil || text(after, "metadata", "uid") != text(before, "metadata", "uid") || text(after, "metadata", "deletionTimestamp") != "" {
		return fmt.Errorf("pod %s of the controller was deleted during the run; its files are gone", text(before, "metadata", "name"))
	}
	return nil
}

// decoded returns a value of a Secret.
func decoded(secret Object, key string) (string, error) {
	value, err := base64.StdEncoding.DecodeString(text(secret, "data", key))
	if err == nil && len(value) == 0 {
		err = errors.New("it is missing")
	}
	if err != nil {
		return "", fmt.Errorf("key %s of Secret %s: %w", key, text(secret, "metadata", "name"), err)
	}
	return strings.TrimSpace(string(value)), nil
}
