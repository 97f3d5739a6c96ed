package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
)

// TestMain lets the scripts call the program by its name. A run prints where it would write instead of sending anything.
func TestMain(m *testing.M) {
	program := func() {
		p := &Program{
			Name:    os.Args[0],
			Streams: Standard(),
			Profile: func(_ context.Context, run *config.Run, s Streams) int {
				fmt.Fprintln(s.Out, "would run into", run.Artifacts.Dir)
				return 0
			},
			FindTokenizer: offline,
		}
		os.Exit(Main(context.Background(), p, os.Args[1:]))
	}
	testscript.Main(testhome.Tests{M: m}, map[string]func(){"aiperf": program, oldName: program})
}

func TestScripts(t *testing.T) {
	all, err := filepath.Glob("testdata/script/*.txt*")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d scripts: %v", len(all), err)
	}
	var files []string
	for i, name := range all {
		if i%testhome.Stride(3) == 0 {
			files = append(files, name)
		}
	}
	testscript.Run(t, testscript.Params{Files: files, RequireExplicitExec: true})
}
