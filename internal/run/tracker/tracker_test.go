package tracker

import (
	"strings"
	"testing"
)

// TestWandBMode: a run that is not to be uploaded says that no offline run is written; one that is switched off says nothing.
func TestWandBMode(t *testing.T) {
	for mode, want := range map[string]struct {
		online bool
		words  string
	}{
		"": {true, ""}, "online": {true, ""}, "shared": {true, ""}, "disabled": {false, ""},
		"offline": {false, "no offline run is written, because WANDB_MODE is offline"}, "dryrun": {false, "because WANDB_MODE is dryrun"},
	} {
		t.Setenv(wandbMode, mode)
		warned := ""
		if got := wandbOnline(func(text string) { warned = text }); got != want.online || !strings.Contains(warned, want.words) || (want.words == "") != (warned == "") {
			t.Errorf("%q: %v %q", mode, got, warned)
		}
	}
}
