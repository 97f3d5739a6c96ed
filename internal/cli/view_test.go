package cli

import (
	"testing"

	"aiperf/internal/config"
)

// TestView: the view that a run gets, by what was asked for and by what standard output is.
func TestView(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		words    []string
		terminal bool
		want     config.UI
		refused  bool
	}{
		{nil, true, config.UIDashboard, false},
		{nil, false, config.UINone, false},
		{[]string{"-v"}, true, config.UISimple, false},
		{[]string{"-vv"}, true, config.UISimple, false},
		{[]string{"-v"}, false, config.UISimple, false},
		{[]string{"--ui", "none"}, true, config.UINone, false},
		{[]string{"--ui", "simple"}, false, config.UISimple, false},
		{[]string{"--ui", "dashboard"}, false, config.UISimple, false},
		{[]string{"--ui", "dashboard", "-v"}, true, config.UIDashboard, false},
		{[]string{"--num-profile-runs", "2"}, true, config.UISimple, false},
		{[]string{"--concurrency", "1,2"}, true, config.UISimple, false},
		{[]string{"--num-profile-runs", "2", "--ui", "dashboard"}, true, config.UIDashboard, false},
	} {
		p := &Program{Streams: Streams{Terminal: c.terminal}}
		run, _, found := p.resolve(t.Context(), append([]string{"--model", "mock", "--url", "mock://", "--tokenizer", "builtin"}, c.words...))
		if refused := len(found.Problems) > 0; refused != c.refused {
			t.Errorf("%v: %v", c.words, found.Problems)
			continue
		}
		if got := run.Runtime.UI; got != c.want {
			t.Errorf("%v at a terminal %v: %s, want %s", c.words, c.terminal, got, c.want)
		}
	}
}
