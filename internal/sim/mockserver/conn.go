package mockserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/jsontext"
	"aiperf/internal/wire/openinference"
)

// pastDeadline is a deadline in the past.
var pastDeadline = time.Unix(1, 0)

// conn answers the requests of one connection, one after the other.
type conn struct {
	*Server
	tcp    *net.TCPConn
	sock   *socket
	in     reader
	parser fastjson.Parser
	st     stream // the last answer, whose buffers are reused
	out    []byte
}

func newConn(s *Server, c *net.TCPConn, sock *socket) *conn {
	return &conn{Server: s, tcp: c, sock: sock, in: reader{Reader: bufio.NewReaderSize(c, maxLine)},
		st: stream{returned: make(chan struct{}, 1)}}
}

func (c *conn) run() {
	for c.next() {
	}
}

// next reads and answers a request; false = the connection has ended.
func (c *conn) next() bool {
	req, err := c.in.head()
	if err == nil {
		if req.expect && c.sock.write([]byte("HTTP/1.1 100 Continue\r\n\r\n")) != nil {
			return false
		}
		err = c.in.readBody(&req)
	}
	if err != nil {
		var bad *badRequest
		if errors.As(err, &bad) {
			c.plain(&req, bad.status, "text/plain", bad.reason+"\n", true)
		}
		return false
	}
	req.path = strings.TrimPrefix(req.path, "/openai") // KServe serves OpenAI's APIs below /openai
	return c.route(&req) && !req.close
}

// route answers a complete request.
func (c *conn) route(req *request) bool {
	if model, ok := strings.CutPrefix(req.path, tritonHead); ok && req.method == "GET" {
		model, _, _ = strings.Cut(model, "/versions/")
		return c.tensors(req, model)
	}
	if answer := c.page(req.path); answer != nil {
		if req.method != "GET" && req.method != "HEAD" {
			return c.plain(req, 405, "text/plain", "use GET\n", false)
		}
		return answer(req)
	}
	if strings.HasPrefix(req.path, videosPath+"/") && req.method == "GET" {
		return c.film(req)
	}
	if slices.Contains(controls, req.path) && req.method == "POST" {
		return c.control(req)
	}
	switch {
	case !answers(req.path) && !slices.Contains(controls, req.path):
		return c.plain(req, 404, "application/json", notFound, false)
	case req.method != "POST":
		return c.plain(req, 405, "text/plain", "use POST\n", false)
	}
	return c.infer(req)
}

// controls are the paths that benchmarks call on vLLM and SGLang. The first two empty the prefix cache. The truth log has a line for each call.
var controls = []string{"/reset_prefix_cache", "/flush_cache", "/start_profile", "/stop_profile"}

func (c *conn) control(req *request) bool {
	if req.path == controls[0] || req.path == controls[1] {
		c.cache.clear()
	}
	c.truth.write(&Truth{Number: c.number.Add(1), RequestID: req.id, Correlation: req.correlation, Path: req.path, Status: 200, Arrival: wallNow(), Outcome: outcomeOK})
	return c.plain(req, 200, "text/plain", "", false)
}

// inferred are the paths that are answered, besides rankings.
var inferred = []string{"/v1/chat/completions", "/v1/completions", "/v1/embeddings", imagesPath, editsPath, retrievalPath, transcriptPath, videosPath}

func answers(path string) bool {
	_, ranks := rankings[path]
	other, _ := wireOf(path)
	return ranks || other != nil || slices.Contains(inferred, path)
}

const notFound = `{"error":{"message":"unknown path; this server answers: /v1/chat/completions, /v1/completions, /v1/embeddings, ` +
	`/v1/responses, /v1/messages, /generate, /generate_stream, /inference/v1/generate, /v2/models/MODEL/generate, /v2/models/MODEL/generate_stream, /v2/models/MODEL/infer, /rag/api/prompt, /api/chat, /api/generate, /, ` +
	`/v1/images/generations, /v1/images/edits, /v1/infer, /v1/audio/transcriptions, /v1/videos, ` +
	`/v1/ranking, /v2/rerank, /rerank, /reset_prefix_cache, /flush_cache, /start_profile, /stop_profile, /v1/models, /metrics and /health","type":"not_found","code":404}}`

// page returns the handler of a path that only returns information; nil = no such path.
func (c *conn) page(path string) func(*request) bool {
	switch path {
	case "/health", "/v1/health/ready", "/v1/health/live":
		return func(r *request) bool { return c.plain(r, 200, "application/json", `{"status":"ok"}`, false) }
	case "/metrics":
		return func(r *request) bool {
			return c.plain(r, 200, "text/plain; version=0.0.4; charset=utf-8", c.metrics.text(c.opts.Model)+c.cache.text(c.opts.Model), false)
		}
	case dcgmPath:
		if c.opts.DCGM == 0 {
			return nil
		}
		return c.gpus
	case "/v1/models":
		return func(r *request) bool {
			body := append([]byte(`{"object":"list","data":[{"id":`), jsontext.AppendString(nil, c.opts.Model)...)
			return c.plain(r, 200, "application/json", string(body)+`,"object":"model","created":0,"owned_by":"aiperf"}]}`, false)
		}
	}
	return nil
}

