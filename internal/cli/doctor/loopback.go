package doctor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// Stamps is the result of a short stream over the loopback interface, read with the connections of a run.
type Stamps struct {
	Events int // events that arrived
	Kernel int // events with a time stamp of the kernel
	Err    error
}

// The stream of the test.
const (
	testEvents  = 10
	eventPause  = 2 * time.Millisecond
	testTimeout = 5 * time.Second
)

// loopback streams events from a local server and counts which clock stamped them.
func loopback(ctx context.Context) (s Stamps) {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return Stamps{Err: err}
	}
	server := &http.Server{Handler: http.HandlerFunc(streamEvents), ReadHeaderTimeout: testTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		s.Err = errors.Join(s.Err, server.Close())
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			s.Err = errors.Join(s.Err, err)
		}
	}()
	options := transport.DefaultOptions()
	options.Timeout = testTimeout
	client, err := transport.NewClient(options)
	if err != nil {
		return Stamps{Err: err}
	}
	defer client.Close()
	target, err := transport.NewTarget("http://" + listener.Addr().String())
	if err != nil {
		return Stamps{Err: err}
	}
	for range 2 { // the first socket that wants stamps makes the kernel switch them on, which takes a moment
		if s = streamOnce(ctx, client, target); s.Err != nil {
			break
		}
	}
	return s
}

// streamOnce reads one stream.
func streamOnce(ctx context.Context, client *transport.Client, target *transport.Target) (s Stamps) {
	var rec record.Record
	client.Do(ctx, &transport.Request{Target: target, Body: record.Plain([]byte("{}"))}, &rec, nil)
	defer rec.Release()
	if rec.Error != nil {
		return Stamps{Err: errors.New(rec.Error.Reason())}
	}
	for i := range rec.Messages {
		s.Events++
		if rec.Messages[i].Clock == record.KernelClock {
			s.Kernel++
		}
	}
	return s
}

// streamEvents answers with events one after the other, so that each arrives in a separate segment.
func streamEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(eventPause)
	defer tick.Stop()
	for range testEvents {
		if _, err := w.Write([]byte("data: {}\n\n")); err != nil {
			return
		}
		if http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}
