package mockserver

import (
	"context"
	"io"
)

// LifelineFlag is the flag of `aiperf mock-server` that ends the server when its standard input ends, for example with its parent process.
const LifelineFlag = "lifeline"

// ReadyLine returns the line that a server prints when it listens; the address is its last word.
func ReadyLine(url string) string { return "mock server listening on " + url }

// UntilEOF returns a context that ends when r does: the server lives as long as the other end of the pipe is open.
func UntilEOF(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel()
	}()
	return ctx
}
