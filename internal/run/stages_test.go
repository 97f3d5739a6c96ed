package run

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config"
)

// TestAStageThatRefusesIsTheLast: stages run in their order, and what would follow a refusal does not.
func TestAStageThatRefusesIsTheLast(t *testing.T) {
	var ran []string
	one := func(name string, err error) stage {
		return stage{name, func() error { ran = append(ran, name); return err }}
	}
	refused := errors.New("refused")
	if err := runStages(newReporter(t.Context(), &Options{}, new(config.Benchmark)), []stage{one("a", nil), one("b", refused), one("c", nil)}); !errors.Is(err, refused) || !slices.Equal(ran, []string{"a", "b"}) {
		t.Errorf("%v after %v", err, ran)
	}
}

// TestInputsAreTheLastStage: an error before the first request must leave no inputs.json, so nothing that can be refused follows it.
func TestInputsAreTheLastStage(t *testing.T) {
	stages := new(runResources).stages(t.Context(), nil, nil, nil, nil)
	if last := stages[len(stages)-1]; last.name != "inputs" {
		t.Errorf("the last stage is %s", last.name)
	}
}

// TestWhatIsWrittenIsNotHurried: a component that completes a file gets the run's own context, without a deadline, and sees the interruption.
func TestWhatIsWrittenIsNotHurried(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var told []string
	data := &generated{n: maxLate + 7, made: map[int]int{}}
	l := newInputsWriter(filepath.Join(t.TempDir(), "inputs.json"), nil, &preparedStore{data: data}, chat(t), func(s string) { told = append(told, s) })
	c := components{unhurried: true}
	if err := c.start(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if err := c.stop(ctx); err != nil || len(told) != 1 || !strings.Contains(told[0], "lists 1,000 of 1,007 conversations") {
		t.Errorf("%v, told %q", err, told)
	}
}
