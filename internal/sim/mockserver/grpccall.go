package mockserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"aiperf/internal/wire/grpcwire"
)

// grpcCall is a call over HTTP/2.
type grpcCall struct {
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context // ends with the call
	begun bool            // headers were sent
}

// receive returns the next message of the request; io.EOF = there are no more.
func (c *grpcCall) receive() ([]byte, error) {
	prefix := make([]byte, grpcwire.PrefixSize)
	if _, err := io.ReadFull(c.r.Body, prefix); err != nil {
		return nil, incomplete(err)
	}
	size, status := grpcwire.ParsePrefix(prefix, c.r.Header.Get("Grpc-Encoding"), maxBody)
	if status != nil {
		return nil, status
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(c.r.Body, b); err != nil {
		return nil, incomplete(errors.Join(io.ErrUnexpectedEOF, err))
	}
	return b, nil
}

// incomplete returns the status for a failure to read a request. The end between two messages is io.EOF.
func incomplete(err error) error {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return grpcwire.Errorf(grpcwire.Internal, "the request is incomplete: %v", err)
}

// send sends a message. The client gets it at once.
func (c *grpcCall) send(message []byte) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	c.begin()
	if _, err := c.w.Write(grpcwire.AppendMessage(nil, message)); err != nil {
		return err
	}
	return http.NewResponseController(c.w).Flush()
}

// begin sets the headers of the answer.
func (c *grpcCall) begin() {
	if !c.begun {
		c.begun = true
		c.w.Header().Set("Content-Type", grpcwire.ContentType)
		c.w.Header()["Date"] = nil // not a header of gRPC
	}
}

// end ends the call with the status of an error; nil = OK. Without messages the status is in the headers, else in the trailers.
func (c *grpcCall) end(err error) {
	prefix := http.TrailerPrefix
	if !c.begun {
		c.begin()
		prefix = ""
	}
	code, message := grpcwire.OK, ""
	var status *grpcwire.Status
	switch {
	case errors.As(err, &status):
		code, message = status.Code, status.Message
	case err != nil:
		code, message = grpcwire.Unknown, err.Error()
	}
	c.w.Header().Set(prefix+"Grpc-Status", strconv.Itoa(int(code)))
	if message != "" {
		c.w.Header().Set(prefix+"Grpc-Message", grpcwire.EncodeText(message))
	}
}

// answerOnce answers a call of one message.
func (c *grpcCall) answerOnce(answer func([]byte) ([]byte, error)) error {
	b, err := c.receive()
	if errors.Is(err, io.EOF) {
		return grpcwire.Errorf(grpcwire.Internal, "the request has no message")
	} else if err != nil {
		return err
	}
	return c.reply(b, answer)
}

// answerEach answers every message of a call.
func (c *grpcCall) answerEach(answer func([]byte) ([]byte, error)) error {
	for {
		b, err := c.receive()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := c.reply(b, answer); err != nil {
			return err
		}
	}
}

func (c *grpcCall) reply(message []byte, answer func([]byte) ([]byte, error)) error {
	b, err := answer(message)
	if err != nil {
		return grpcwire.Errorf(grpcwire.Internal, "%v", err)
	}
	return c.send(b)
}
