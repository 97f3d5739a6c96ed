package rpc

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// TestAnswerThatArrivedInTime: a client that was stopped comes late to read an answer. It counts if it had arrived completely. Otherwise the request waited
// at least until what had arrived.
func TestAnswerThatArrivedInTime(t *testing.T) {
	for _, complete := range []bool{true, false} {
		answered := make(chan struct{}, 4)
		at := serve(t, func(s grpc.ServerStream) error {
			err := s.SendMsg([]byte("a"))
			answered <- struct{}{}
			if !complete {
				<-s.Context().Done()
			}
			return err
		})
		target, err := transport.NewTarget("grpc://" + at + "/p.S/Stream")
		if err != nil {
			t.Fatal(err)
		}
		c := client(t, func(o *transport.Options) { o.Timeout = 200 * time.Millisecond })
		for name, request := range map[string]*transport.Request{"timeout": {}, "end of the run": {}} {
			ctx, cut := context.WithCancelCause(t.Context())
			request.Target, request.Armed, request.Body = target, true, record.Plain([]byte("a"))
			x := c.Prepare(ctx, request)
			x.Send()
			<-answered
			time.Sleep(50 * time.Millisecond)
			cause := errors.New("it is over")
			if name == "end of the run" {
				cut(cause)
			} else {
				time.Sleep(200 * time.Millisecond)
			}
			rec := new(record.Record)
			x.Receive(rec, nil)
			if complete && (rec.Error != nil || len(rec.Messages) != 1) {
				t.Errorf("%s: %+v, %d messages", name, rec.Error, len(rec.Messages))
			}
			if wait := rec.End - rec.Trace.EndUncertainNs - rec.Start; !complete && (rec.Error == nil || wait > int64(50*time.Millisecond)) {
				t.Errorf("%s: %+v, waited %v for the first message", name, rec.Error, time.Duration(wait))
			}
			cut(nil)
		}
	}
}

// TestEndOfFailedAnswers: the record of a call that the server ended with an error says when that arrived; a call that timed out has no such instant.
func TestEndOfFailedAnswers(t *testing.T) {
	for _, refused := range []bool{true, false} {
		at := serve(t, func(s grpc.ServerStream) error {
			if !refused {
				<-s.Context().Done()
			}
			return status.Error(codes.Unavailable, "no")
		})
		rec := send(t, client(t, func(o *transport.Options) { o.Timeout = 200 * time.Millisecond }), "grpc://"+at+"/p.S/Stream", "a", nil)
		if end := rec.Trace.AnswerEnd; rec.Error == nil || refused != (end != 0) || refused && (end <= rec.Start || end > rec.End) {
			t.Errorf("%+v, from %d to %d, answered at %d", rec.Error, rec.Start, rec.End, end)
		}
	}
}
