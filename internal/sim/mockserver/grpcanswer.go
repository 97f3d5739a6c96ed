package mockserver

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/wire/grpcwire"
	"aiperf/internal/wire/openinference"
)

// infer answers an inference request, in one message or word by word. put sends a message or a failure.
func (g *grpcSide) infer(from *grpcCall, in *openinference.InferRequest, put func(*openinference.InferResponse, string) error) error {
	arrival, wall := bothClocks()
	method, ctx := from.r.URL.Path, from.ctx
	a := askOf(in)
	t := &Truth{Number: g.number.Add(1), RequestID: from.r.Header.Get("X-Request-Id"), Correlation: from.r.Header.Get("X-Correlation-Id"), Path: method,
		Arrival: wall, Stream: method == openinference.ModelStreamInfer && a.wantsStream, Outcome: outcomeOK}
	g.metrics.running.Add(1)
	defer g.metrics.running.Add(-1)
	c := &call{grpcSide: g, ctx: ctx, in: in, ask: a, truth: t, script: g.opts.script(t.Number, a, false), put: put}
	c.st = stream{opts: &g.opts, ask: a, script: c.script, truth: t}
	t.Prompt = a.promptTokens(g.opts.CountPrompt)
	err := c.answer(arrival)
	if err == nil {
		t.Status = 200
	}
	g.metrics.finished(t, c.first)
	g.truth.write(t)
	return err
}

// call is an unfinished answer.
type call struct {
	*grpcSide
	ctx    context.Context
	in     *openinference.InferRequest
	ask    *requestedWork
	truth  *Truth
	script script
	st     stream
	put    func(*openinference.InferResponse, string) error
	first  int64 // wall time after the first content, ns
}

func (c *call) answer(arrival int64) error {
	p := &c.script
	if http := httpStatus(p.kind); http != 0 {
		c.truth.Status, c.truth.Outcome = http, p.kind
		return simulatedStatus(http)
	}
	if p.kind == kindHang {
		c.truth.Outcome = kindHang
		return c.stall()
	}
	if p.kind == kindSlow {
		c.truth.Outcome = kindSlow
	}
	offset := c.truth.Arrival - arrival
	if !c.truth.Stream {
		return c.whole(arrival+int64(c.st.wait()), offset)
	}
	next := arrival + int64(p.first)
	for left, events := p.tokens, 0; left > 0; events++ {
		if events == p.failAfter {
			return c.breakOff()
		}
		n := min(left, p.perEvent)
		left -= n
		if err := c.say(next, offset, n, left == 0); err != nil {
			return err
		}
		next += int64(p.stretch(p.itl, c.opts.Jitter))
	}
	return nil
}

// whole sends the answer in one message.
func (c *call) whole(due, offset int64) error {
	if c.script.failAfter >= 0 {
		if !c.until(due) {
			return c.ended()
		}
		return c.breakOff()
	}
	return c.say(due, offset, c.script.tokens, true)
}

// say sends n words at an instant; the last message includes the end mark.
func (c *call) say(due, offset int64, n int, last bool) error {
	if !c.until(due) {
		return c.ended()
	}
	var text []byte
	for range n {
		text = append(text, c.script.word()...)
	}
	answer := &openinference.Tensor{Name: "text_output", Datatype: "BYTES", Shape: []int64{1, 1},
		Contents: &openinference.Contents{Bytes: [][]byte{text}}}
	if c.ask.output != "" {
		answer, n = c.opts.tensor(c.ask, &c.script), 0
	}
	r := &openinference.InferResponse{ModelName: c.in.ModelName, ModelVersion: "1", ID: c.in.ID,
		Outputs: []*openinference.Tensor{answer}}
	separate := c.in.Parameters["triton_enable_empty_final_response"] == true
	if c.truth.Stream && separate || last {
		r.Parameters = openinference.Parameters{"triton_final_response": last && !separate}
	}
	w := Write{Due: due + offset, Before: wallNow(), Events: 1, Tokens: n}
	err := c.put(r, "")
	if w.After = wallNow(); c.first == 0 {
		c.first = w.After
	}
	c.truth.Tokens += n
	c.truth.Writes = append(c.truth.Writes, w)
	if err != nil {
		return c.ended()
	}
	if last && separate {
		r.Outputs, r.Parameters = nil, openinference.Parameters{"triton_final_response": true}
		if c.put(r, "") != nil {
			return c.ended()
		}
	}
	return nil
}