// readAsk parses a JSON request; nil = not valid.
func (c *conn) readAsk(req *request) *requestedWork {
	if !strings.HasSuffix(req.path, inferTail) || req.path == retrievalPath {
		return readAsk(&c.parser, req.body)
	}
	in, err := openinference.ParseRequest(req.body)
	if err != nil {
		return nil
	}
	return askOf(in)
}

// tensors describes a model (Open Inference Protocol).
func (c *conn) tensors(req *request, model string) bool {
	body, err := json.Marshal(describe(model))
	if err != nil {
		return c.plain(req, 500, "text/plain", err.Error()+"\n", false)
	}
	return c.plain(req, 200, "application/json", string(body), false)
}

// plain writes a complete answer at once.
func (c *conn) plain(req *request, status int, kind, body string, last bool) bool {
	c.out = appendHead(c.out[:0], status, kind, len(body), last || req.close)
	if req.method != "HEAD" {
		c.out = append(c.out, body...)
	}
	return c.sock.write(c.out) == nil && !last
}

// appendHead appends the status line and the headers; length -1 = chunked, -2 = until the connection closes.
func appendHead(b []byte, status int, kind string, length int, last bool) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, reason(status)...)
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, kind...)
	switch {
	case length >= 0:
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(length), 10)
	case length == -1:
		b = append(b, "\r\nTransfer-Encoding: chunked\r\nCache-Control: no-cache"...)
	}
	if last {
		b = append(b, "\r\nConnection: close"...)
	}
	return append(b, "\r\n\r\n"...)
}

// infer answers an inference request.
func (c *conn) infer(req *request) bool {
	arrival, wall := bothClocks()
	t := &Truth{Number: c.number.Add(1), RequestID: req.id, Correlation: req.correlation, Path: req.path, Arrival: wall}
	c.metrics.running.Add(1)
	defer c.metrics.running.Add(-1)
	a := c.readAsk(req)
	if a == nil {
		a = readFormAsk(req.body)
	}
	if a == nil {
		t.Status, t.Outcome = 400, outcomeBad
		c.done(t, 0)
		return c.plain(req, 400, "application/json", `{"error":{"message":"the body is neither a JSON object nor a form","type":"invalid_request_error","code":400}}`, false)
	}
	if a.asksLength() && c.opts.EOS == eosRefuse {
		t.Status, t.Outcome = 400, outcomeBad
		c.done(t, 0)
		return c.plain(req, 400, "application/json", `{"error":{"message":"Unrecognized request argument supplied: ignore_eos","type":"invalid_request_error","code":400}}`, false)
	}
	if c.opts.EOS == eosIgnore {
		a.min, a.ignoreEOS = 0, false
	}
	if c.slots != nil { // waiting requests are served in the order of their arrival
		select {
		case c.slots <- struct{}{}:
		case <-c.stopped:
			return false
		}
		defer func() { <-c.slots }()
		arrival, _ = bothClocks()
	}
	st := c.prepare(req, a, t, arrival)
	if status := httpStatus(st.script.kind); status != 0 {
		t.Status, t.Outcome = status, st.script.kind
		ok := c.plain(req, status, "application/json", simulated(status), false)
		c.done(t, 0)
		return ok
	}
	if st.script.kind == kindHang {
		t.Outcome = kindHang
		c.done(t, 0)
		return c.aftermath(kindHang)
	}
	t.Status = 200
	if !c.open(req, st) {
		t.Outcome = outcomeGone
		c.done(t, 0)
		return false
	}
	c.deliver(st)
	if t.Outcome = st.failed; t.Outcome == "" {
		t.Outcome = outcomeOK
		if st.script.kind == kindSlow {
			t.Outcome = kindSlow
		}
	}
	c.done(t, st.firstWrite)
	return c.aftermath(st.failed)
}

func (c *conn) done(t *Truth, first int64) {
	c.metrics.finished(t, first)
	c.Server.truth.write(t)
}

// aftermath leaves the connection in the state that the failure requires; true = it can carry another request.
func (c *conn) aftermath(failed string) bool {
	switch failed {
	case "", kindSSE:
		return true
	case kindReset:
		_ = c.tcp.SetLinger(0)
	case kindStall, kindHang:
		_, _ = io.Copy(io.Discard, c.tcp) // until the client closes the connection or the server ends
	}
	return false
}

