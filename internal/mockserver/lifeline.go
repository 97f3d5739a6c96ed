package mockserver

import (
	"context"
	"io"
)

// LifelineFlag is the flag of `aiperf mock-server` that makes it end with its standard input, hence with its parent process.
const LifelineFlag = "lifeline"

// ReadyLine is the line that a server prints when it listens; the address is its last word.
func ReadyLine(url string) string { return "mock server listening on " + url }

// UntilEOF gives a context that ends when r does: whoever holds the other end of the pipe keeps the server alive.
func UntilEOF(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel()
	}()
	return ctx
}