// breakOff ends the answer with the failure of its script.
func (c *call) breakOff() error {
	c.truth.Outcome = c.script.kind
	switch c.script.kind {
	case kindSSE:
		if c.truth.Path == openinference.ModelStreamInfer {
			_ = c.put(nil, "simulated failure") // a client that has disconnected does not need it
			return nil
		}
		return simulatedStatus(500)
	case kindStall:
		return c.stall()
	}
	if tcp, ok := c.ctx.Value(tcpKey{}).(*net.TCPConn); ok {
		if c.script.kind == kindReset {
			_ = tcp.SetLinger(0) // a closed connection does not need it
		}
		_ = tcp.Close() // the server of HTTP/2 closes it as well
	}
	return grpcwire.Errorf(grpcwire.Unavailable, "simulated failure")
}

// stall waits until the client cancels or the server closes.
func (c *call) stall() error {
	select {
	case <-c.ctx.Done():
	case <-c.stopped:
	}
	return grpcwire.Errorf(grpcwire.Unavailable, "simulated failure")
}

// ended records that the client or the server has ended the call.
func (c *call) ended() error {
	c.truth.Outcome = outcomeGone
	select {
	case <-c.stopped:
		c.truth.Outcome = outcomeShutdown
	default:
	}
	return grpcwire.Errorf(grpcwire.Cancelled, "%s", c.truth.Outcome)
}

// until waits for an instant; false = the call has ended.
func (c *call) until(at int64) bool {
	d := time.Duration(at - clock.Now())
	if d <= 0 {
		return c.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ctx.Done():
	case <-c.stopped:
	}
	return false
}

// askOf parses a request's tensors.
func askOf(in *openinference.InferRequest) *requestedWork {
	a := &requestedWork{model: in.ModelName, items: 1, images: 1}
	for _, t := range in.Inputs {
		c := t.Contents
		if c == nil {
			continue
		}
		switch t.Name {
		case "text_input":
			if len(c.Bytes) > 0 {
				a.text = string(c.Bytes[0])
			}
			a.items = max(1, len(c.Bytes))
		case "query":
			a.text = strings.TrimSpace(a.text + " " + joinContents(c))
		case "passages":
			a.text, a.items = strings.TrimSpace(a.text+" "+joinContents(c)), len(c.Bytes)
		case "max_tokens":
			a.max = firstInt(c)
		case "min_length":
			a.min = firstInt(c)
		case "stream":
			a.wantsStream = len(c.Bool) > 0 && c.Bool[0]
		case "sampling_parameters":
			a.sampling(c.Bytes)
		}
	}
	if n, ok := in.Parameters["max_tokens"].(int64); ok && n > 0 {
		a.max = int(n)
	}
	for _, o := range in.Outputs {
		if name := o.Name; name == embeddingTensor || name == scoreTensor || name == imageTensor {
			a.output, a.fixed = name, 1
		}
	}
	return a
}

// Output tensors other than text.
const (
	embeddingTensor = "embedding"
	scoreTensor     = "scores"
	imageTensor     = "image"
)

// tensor returns the requested output.
func (o *Options) tensor(a *requestedWork, p *script) *openinference.Tensor {
	t := &openinference.Tensor{Name: a.output, Datatype: "FP32", Shape: []int64{int64(a.items)}, Contents: new(openinference.Contents)}
	n := a.items
	switch a.output {
	case imageTensor:
		t.Datatype, t.Shape, t.Contents.Bytes = "BYTES", []int64{1}, [][]byte{[]byte(picture)}
		return t
	case embeddingTensor:
		t.Shape = append(t.Shape, int64(o.Dimensions))
		n *= o.Dimensions
	}
	for range n {
		t.Contents.FP32 = append(t.Contents.FP32, float32(2*p.rng.Float64()-1))
	}
	return t
}

func joinContents(c *openinference.Contents) string {
	return string(bytes.Join(c.Bytes, []byte{' '}))
}

func firstInt(c *openinference.Contents) int {
	if list := c.Int; len(list) > 0 && list[0] > 0 {
		return int(list[0])
	}
	return 0
}

// sampling parses vLLM's parameters, whose numbers may be strings.
func (a *requestedWork) sampling(list [][]byte) {
	var p map[string]any
	if len(list) == 0 || json.Unmarshal(list[0], &p) != nil {
		return
	}
	number := func(key string) int {
		switch v := p[key].(type) {
		case string:
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				return n
			}
		case float64:
			return max(0, int(v))
		}
		return 0
	}
	a.max, a.min = number("max_tokens"), number("min_tokens")
}
