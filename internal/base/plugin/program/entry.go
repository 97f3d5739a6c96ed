package program

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"aiperf/internal/base/plugin"
)

// Of returns the settings that start the program of a plug-in. methods are those that it must have.
func Of(e *plugin.Entry, log func(line string), methods ...string) Settings {
	return Settings{Category: e.Category, Plugin: e.Name, Position: e.Position(), Command: e.Command(), Dir: e.Dir(), Options: e.Metadata, Env: e.Env,
		Methods: methods, Version: version(), Log: log, Limits: Limits{Call: e.Timeout}}
}

// version returns the revision that this program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return fmt.Sprintf("dev-%.12s", s.Value)
			}
		}
	}
	return "dev"
}

// Starter starts the programs of plug-ins. Their methods must include the given ones.
type Starter func(e *plugin.Entry, methods ...string) (*Bound, error)

// Under returns a Starter whose programs end with ctx. Their standard error goes to log; nil = it is dropped.
func Under(ctx context.Context, log func(line string)) Starter {
	return func(e *plugin.Entry, methods ...string) (*Bound, error) {
		p, err := Start(ctx, Of(e, log, methods...))
		if err != nil {
			return nil, err
		}
		return &Bound{ctx, p}, nil
	}
}

// Bound is a program whose calls end with the context of its start.
type Bound struct {
	ctx context.Context //nolint:containedctx // see Under
	*Program
}

// Call calls a method and stores the result in result, a pointer.
func (b *Bound) Call(method string, params, result any) error {
	return b.Program.Call(b.ctx, method, params, result)
}

// Stream calls a method whose result comes in parts, and passes each part to each.
func (b *Bound) Stream(method string, params any, each func(part json.RawMessage) error) error {
	return b.Program.Stream(b.ctx, method, params, each)
}
