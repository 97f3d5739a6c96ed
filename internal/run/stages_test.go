package run

import (
	"errors"
	"slices"
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
	stages := new(runResources).stages(t.Context())
	if last := stages[len(stages)-1]; last.name != "inputs" {
		t.Errorf("the last stage is %s", last.name)
	}
}
