//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
)

// launcher is one way to create a sandbox.
type launcher struct{ name string }

// launchers returns none: the sandbox needs Linux namespaces and a system call filter.
func launchers() []launcher { return nil }

// execution is one run of a program.
type execution struct {
	runner
	job         Job
	out, faults *limitedBuffer
}

func (execution) run(context.Context) (verdict, excess string, err error) {
	return "", "", errors.New("the sandbox needs Linux on amd64 or arm64")
}