// prepare plans the answer.
func (c *conn) prepare(req *request, a *requestedWork, t *Truth, arrival int64) *stream {
	shape := &completionsShape
	switch {
	case req.path == "/v1/chat/completions":
		shape = &chatShape
	case pictures(req.path):
		shape = &imagesShape
		if a.fixed = 1; a.stream {
			a.fixed += a.partial
		}
	}
	other, streams := a.wire(req.path)
	a.stream = a.stream || streams || other != nil && other.lines && !a.saysStream
	reasons := shape.reasons || other != nil && other.reasons
	c.st = stream{sink: c.sock, shape: shape, wire: other, opts: &c.opts, ask: a, truth: t, logged: c.Server.truth != nil,
		script: c.opts.script(t.Number, a, reasons), offset: t.Arrival - arrival, framed: !req.oldProtocol,
		prefix: c.st.prefix, buf: c.st.buf, returned: c.st.returned}
	st := &c.st
	st.next = arrival + int64(st.script.first)
	return st
}

// open writes the head of the answer and the immediate content. Bodies that are not streamed are made here.
func (c *conn) open(req *request, st *stream) bool {
	id := fmt.Sprintf("mock-%08x", st.truth.Number)
	created := time.Now().Unix()
	model := st.ask.model
	if model == "" {
		model = c.opts.Model
	}
	if c.opts.AnswersAs != "" {
		model = c.opts.AnswersAs
	}
	st.model = model
	generates := st.wire != nil || req.path == "/v1/chat/completions" || req.path == "/v1/completions"
	streams := (generates || req.path == imagesPath) && st.ask.stream
	if c.opts.Usage && (!streams || !generates || st.ask.usage || st.ask.perChunk || st.wire != nil && st.wire.counts) {
		st.truth.Prompt = st.ask.promptTokens(c.opts.CountPrompt)
		st.prompt = int(math.Round(float64(st.truth.Prompt) * c.opts.PromptFactor))
	}
	c.lookUp(st, model)
	if streams {
		return c.openStream(req, st, id, created, model)
	}
	switch {
	case generates:
		if st.wire != nil {
			st.whole = st.wire.whole(st, id, model)
		} else {
			st.whole = st.generated(id, created, model)
		}
		st.next = st.truth.Arrival - st.offset + int64(st.wait())
	case req.path == "/v1/embeddings":
		st.whole = st.embeddings(model)
	case st.media(req.path, id, &st.whole):
	default:
		st.whole = st.scores(rankings[req.path])
	}
	st.breakWhole(req)
	return true
}

// lookUp passes the prompt through the prefix cache, if there is one.
func (c *conn) lookUp(st *stream, model string) {
	st.cached = -1
	if c.cache == nil {
		return
	}
	tokens := st.prompt
	if tokens == 0 { // the request did not ask for usage
		tokens = int(math.Round(float64(st.ask.promptTokens(c.opts.CountPrompt)) * c.opts.PromptFactor))
	}
	if found := c.cache.add(model, st.ask.text, tokens); c.opts.PrefixCache == cacheOn {
		st.cached = found
	}
}

func (c *conn) openStream(req *request, st *stream, id string, created int64, model string) bool {
	st.truth.Stream = true
	if st.logged {
		st.truth.Writes = make([]Write, 0, st.script.events()+2)
	}
	st.begin(id, created, model)
	length := -1
	if req.oldProtocol {
		length = -2
	}
	media := "text/event-stream; charset=utf-8"
	if st.lines() {
		media = "application/x-ndjson"
	}
	st.buf = appendHead(st.buf[:0], 200, media, length, req.close)
	if st.wire != nil {
		if st.wire.begin != nil {
			st.close(st.open(), st.wire.begin(st, id, model))
		}
	} else if st.shape.role != "" {
		at := st.open()
		st.choice(st.shape.role)
		st.close(at, "}")
	}
	st.send(0, 0, true)
	return !st.ended
}

// breakWhole puts the head before a complete body and breaks the body according to the script.
func (st *stream) breakWhole(req *request) {
	body := st.whole
	if st.script.kind == kindSSE {
		body = []byte(simulated(503))
	}
	head := appendHead(nil, 200, "application/json", len(body), req.close)
	switch st.script.kind {
	case kindSSE, kindClose, kindReset, kindStall:
		st.failed = st.script.kind
		st.truth.Tokens, st.truth.Reasoning = 0, 0
		if st.script.kind != kindSSE {
			body = body[:len(body)/2]
		}
	}
	st.whole = append(head, body...)
}

// deliver writes the events, each at its instant.
func (c *conn) deliver(st *stream) {
	for !st.ended || len(st.unsent) > 0 {
		switch {
		case len(st.unsent) > 0:
			st.flush()
		case st.next > clock.Now():
			if !c.pacers[st.truth.Number%uint64(len(c.pacers))].add(st) {
				st.ended, st.failed = true, outcomeShutdown
				return
			}
			<-st.returned
		default:
			st.step(true)
		}
	}
}
