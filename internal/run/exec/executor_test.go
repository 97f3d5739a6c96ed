package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/inputs"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// wire is a carrier without sockets: a second implementation of what the executor sends through.
type wire struct {
	sent   []transport.Request
	answer func(r *transport.Request, rec *record.Record, onMessage transport.OnMessage)
}

func (w *wire) Prepare(_ context.Context, r *transport.Request) connection.Exchange {
	w.sent = append(w.sent, *r)
	return &scripted{w, r}
}
func (w *wire) CloseSession(string) {}

type scripted struct {
	*wire
	req *transport.Request
}

func (s *scripted) Send() {}
func (s *scripted) Drop() {}
func (s *scripted) ReceiveThen(rec *record.Record, onMessage transport.OnMessage, then func()) {
	s.Receive(rec, onMessage)
	then()
}

func (s *scripted) Receive(rec *record.Record, onMessage transport.OnMessage) {
	rec.Start, rec.Status = 1, 200
	s.answer(s.req, rec, onMessage)
	rec.End = 5
}

// counting is a codec that counts how often messages are decoded.
type counting struct {
	endpoint.Codec
	added int
}

func (c *counting) NewAnswer(remember bool) endpoint.Answer {
	return &countedAnswer{c.Codec.NewAnswer(remember), c}
}

type countedAnswer struct {
	endpoint.Answer
	codec *counting
}

func (a *countedAnswer) Add(m *record.Message, index int) (bool, *record.Error) {
	a.codec.added++
	return a.Answer.Add(m, index)
}

// fixed is a dataset of one conversation.
type fixed struct {
	dataset.Dataset
	c conversation.Conversation
}

func (f *fixed) Conversation(int) *conversation.Conversation { c := f.c; return &c }
func (f *fixed) Len() int                                    { return 1 }

// bench is an executor around a codec and a wire; done gets the finished records.
func bench(t *testing.T, codec endpoint.Codec, w *wire, turns ...conversation.Turn) (e *Executor, done *[]*record.Record) {
	t.Helper()
	at, err := connection.NewAddresses([]string{"http://h:1/base"}, &config.Benchmark{}, &endpoint.Endpoint{Path: "/v1/videos"})
	if err != nil {
		t.Fatal(err)
	}
	done = new([]*record.Record)
	return &Executor{
		data: inputs.NewPreparedStore(&fixed{c: conversation.Conversation{ID: "c", Turns: turns}}), codec: codec, carrier: w, addresses: at, model: "m",
		headers: transport.HeaderSet{UserAgent: "ua", APIKey: "secret"}, put: func(r *record.Record) { *done = append(*done, r) },
	}, done
}

// serve runs all turns of a session.
func serve(e *Executor, turns int, firstToken func(int64)) (outcomes []load.Outcome) {
	s := &load.Session{ID: "s", Turns: turns}
	for i := range turns {
		a := e.Prepare(context.Background(), &load.Request{Phase: &load.PhaseInfo{}, Session: s, Turn: i})
		a.Fire(load.Issue{CancelAfter: -1})
		outcomes = append(outcomes, wait(a, firstToken))
	}
	return outcomes
}

// wait returns how a request ended.
func wait(a load.ArmedRequest, firstToken func(int64)) load.Outcome {
	over := make(chan load.Outcome, 1)
	a.Wait(firstToken, func(o load.Outcome) { over <- o })
	return <-over
}

func says(rec *record.Record, onMessage transport.OnMessage, messages ...record.Message) {
	for i := range messages {
		messages[i].At = int64(i + 2)
		rec.Messages = append(rec.Messages, messages[i])
		if onMessage != nil {
			if rec.Error = onMessage(rec.Messages); rec.Error != nil {
				rec.Messages = rec.Messages[:len(rec.Messages)-1]
				return
			}
		}
	}
}

func body(text string) record.Message { return record.Message{Body: true, Raw: []byte(text)} }

func event(text string) record.Message {
	return record.Message{Line: true, Raw: []byte(`data: {"object":"chat.completion.chunk","choices":[{"delta":{` + text + `}}]}`)}
}

// polling is a codec of a service that makes things: create, poll until it is done, download. It exists in this test only.
type polling struct{}

