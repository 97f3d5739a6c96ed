// Package rpc sends requests over gRPC. It writes and reads the frames of HTTP/2 on a connection of the transport: the kernel stamps its bytes as it does
// for HTTP, and the frames show which stamps belong to which message. A small request is written when it is sent; a large one in a separate goroutine.
//
// A connection carries one request at a time. Otherwise a message could wait behind another request's message and be blamed for that.
package rpc

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// Words translates between the texts that records hold and the messages of a method ("/package.Service/Method").
type Words interface {
	// Streams reports whether a method answers with a stream of messages.
	Streams(method string) bool
	// Marshal returns the messages of a request.
	Marshal(method string, body record.Body) ([][]byte, error)
	// Unmarshal returns the text of an answer's message, or the failure that it reports.
	Unmarshal(method string, message []byte) ([]byte, *record.Error)
}

// Client sends requests over gRPC. It is safe for concurrent use.
type Client struct {
	wire  *transport.Client
	opt   transport.Options
	words Words
	agent string

	mu       sync.Mutex
	idle     map[string][]*channel // by server; last in, first out
	sessions map[string]*channel
	closed   bool
}

// NewClient makes a client. It uses those options that concern connections. agent is the client's name for servers.
func NewClient(opt transport.Options, words Words, agent string) (*Client, error) {
	opt.TLS.Protocols = []string{"h2"}
	wire, err := transport.NewClient(opt)
	if err != nil {
		return nil, err
	}
	if opt.MaxResponse <= 0 {
		opt.MaxResponse = transport.DefaultMaxResponse
	}
	return &Client{wire: wire, opt: opt, words: words, agent: agent, idle: map[string][]*channel{}, sessions: map[string]*channel{}}, nil
}

// Wire returns the client that makes the connections, for its counters.
func (c *Client) Wire() *transport.Client { return c.wire }

// Close closes the idle connections; those in use are closed when their requests end.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	list := c.sessions
	idle := c.idle
	c.sessions, c.idle = map[string]*channel{}, map[string][]*channel{}
	c.mu.Unlock()
	for _, k := range list {
		k.close()
	}
	for _, some := range idle {
		for _, k := range some {
			k.close()
		}
	}
	c.wire.Close()
}

// CloseSession closes the connection of a session that ends early.
func (c *Client) CloseSession(id string) {
	c.mu.Lock()
	k := c.sessions[id]
	delete(c.sessions, id)
	c.mu.Unlock()
	if k != nil {
		k.close()
	}
}

// channel is a connection with its state of HTTP/2.
type channel struct {
	*session
	watch *frameWatch
	key   string
	since int64 // instant since which it is idle
}

// take returns an idle connection to a server; nil = none. With sticky connections it is that of the session.
func (c *Client) take(key, session string) *channel {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opt.Reuse == transport.Sticky {
		k := c.sessions[session]
		if k != nil && k.key == key {
			delete(c.sessions, session)
			return k
		}
		return nil
	}
	list := c.idle[key]
	if len(list) == 0 {
		return nil
	}
	k := list[len(list)-1]
	c.idle[key] = list[:len(list)-1]
	return k
}

// put stores a connection for reuse or closes it.
func (c *Client) put(k *channel, r *transport.Request, reusable bool) {
	k.since = clock.Now()
	kept := false
	c.mu.Lock()
	switch {
	case !reusable || c.closed || c.opt.ForceClose || c.opt.Reuse == transport.Never:
	case c.opt.Reuse == transport.Sticky:
		if kept = !r.LastTurn && c.sessions[r.Session] == nil; kept {
			c.sessions[r.Session] = k
		}
	default:
		kept = true
		c.idle[k.key] = append(c.idle[k.key], k)
	}
	c.mu.Unlock()
	if !kept {
		k.close()
	}
}

// connect makes a connection and waits for the server's settings.
func (c *Client) connect(ctx context.Context, t *transport.Target, tr *record.Trace) (*channel, *record.Error) {
	w := newWatch()
	line, failure := c.wire.RPCConn(ctx, t, tr, w)
	if failure != nil {
		return nil, failure
	}
	k := &channel{session: startSession(line), watch: w, key: t.Key()}
	select {
	case <-k.session.ready:
		tr.ConnectEnd = clock.Now()
		return k, nil
	case <-k.over:
	case <-ctx.Done():
	}
	k.close()
	switch {
	case ctx.Err() == nil:
		return nil, transport.Failure(transport.ErrConnect, 0, "The server does not speak gRPC: it accepted the connection, but did not answer the start of HTTP/2")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, transport.TimedOut(c.opt.Timeout, "starting HTTP/2 with the server")
	}
	return nil, transport.CutOff()
}

// metadataOf converts headers to metadata. It omits the headers of the protocol and those of HTTP.
func metadataOf(headers []record.Header) (list []record.Header) {
	for _, h := range headers {
		name := strings.ToLower(h.Name)
		switch name {
		case "user-agent", "accept", "content-type", "content-length", "host", "connection", "te", "transfer-encoding":
		default:
			if !strings.HasPrefix(name, "grpc-") {
				list = append(list, record.Header{Name: name, Value: h.Value})
			}
		}
	}
	return list
}

// wallTime converts an instant to a time.Time.
func wallTime(at int64) time.Time { return time.Now().Add(time.Duration(at - clock.Now())) }
