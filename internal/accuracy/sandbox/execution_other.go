//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
)

// launcher is one way to make a sandbox.
type launcher struct{ name string }

// launchers lists none: the sandbox needs namespaces of Linux and a filter of its system calls.
func launchers() []launcher { return nil }

// execution is one program that runs.
type execution struct {
	runner
	job         Job
	out, faults *limited
}

func (execution) run(context.Context) (verdict, excess string, err error) {
	return "", "", errors.New("the sandbox needs Linux on amd64 or arm64")
}