func (polling) Input([]byte) endpoint.Input { return endpoint.Input{} }
func (polling) Encode(_ *conversation.Turn, h *endpoint.History) (endpoint.Request, error) {
	return endpoint.Request{Body: record.Plain([]byte(`{"id":"`), []byte(h.RequestID), []byte(`"}`)), ContentType: "a/b", SentOnce: true}, nil
}
func (polling) NewAnswer(bool) endpoint.Answer { return &job{} }

// job is the answer of the service.
type job struct {
	state struct{ ID, Status, URL string }
	at    int64
	index int
	last  bool
}

func (j *job) Add(m *record.Message, index int) (bool, *record.Error) {
	if m.Raw == nil { // the download
		return false, nil
	}
	if err := json.Unmarshal(m.Raw, &j.state); err != nil {
		return false, &record.Error{Code: 500, Type: "JobError", Message: err.Error()}
	}
	j.at, j.index = m.At, index
	return j.state.Status == "completed", nil
}

func (j *job) Next() *endpoint.FollowUp {
	late := &record.Error{Code: 504, Type: "TimeoutError", Message: "too late"}
	switch {
	case j.last:
		return nil
	case j.state.Status == "completed":
		j.last = true
		return &endpoint.FollowUp{Request: endpoint.Request{Method: "GET", Path: j.state.URL}, Late: late}
	}
	return &endpoint.FollowUp{Request: endpoint.Request{Method: "GET", Path: "./" + j.state.ID}, After: 100 * time.Millisecond,
		Forget: j.state.Status == "queued", Late: late}
}

func (j *job) Result() endpoint.Result {
	if j.state.Status != "completed" {
		return endpoint.Result{Reply: &record.Reply{}, Failure: &record.Error{Code: 500, Type: "JobError", Message: j.state.Status}}
	}
	return endpoint.Result{Reply: &record.Reply{Contents: []record.Content{{At: j.at, Message: j.index, Kind: record.Video}}}}
}

// TestPolling: one request of the load, five exchanges; polls that say nothing leave no message, every exchange leaves its instants, and a
// foreign server gets no credentials.
func TestPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := []string{`{"id":"v1"}`, `{"id":"v1","status":"queued"}`, `{"id":"v1","status":"queued"}`,
			`{"id":"v1","status":"completed","url":"http://other/film"}`, ""}
		w := &wire{}
		w.answer = func(_ *transport.Request, rec *record.Record, on transport.OnMessage) {
			reply := replies[len(w.sent)-1]
			m := body(reply)
			if reply == "" {
				m = record.Message{Body: true, Details: &record.Details{Size: 99}}
			}
			says(rec, on, m)
		}
		e, done := bench(t, polling{}, w, conversation.Turn{})
		e.followsUp, e.timeout = true, time.Second
		start := time.Now()
		if out := serve(e, 1, nil); out[0].Failed {
			t.Error("failed")
		}
		if took := time.Since(start); took != 300*time.Millisecond {
			t.Errorf("three polls took %v", took)
		}
		rec := (*done)[0]
		var got []string
		for _, r := range w.sent {
			auth := slices.ContainsFunc(r.Headers, func(h record.Header) bool { return h.Name == "Authorization" })
			got = append(got, fmt.Sprintf("%s %s %v", r.Method, r.Target.URL, auth))
		}
		const at = "http://h:1/base/v1/videos"
		want := []string{" " + at + " true", "GET " + at + "/v1 true", "GET " + at + "/v1 true", "GET " + at + "/v1 true", "GET http://other/film false"}
		if !slices.Equal(got, want) {
			t.Errorf("sent %q", got)
		}
		if string(rec.Payload.Bytes()) == `{"id":""}` || !strings.Contains(fmt.Sprint(w.sent[0].Headers), "a/b") {
			t.Errorf("%s %v", rec.Payload.Bytes(), w.sent[0].Headers)
		}
		if len(rec.Messages) != 3 || len(rec.Exchanges) != 4 || rec.Exchanges[3].URL != "http://other/film" || rec.Exchanges[0].Start == 0 {
			t.Errorf("%d messages, exchanges %+v", len(rec.Messages), rec.Exchanges)
		}
		late := rec.Exchanges[2].End - rec.Exchanges[1].Start // the film may have been ready since the poll before the last one
		for i, want := range []int64{0, late, late} {
			if by := rec.Messages[i].UncertainNs; by != want || late <= 0 {
				t.Errorf("message %d is uncertain by %d, want %d", i, by, want)
			}
		}
		if reply, failure := endpoint.Decode(polling{}, rec, endpoint.DecodeOptions{}); failure != nil || reply.Contents[0].Message != 1 {
			t.Errorf("%+v %v", reply, failure)
		}
		if s := e.data.Get(0); s.First != nil {
			t.Error("a request that holds its own id is kept for others")
		}
	})
}

