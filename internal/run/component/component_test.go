package component

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/workload/load"
)

// logged is a component that logs its calls.
type logged struct {
	name string
	log  *[]string
	fail error
}

func (c logged) note(what string) { *c.log = append(*c.log, what+" "+c.name) }

func (c logged) Start(context.Context) error  { c.note("start"); return c.fail }
func (c logged) PhaseStart(p *load.PhaseInfo) { c.note("begin " + p.Name) }
func (c logged) PhaseEnd(f *load.PhaseStats)  { c.note("end " + f.Info.Name) }
func (c logged) Stop(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok || ctx.Err() != nil {
		c.note("no time to stop")
	}
	c.note("stop")
	return nil
}

func TestComponentsStopInTheOppositeOrder(t *testing.T) {
	var log []string
	var all List
	ctx, cancel := context.WithCancel(t.Context())
	for _, one := range []logged{{name: "a", log: &log}, {name: "b", log: &log}, {name: "c", log: &log, fail: errors.New("no")}} {
		if err := all.Start(ctx, one); !errors.Is(err, one.fail) {
			t.Errorf("%s: %v", one.name, err)
		}
	}
	info := &load.PhaseInfo{Name: "p"}
	all.PhaseStart(info)
	all.PhaseEnd(&load.PhaseStats{Info: *info})
	cancel() // the user interrupts: there is still time to stop
	for range 2 {
		if err := all.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
	want := []string{"start a", "start b", "start c", "begin p a", "begin p b", "end p a", "end p b", "stop b", "stop a"}
	if !slices.Equal(log, want) {
		t.Errorf("%q, want %q", log, want)
	}
}

// stuck is a component that does not stop by itself.
type stuck struct {
	Passive
	free chan struct{}
}

func (c stuck) Stop(context.Context) error { <-c.free; return nil }

func TestAComponentThatHangsIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all List
		var log []string
		c := stuck{free: make(chan struct{})}
		for _, one := range []Component{logged{name: "a", log: &log}, c} {
			if err := all.Start(t.Context(), one); err != nil {
				t.Fatal(err)
			}
		}
		from := time.Now()
		if err := all.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "did not stop within 10s") || time.Since(from) != StopLimit {
			t.Errorf("%v after %v", err, time.Since(from))
		}
		if !slices.Contains(log, "stop a") {
			t.Error("the other one was not stopped")
		}
		close(c.free)
	})
}
