package cli

import (
	"strings"
	"testing"

	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/report/ui/livefile"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/run/kube"
)

// TestKubeScreen: the view of a run on a cluster begins with the first state that the run publishes, and the output of the run comes after the view.
func TestKubeScreen(t *testing.T) {
	k := newKubeTest(t)
	k.expect(0, "run one has 2 workers", "profile -d --name one --total-workers 2 "+benchmark)
	k.pods("one", 2)
	run, err := kube.Find(t.Context(), k, "one", "")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	f := &kube.Follower{Cluster: k, Out: &out}
	p := &Program{Streams: Streams{Out: &out, Err: &out, Dashboard: &dashboard.Terminal{}}}
	shown, ended, stopped := make(chan dashboard.Options), 0, false
	begin := func(o dashboard.Options) (func(), error) {
		shown <- o
		return func() { ended++ }, nil
	}
	hide := p.showRun(t.Context(), f, run, func() { stopped = true }, func() bool { return stopped }, "out", begin)
	if _, err := f.Out.Write([]byte("early ")); err != nil || out.String() != "early " {
		t.Errorf("%q %v", out.String(), err)
	}
	k.mu.Lock()
	k.live = (&livefile.LiveState{Run: "r", State: liveview.State{Plan: liveview.Plan{Model: "llama"}, Log: []liveview.Line{{Text: "joined"}}}}).Bytes()
	k.mu.Unlock()
	o := <-shown
	if _, err := f.Out.Write([]byte("late")); err != nil || out.String() != "early " {
		t.Errorf("%q %v: output disturbs the view", out.String(), err)
	}
	var s liveview.State
	o.Fill(liveview.View{Width: 100}, &s)
	if s.Plan.Model != "llama" || s.Plan.Results != "out" || s.Stopping || o.Follows || !strings.Contains(o.Copy(), "joined") {
		t.Errorf("%+v %v %q", s.Plan, o.Follows, o.Copy())
	}
	o.Interrupt()
	if o.Fill(liveview.View{}, &s); !s.Stopping {
		t.Error("the view does not say that the run is being stopped")
	}
	if err := hide(); err != nil || ended != 1 || out.String() != "early late" {
		t.Errorf("%q, ended %d times, %v", out.String(), ended, err)
	}
	k.mu.Lock()
	k.live = []byte("aiperf live 1\n")
	k.mu.Unlock()
	(&clusterScreen{watchedRun: &watchedRun{Program: p}, follower: f, run: run}).poll(t.Context())
	if !strings.Contains(out.String(), "no live view: another version") {
		t.Error(out.String())
	}
}