func TestPollingEnds(t *testing.T) {
	for name, c := range map[string]struct {
		poll  string
		fails *record.Error
		want  string
	}{
		"late":        {`{"status":"queued"}`, nil, "504 TimeoutError too late"},
		"failed":      {`{"id"`, nil, "500 JobError unexpected end of JSON input"},
		"http status": {"", &record.Error{Code: 503, Type: "Busy", Message: "b"}, "503 Busy b"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &wire{}
			w.answer = func(_ *transport.Request, rec *record.Record, on transport.OnMessage) {
				if len(w.sent) == 1 {
					says(rec, on, body(`{"id":"v1","status":"queued"}`))
				} else if rec.Error = c.fails; c.fails == nil {
					says(rec, on, body(c.poll))
				}
			}
			e, done := bench(t, polling{}, w, conversation.Turn{})
			e.followsUp, e.timeout = true, time.Second
			out := serve(e, 1, nil)
			_, failure := endpoint.Decode(polling{}, (*done)[0], endpoint.DecodeOptions{})
			if got := fmt.Sprint(failure.Code, " ", failure.Type, " ", failure.Message); !out[0].Failed || got != c.want {
				t.Errorf("%s: %+v, %q, want %q", name, out, got, c.want)
			}
		})
	}
}

// TestDownloadsAreSentOn: a download follows redirects, to another server without credentials, as often as it may; its failure has a separate
// class. A request without a body has no content type.
func TestDownloadsAreSentOn(t *testing.T) {
	film := &endpoint.Endpoint{}
	for _, e := range endpoint.All() {
		if e.Name == "video_generation" {
			film = e
		}
	}
	for name, c := range map[string]struct {
		hops  int
		final int
		want  string
	}{"sent on": {5, 200, ""}, "too often": {6, 200, "302 VideoDownloadError"}, "gone": {0, 404, "404 VideoDownloadError"}} {
		codec, err := film.Codec(endpoint.Settings{Model: "m", Download: true, PollInterval: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		w, hops := &wire{}, 0
		w.answer = func(r *transport.Request, rec *record.Record, on transport.OnMessage) {
			switch {
			case len(w.sent) == 1:
				says(rec, on, body(`{"id":"v"}`))
			case len(w.sent) == 2:
				says(rec, on, body(`{"status":"completed"}`))
			case hops < c.hops:
				hops++
				rec.Status, rec.Error = 302, &record.Error{Code: 302, Type: "Found"}
				rec.ResponseHeaders = []record.Header{{Name: "location", Value: []string{"../moved?a=b#c", "http://other/film"}[min(1, hops-1)]}}
			case c.final == 200:
				says(rec, on, record.Message{Body: true, Details: &record.Details{Size: 7, ContentType: "video/mp4"}})
			default:
				rec.Status, rec.Error = c.final, &record.Error{Code: c.final, Type: "Not Found"}
			}
		}
		e, done := bench(t, codec, w, conversation.Turn{Parts: conversation.Texts("", "p")})
		e.followsUp = true
		serve(e, 1, nil)
		_, failure := endpoint.Decode(codec, (*done)[0], endpoint.DecodeOptions{})
		got := ""
		if failure != nil {
			got = fmt.Sprint(failure.Code, " ", failure.Type)
		}
		if got != c.want || hops != min(c.hops, 6) {
			t.Errorf("%s: %q after %d redirects, want %q", name, got, hops, c.want)
		}
		for i, r := range w.sent {
			has := func(header string) bool {
				return slices.ContainsFunc(r.Headers, func(h record.Header) bool { return h.Name == header })
			}
			foreign := strings.HasPrefix(r.Target.URL, "http://other")
			if has("Content-Type") != (i == 0) || has("Authorization") == foreign {
				t.Errorf("%s: request %d to %s has %v", name, i, r.Target.URL, r.Headers)
			}
		}
		if c.hops > 0 && w.sent[3].Target.URL != "http://h:1/base/v1/videos/moved?a=b" {
			t.Errorf("%s: sent on to %s", name, w.sent[3].Target.URL)
		}
	}
}

func chat(t *testing.T) *counting {
	t.Helper()
	e, _, err := endpoint.Lookup("chat")
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Codec(endpoint.Settings{Model: "m", Streaming: true})
	if err != nil {
		t.Fatal(err)
	}
	return &counting{Codec: c}
}

// TestMessagesAreDecodedOnce: first content, history and rows are served by one reading, which decodes on the load's path what the load
// needs and no more.
func TestMessagesAreDecodedOnce(t *testing.T) {
	stream := func(_ *transport.Request, rec *record.Record, on transport.OnMessage) {
		says(rec, on, event(`"role":"assistant"`), event(`"content":"a"`), event(`"content":"b"`), event(`"content":"c"`))
	}
	for _, c := range []struct {
		prefill      bool
		turns, early int // messages that the load reads
	}{{false, 1, 2}, {true, 1, 2}, {false, 2, 4 + 2}, {true, 2, 4 + 2}} {
		codec, w := chat(t), &wire{answer: stream}
		turns := []conversation.Turn{{Parts: conversation.Texts("", "x")}, {Parts: conversation.Texts("", "y")}}
		e, done := bench(t, codec, w, turns[:c.turns]...)
		e.firstToken, e.replies = c.prefill, true
		tokens := 0
		serve(e, c.turns, func(int64) { tokens++ })
		if codec.added != c.early || c.prefill != (tokens == c.turns) {
			t.Errorf("%+v: %d messages decoded for the load, %d first tokens", c, codec.added, tokens)
		}
		for _, rec := range *done {
			if reply, failure := endpoint.Decode(codec, rec, endpoint.DecodeOptions{}); failure != nil || reply.Output != "abc" || len(reply.Contents) != 3 {
				t.Errorf("%+v: %+v %v", c, reply, failure)
			}
		}
		if codec.added != 4*c.turns {
			t.Errorf("%+v: %d messages decoded, %d came", c, codec.added, 4*c.turns)
		}
		if c.turns == 2 && !strings.Contains(string(w.sent[1].Body.Bytes()), `{"role":"assistant","content":"abc"},{"role":"user","content":"y"}`) {
			t.Errorf("second turn: %s", w.sent[1].Body.Bytes())
		}
	}
}

// TestAFailureInAStreamIsSeenAtOnce: also where nobody waits for first tokens, and once only.
func TestAFailureInAStreamIsSeenAtOnce(t *testing.T) {
	for _, prefill := range []bool{false, true} {
		codec := chat(t)
		e, done := bench(t, codec, &wire{answer: func(_ *transport.Request, rec *record.Record, on transport.OnMessage) {
			says(rec, on, event(`"content":"the \"error\" of"`), event(`"content":"b"`),
				record.Message{Line: true, Raw: []byte(`data: {"error":{"message":"boom","code":503}}`)}, event(`"content":"never"`))
		}}, conversation.Turn{Parts: conversation.Texts("", "x")})
		e.firstToken = prefill
		out := serve(e, 1, func(int64) {})
		rec := (*done)[0]
		reply, failure := endpoint.Decode(codec, rec, endpoint.DecodeOptions{})
		if !out[0].Failed || failure == nil || failure.Code != 503 || failure.Message != "boom" || len(rec.Messages) != 2 || reply.Output != `the "error" ofb` {
			t.Errorf("prefill %v: %+v, %+v, %d messages, %q", prefill, out, failure, len(rec.Messages), reply.Output)
		}
		if codec.added != 3 {
			t.Errorf("prefill %v: %d messages decoded, want 3", prefill, codec.added)
		}
	}
}

// TestForkHistory: a fork sends what its parent had sent and heard up to the turn that started it, then its own.
func TestForkHistory(t *testing.T) {
	turns := make([]conversation.Turn, 2)
	parent := &session{conversation: &conversation.Conversation{System: "S", Turns: turns}, replies: []endpoint.Memory{"a", "later"}}
	e := &Executor{data: inputs.NewPreparedStore(&fixed{c: conversation.Conversation{ID: "c", Turns: make([]conversation.Turn, 2)}})}
	child := e.session(&load.Session{Turns: 2, Fork: true, Parent: &load.Session{State: parent, Turns: 2}}, false)
	child.replies[0] = "b"
	h := child.before(1)
	if len(h.Past) != 2 || h.System != "S" || h.Past[0].Turn != &turns[0] || h.Past[0].Reply != "a" || h.Past[1].Reply != "b" {
		t.Errorf("history %+v", h)
	}
	spawned := e.session(&load.Session{Turns: 2, Parent: &load.Session{State: parent, Turns: 2}}, false)
	if h := spawned.before(0); len(h.Past) != 0 || h.System != "" {
		t.Errorf("history %+v", h)
	}
}

// TestOutcomeInstants: the load learns when a request left and when the last byte of its answer arrived, and for how long before that a connection was
// made; a failed request has no answer, unless that reports the error.
func TestOutcomeInstants(t *testing.T) {
	ms := int64(1e6)
	for name, c := range map[string]struct {
		trace      record.Trace
		failure    *record.Error
		arrived    bool
		connecting time.Duration
	}{
		"idle connection":    {record.Trace{Reused: 90 * ms}, nil, true, 0},
		"connected before":   {record.Trace{PoolWaitStart: 50 * ms, PoolWaitEnd: 55 * ms, DNSStart: 60 * ms, DNSEnd: 61 * ms, ConnectStart: 62 * ms, ConnectEnd: 92 * ms}, nil, true, 36 * time.Millisecond},
		"connected in part":  {record.Trace{ConnectStart: 90 * ms, ConnectEnd: 120 * ms}, nil, true, 10 * time.Millisecond},
		"connected at start": {record.Trace{ConnectStart: 101 * ms, ConnectEnd: 120 * ms}, nil, true, 0},
		"failed":             {record.Trace{}, &record.Error{Type: "E"}, false, 0},
		"refused":            {record.Trace{AnswerEnd: 400 * ms}, &record.Error{Type: "E"}, true, 0},
	} {
		e, done := bench(t, chat(t), &wire{answer: func(_ *transport.Request, rec *record.Record, on transport.OnMessage) {
			says(rec, on, event(`"content":"a"`))
			rec.Start, rec.Error = 100*ms, c.failure
			rec.Trace = &c.trace
		}}, conversation.Turn{Parts: conversation.Texts("", "x")})
		out := serve(e, 1, func(int64) {})[0]
		arrived := c.trace.AnswerEnd
		if c.arrived && arrived == 0 {
			arrived = (*done)[0].End
		}
		if out.Sent != 100*ms || out.Arrived != arrived || out.Connecting != c.connecting || out.Failed != (c.failure != nil) {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// TestRequestedLength: a record names the output length that its request asked for. Types whose bodies hold none ask for none.
func TestRequestedLength(t *testing.T) {
	length := 10
	solido, _, err := endpoint.Lookup("solido_rag")
	if err != nil || !solido.NoLength {
		t.Fatal(err)
	}
	codec, err := solido.Codec(endpoint.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{answer: func(_ *transport.Request, rec *record.Record, _ transport.OnMessage) {
		rec.Messages = append(rec.Messages, record.Message{At: 2, Body: true, Raw: []byte(`{"content":"a"}`)})
	}}
	for none, want := range map[bool]int{false: 10, true: 0} {
		e, done := bench(t, codec, w, conversation.Turn{MaxTokens: &length, Parts: conversation.Texts("", "x")})
		e.noLength = none
		serve(e, 1, nil)
		if got := (*done)[0].MaxTokens; got != want {
			t.Errorf("%d tokens, want %d", got, want)
		}
	}
}
