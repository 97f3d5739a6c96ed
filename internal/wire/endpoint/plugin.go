package endpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/plugin"
)

// Category is the category of plug-ins that are endpoint types.
const Category = "endpoint"

// pluginType returns the endpoint type of a plug-in; nil = no plug-in has this name, or a built-in type wins.
func pluginType(name string, builtIn bool) (*Endpoint, error) {
	e, ok, err := plugin.Installed().Choose(Category, name, builtIn)
	if !ok || err != nil {
		return nil, err
	}
	one, mistakes := typeOf(&e, name)
	if len(mistakes) > 0 {
		return nil, errors.New(strings.Join(mistakes, "; "))
	}
	return one, nil
}

// typeOf returns the endpoint type of a plug-in, and what is wrong with its entry.
func typeOf(e *plugin.Entry, name string) (*Endpoint, []string) {
	if len(e.Exec) > 0 {
		return programType(e, name)
	}
	d, mistakes := readDefinition(e)
	return d.endpointOf(e, name), mistakes
}

// Mistakes returns what is wrong with the entry of an endpoint plug-in. Each mistake begins with file:line.
func Mistakes(e *plugin.Entry) []string {
	_, mistakes := typeOf(e, e.Name)
	return mistakes
}

// BuiltIn lists the names of the built-in types in the order of the documentation.
func BuiltIn() (names []string) {
	for i := range catalogue {
		names = append(names, catalogue[i].Name)
	}
	return names
}

// Running is a codec that needs a program. Start comes before its first use, Close after the last one.
type Running interface {
	Codec
	// Start starts the program. The end of ctx ends it. Its standard error goes to log.
	Start(ctx context.Context, log func(line string)) error
	// Close ends the program and returns its fault, if it had one.
	Close() error
}

// Start starts the program of a codec if it needs one. stop ends it.
func Start(ctx context.Context, c Codec, log func(line string)) (stop func() error, err error) {
	r, ok := c.(Running)
	if !ok {
		return func() error { return nil }, nil
	}
	if err := r.Start(ctx, log); err != nil {
		return nil, fmt.Errorf("endpoint type: %w", err)
	}
	return r.Close, nil
}
