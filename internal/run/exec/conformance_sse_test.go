package exec

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
)

// chunkMark is a chunk in the notation of the corpus.
var chunkMark = regexp.MustCompile(`(?s)[DR]\([^)]*\)`)

// expand writes out the notation of the corpus: ⏎ is LF, ␍ CR, D(x) a chat chunk with content x, R(x) one with reasoning; ¦ is the place of a cut.
func expand(notation string) (pieces []string) {
	s := strings.NewReplacer("⏎", "\n", "␍", "\r").Replace(notation)
	return strings.Split(chunkMark.ReplaceAllStringFunc(s, func(mark string) string {
		member := "content"
		if mark[0] == 'R' {
			member = "reasoning_content"
		}
		return `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"` + member + `":"` + mark[2:len(mark)-1] + `"}}]}`
	}), "¦")
}

// streamCase is one row of section 16.1.
type streamCase struct {
	id      string
	kind    string // endpoint type
	body    string
	outcome string // "" = ok
	message string
	want    []string
	uncut   bool // too large to be cut at every byte
	strict  bool // streams have to be complete
	check   func(t *testing.T, g *got, wrote []int64)
}

const (
	plainStream = "data: D(a)⏎⏎data: D(b)⏎⏎data: [DONE]⏎⏎"
	stop        = `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}⏎⏎`
	sseError    = "502 SSEResponseError"
	noResult    = "InvalidInferenceResultError"
)

func ab(s ...string) []string { return s }

// stampedIn tells that content i arrived between the k-th write and the next.
func stampedIn(i, k int) func(t *testing.T, g *got, wrote []int64) {
	return func(t *testing.T, g *got, wrote []int64) {
		t.Helper()
		m := g.Messages[g.reply.Contents[i].Message]
		if m.At < wrote[k] || k+1 < len(wrote) && m.At-m.UncertainNs > wrote[k+1] {
			t.Errorf("content %d at %d, uncertain by %d, not in write %d at %d", i, m.At-wrote[0], m.UncertainNs, k, wrote[k]-wrote[0])
		}
	}
}

var usageChunk = `data: {"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}⏎⏎`

var streamCases = []streamCase{
	{id: "S01", body: plainStream, want: ab("a", "b"), check: func(t *testing.T, g *got, _ []int64) {
		if len(g.Messages) != 3 {
			t.Errorf("%d messages, want 3", len(g.Messages))
		}
	}},
	{id: "S02", body: strings.ReplaceAll(plainStream, "⏎", "␍⏎"), want: ab("a", "b")},
	{id: "S03", body: strings.ReplaceAll(plainStream, "⏎", "␍"), want: ab("a", "b")},
	{id: "S04", body: "data: D(a)␍⏎⏎data: D(b)⏎␍⏎", want: ab("a", "b")},
	{id: "S05", body: "data: D(a)␍⏎␍¦⏎data: D(b)␍⏎␍⏎", want: ab("a", "b"), check: func(t *testing.T, g *got, wrote []int64) {
		stampedIn(0, 0)(t, g, wrote)
		if len(g.Messages) != 2 {
			t.Errorf("%d messages: an empty one between", len(g.Messages))
		}
	}},
	{id: "S06", body: "data:D(a)⏎⏎", want: ab("a")},
	{id: "S07", body: "data:  D(a)  ⏎⏎", want: ab("a")},
	{id: "S08", body: "\ufeff" + plainStream, want: ab("a", "b")},
	{id: "S09", body: "data: D(a)⏎⏎\ufeffdata: D(b)⏎⏎", want: ab("a")},
	{id: "S10", body: ": ping⏎⏎¦" + plainStream, want: ab("a", "b"), check: stampedIn(0, 1)},
	{id: "S11", body: ": ping⏎data: D(a)⏎⏎", want: ab("a")},
	{id: "S12", body: "data: D(a)⏎⏎: keep⏎⏎: keep⏎⏎: keep⏎⏎data: D(b)⏎⏎", want: ab("a", "b")},
	{id: "S13", body: `data: {"object":"chat.completion.chunk",⏎data: "choices":[{"index":0,"delta":{"content":"a"}}]}⏎⏎`, want: ab("a")},
	{id: "S14", body: `data: {⏎  "object": "chat.completion.chunk",⏎  "choices": [⏎    {"index": 0, "delta": {"content": "a"}}⏎  ]⏎}⏎⏎`, want: ab("a")},
	{id: "S15", body: "data: D(one⏎two)⏎⏎", want: ab("one\ntwo")},
	{id: "S16", body: "data: ⏎data: D(a)⏎⏎", want: ab("a")},
	{id: "S17", body: "data⏎⏎data: D(a)⏎⏎", want: ab("a")},
	{id: "S18", body: "data:⏎⏎data: D(a)⏎⏎", want: ab("a")},
	{id: "S19", body: "event: message⏎id: 7⏎retry: 10⏎data: D(a)⏎⏎", want: ab("a")},
	{id: "S20", body: "Data: D(a)⏎⏎", want: ab("a")},
	{id: "S21", body: "   data: D(a)⏎⏎", want: ab("a")},
	{id: "S22", body: "x-custom: 1⏎data: D(a)⏎⏎", want: ab("a")},
	{id: "S23", body: "⏎⏎⏎⏎data: D(a)⏎⏎⏎⏎⏎data: D(b)⏎⏎", want: ab("a", "b"), check: func(t *testing.T, g *got, _ []int64) {
		if len(g.Messages) != 2 {
			t.Errorf("%d messages, want 2", len(g.Messages))
		}
	}},
	{id: "S24", body: "data: D(a)⏎⏎data: D(b)", want: ab("a", "b")},
	{id: "S25", body: "data: D(a)⏎⏎data: D(b)⏎", want: ab("a", "b")},
	{id: "S26", body: "data: D(a)⏎⏎data: [DONE]", want: ab("a")},
	{id: "S27", body: "data: D(a)⏎⏎", want: ab("a")},
	{id: "S28", body: "data: D(a)⏎⏎" + stop, want: ab("a")},
	{id: "S29", body: "data: D(a)⏎⏎data: [DONE]⏎⏎data: D(z)⏎⏎", want: ab("a", "z")},
	{id: "S30", body: "data: D(a)⏎⏎data:[DONE]⏎⏎", want: ab("a"), check: fewContents(1)},
	{id: "S30", body: "data: D(a)⏎⏎data: [DONE] ⏎⏎", want: ab("a"), check: fewContents(1)},
	{id: "S31", body: "data: D(\xc3¦\xa9)⏎⏎", want: ab("é")},
	{id: "S32", body: "data: D(\xf0¦\x9f¦\x98¦\x80)⏎⏎", want: ab("😀")},
	{id: "S33", body: "data: D(x\xffy)⏎⏎", want: ab("x\ufffdy")},
	{id: "S34", body: "data: D(x\u2028y)⏎⏎", want: ab("x\u2028y")},
	{id: "S35", body: "data: D(x\u0085y)⏎⏎", want: ab("x\u0085y")},
	{id: "S37", uncut: true, body: strings.Repeat("data: D(x)⏎⏎", 50), want: repeated("x", 50), check: func(t *testing.T, g *got, _ []int64) {
		for _, m := range g.Messages {
			if m.At != g.Messages[0].At {
				t.Errorf("two instants in one write")
			}
		}
	}},
	{id: "S38", body: "data: D(a)⏎¦⏎", want: ab("a"), check: stampedIn(0, 1)},
	{id: "S39", uncut: true, body: "data: D(" + strings.Repeat("x", 8<<20) + ")⏎⏎", want: ab(strings.Repeat("x", 8<<20))},
	{id: "S40", uncut: true, body: strings.Repeat("data: D(x)⏎⏎", 100_000), want: repeated("x", 100_000)},
	{id: "S41", body: "data: D(a)⏎⏎data: {bad json⏎⏎data: D(b)⏎⏎", want: ab("a", "b")},
	{id: "S42", body: `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"}}]}⏎⏎¦data: D(a)⏎⏎`, want: ab("a"), check: stampedIn(0, 1)},
	{id: "S43", body: "data: D()⏎⏎data: D()⏎⏎data: [DONE]⏎⏎", outcome: noResult},
	{id: "S44", body: "data: R(r)⏎⏎¦data: D(a)⏎⏎", want: ab("think:r", "a"), check: func(t *testing.T, g *got, wrote []int64) {
		stampedIn(0, 0)(t, g, wrote)
		stampedIn(1, 1)(t, g, wrote)
	}},
	{id: "S45", body: `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"reasoning_content":"","reasoning":"r"}}]}⏎⏎`, want: ab("think:r")},
	{id: "S46", body: "data: D(a)⏎⏎¦" + usageChunk, want: ab("a"), check: func(t *testing.T, g *got, wrote []int64) {
		stampedIn(0, 0)(t, g, wrote)
		if g.reply.Usage == nil || g.reply.Usage.Completion != 2 {
			t.Errorf("usage %+v", g.reply.Usage)
		}
	}},
	{id: "S47", body: "data: D(a)⏎⏎" + usageChunk + `data: {"object":"chat.completion.chunk","choices":[],"usage":{"completion_tokens":5}}⏎⏎`, want: ab("a"), check: reports(-1, 5)},
	{id: "S48", body: tool(`"name":"f","arguments":""`) + tool(`"arguments":"{\"x\""`) + tool(`"arguments":":1}"`), want: ab("f", `{"x"`, `:1}`)},
	{id: "S49", body: `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}⏎⏎`, want: ab("a")},
	{id: "S50", body: `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}⏎⏎`, want: ab("a")},
	{id: "S51", body: `data: D(a)⏎⏎event: error⏎data: {"error":{"message":"boom"}}⏎⏎`, outcome: sseError, message: "boom", want: ab("a")},
	{id: "S52", body: "event: ERROR⏎: overload⏎⏎", outcome: sseError, message: "overload"},
	{id: "S53", body: `event: error⏎data: {"type":"error","message":"x"}⏎⏎`, outcome: sseError, message: "x"},
	{id: "S54", body: `data: {"error":{"code":429,"message":"slow"}}⏎⏎`, outcome: "429 SSEResponseError", message: "slow"},
	{id: "S55", body: `data: {"error":{"code":"429","message":"slow"}}⏎⏎`, outcome: sseError, message: "slow"},
	{id: "S55", body: `data: {"error":{"code":200,"message":"slow"}}⏎⏎`, outcome: sseError, message: "slow"},
	{id: "S55", body: `data: {"error":{"code":99999,"message":"slow"}}⏎⏎`, outcome: sseError, message: "slow"},
	{id: "S55", body: `data: {"error":{"message":"slow"}}⏎⏎`, outcome: sseError, message: "slow"},
	{id: "S56", body: `data: {"error":"text"}⏎⏎`, outcome: sseError, message: "text"},
	{id: "S57", body: `data: {"error":null,"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}⏎⏎`, want: ab("a")},
	{id: "S58", body: `data: D(an \"error\" here)⏎⏎`, want: ab(`an "error" here`)},
	{id: "S59", body: `data: {"error":{"message":"first"}}⏎⏎data: D(a)⏎⏎`, outcome: sseError, message: "first", check: func(t *testing.T, g *got, _ []int64) {
		if len(g.reply.Contents) != 0 {
			t.Error("an event that would give a time to first token")
		}
	}},
	{id: "S63", kind: "messages", want: ab("think:hm", "hi"), body: `event: message_start⏎data: {"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}⏎⏎event: ping⏎data: {"type":"ping"}⏎⏎` +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}⏎⏎data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}⏎⏎` +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}⏎⏎data: {"type":"message_stop"}⏎⏎`, check: reports(7, 4)},
	{id: "S64", kind: "responses", body: delta("a") + delta("b") + textDone, want: ab("a", "b")},
	{id: "S65", kind: "responses", body: textDone + completed, want: ab("ab")},
	{id: "S65a", kind: "responses", body: delta("a") + delta("b") + "¦" + textDone + completed, want: ab("a", "b"), check: stampedIn(1, 0)},
	{id: "S65b", kind: "responses", body: delta("a") + `data: {"type":"response.failed","response":{"error":{"message":"boom"}}}⏎⏎`, outcome: sseError, want: ab("a")},
	{id: "S65c", body: "data: D(a)⏎data: D(b)⏎⏎", want: ab("a", "b"), check: func(t *testing.T, g *got, _ []int64) {
		if c := g.reply.Contents; c[0].At != c[1].At {
			t.Error("two instants in one message")
		}
	}},
	{id: "S65d", body: `data: D(a)⏎⏎data: {"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":"3","completion_tokens":"2"}}⏎⏎`, want: ab("a"), check: reports(3, 2)},
	{id: "S66", kind: "huggingface_generate", want: ab("a", "b"), body: `data:{"index":1,"token":{"id":3,"text":"a","special":false},"generated_text":null}⏎⏎` +
		`data:{"index":2,"token":{"id":4,"text":"b","special":false},"generated_text":"ab"}⏎⏎`},
	{id: "S67", kind: "template", body: "data:  a⏎⏎", want: ab(" a")},
}

func repeated(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func fewContents(n int) func(t *testing.T, g *got, _ []int64) {
	return func(t *testing.T, g *got, _ []int64) {
		t.Helper()
		if len(g.reply.Contents) != n {
			t.Errorf("%d contents, want %d", len(g.reply.Contents), n)
		}
	}
}

func reports(prompt, completion int64) func(t *testing.T, g *got, _ []int64) {
	return func(t *testing.T, g *got, _ []int64) {
		t.Helper()
		if u := g.reply.Usage; u == nil || u.Prompt != prompt || u.Completion != completion {
			t.Errorf("usage %+v, want %d and %d", u, prompt, completion)
		}
	}
}

func tool(function string) string {
	return `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{` + function + `}}]}}]}⏎⏎`
}

func delta(text string) string {
	return `data: {"type":"response.output_text.delta","delta":"` + text + `"}⏎⏎`
}

const (
	textDone  = `data: {"type":"response.output_text.done","text":"ab"}⏎⏎`
	completed = `data: {"type":"response.completed","response":{"status":"completed","output":[]}}⏎⏎`
)

// ask asks a server that streams pieces, a chunk each.
func (c *streamCase) ask(t testing.TB, gap time.Duration, pieces ...string) (*got, []int64) {
	s := play(t, func(p *player) {
		if !p.request() {
			return
		}
		first := sseHead
		for i, piece := range pieces {
			if i > 0 {
				time.Sleep(gap)
			}
			p.say(first + chunks(piece))
			first = ""
		}
		p.say(lastPart)
	})
	a := asked{kind: c.kind, strict: c.strict}
	if c.kind == "template" {
		a.extras = template
	}
	g := ask(t, s.url, a)
	return g, s.writes()
}

func (c *streamCase) verify(t testing.TB, g *got, cut string) {
	t.Helper()
	outcome := c.outcome
	if outcome == "" {
		outcome = "ok"
	}
	g.is(t, c.id+cut, outcome, c.message, c.want...)
}

// TestConformanceOfStreams: section 16.1, as written there, and the small ones cut at every byte.
func TestConformanceOfStreams(t *testing.T) {
	ids := []string{"S36", "S60", "S61", "S62"} // separate tests
	for _, c := range streamCases {
		ids = append(ids, c.id)
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			pieces := expand(c.body)
			g, wrote := c.ask(t, 20*time.Millisecond, pieces...)
			c.verify(t, g, "")
			if c.check != nil {
				c.check(t, g, wrote)
			}
			if !c.uncut {
				c.everywhere(t, strings.Join(pieces, ""))
			}
		})
	}
	corpus(t, "S", ids, 67, "S65a", "S65b", "S65c", "S65d")
}

// everywhere cuts the body at every byte (at every tenth in short tests): the head and the body as far as the cut are one write, the rest is
// another. Several clients ask at once.
func (c *streamCase) everywhere(t *testing.T, body string) {
	var next atomic.Int32
	s := play(t, func(p *player) {
		for p.request() {
			at := int(next.Add(1)-1)%(len(body)-1) + 1
			size := fmt.Sprintf("%x\r\n", len(body))
			p.say(sseHead + size + body[:at])
			time.Sleep(100 * time.Microsecond)
			p.say(body[at:] + "\r\n" + lastPart)
		}
	})
	a := asked{kind: c.kind}
	if c.kind == "template" {
		a.extras = template
	}
	const clients = 8
	step := 1
	if testing.Short() {
		step = 10
	}
	var all sync.WaitGroup
	for first := range clients {
		q := newAsker(t, s.url, a)
		all.Go(func() {
			for at := first; at < len(body)-1 && !t.Failed(); at += clients * step {
				c.verify(t, q.ask(t), " cut")
			}
		})
	}
	all.Wait()
}

// S27 to S30, S41, H27: the same where streams have to be complete.
func TestConformanceOfCompleteStreams(t *testing.T) {
	two := `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"},{"index":1,"delta":{"content":"b"}}]}⏎⏎`
	for _, c := range []streamCase{
		{id: "S01", body: plainStream, want: ab("a", "b")},
		{id: "S27", body: "data: D(a)⏎⏎", want: ab("a"), outcome: sseError, message: "choice 0 has no finish reason"},
		{id: "S27", body: two, want: ab("a"), outcome: sseError, message: "choice 1 has no finish reason"},
		{id: "S27", body: usageChunk, outcome: sseError, message: "without [DONE]"},
		{id: "S28", body: "data: D(a)⏎⏎" + stop, want: ab("a")},
		{id: "S29", body: "data: D(a)⏎⏎data: [DONE]⏎⏎data: D(z)⏎⏎", want: ab("a", "z"), outcome: sseError, message: "data after [DONE]"},
		{id: "S30", body: "data: D(a)⏎⏎data:[DONE]⏎⏎", want: ab("a")},
		{id: "S30", body: "data: D(a)⏎⏎data: [DONE] ⏎⏎", want: ab("a")},
		{id: "S41", body: "data: D(a)⏎⏎data: {bad json⏎⏎data: D(b)⏎⏎data: [DONE]⏎⏎", want: ab("a", "b"), outcome: sseError, message: "not JSON"},
		{id: "S41", body: "data: D(a)⏎⏎data: [1]⏎⏎data: [DONE]⏎⏎", want: ab("a"), outcome: sseError, message: "neither choices nor usage"},
		{id: "S54", body: `data: D(a)⏎⏎data: {"error":{"code":429,"message":"slow"}}⏎⏎`, want: ab("a"), outcome: "429 SSEResponseError", message: "slow"},
	} {
		c.strict = true
		g, _ := c.ask(t, 0, strings.ReplaceAll(strings.Join(expand(c.body), ""), "¦", ""))
		c.verify(t, g, " strict")
	}
	s := play(t, func(p *player) {
		for p.request() {
			p.say(measured(jsonHead, document))
		}
	})
	ask(t, s.url, asked{strict: true}).is(t, "H27 strict", sseError, "the answer is not an event stream but application/json: \"{\\\"object", "a")
	unstreamed := []endpoint.Member{{Key: "stream", Value: json.RawMessage("false")}}
	ask(t, s.url, asked{strict: true, extras: unstreamed}).is(t, "H27 strict, not asked", "ok", "", "a")
}

// S36: every byte is a separate write; a message has the stamp of its last byte.
func TestConformanceByteByByte(t *testing.T) {
	t.Parallel()
	c := streamCase{id: "S36", want: ab("a", "b")}
	body := expand("data: D(a)⏎⏎data: D(b)⏎⏎")[0]
	g, wrote := c.ask(t, 300*time.Microsecond, strings.Split(body, "")...)
	c.verify(t, g, "")
	if len(g.reply.Contents) == 2 {
		stampedIn(0, len(body)/2-1)(t, g, wrote)
		stampedIn(1, len(body)-1)(t, g, wrote)
	}
}

// S60, S61, S62: streams that break, stall, or stay open.
func TestConformanceOfBrokenStreams(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	event := expand("data: D(a)⏎⏎")[0]
	for _, c := range []struct {
		head, outcome string
	}{{sseHead, transport.ErrPayload}, {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", transport.ErrSocket}} {
		s := play(t, func(p *player) {
			p.request()
			text := event
			if c.head == sseHead {
				text = chunks(event)
			}
			p.pace(30*time.Millisecond, c.head+text, "")
			p.reset()
		})
		ask(t, s.url, asked{}).is(t, "S60", c.outcome, "", "a")
	}
	s := play(t, func(p *player) {
		p.request()
		p.say(sseHead + chunks(event))
		p.gone()
	})
	g := ask(t, s.url, asked{options: func(o *transport.Options) { o.Timeout = 2 * time.Second }})
	g.is(t, "S61", transport.ErrTimeout, "", "a")
	if took := g.End - g.Start; took < int64(2*time.Second) {
		t.Errorf("S61: over after %v", time.Duration(took))
	}
	s = play(t, func(p *player) {
		p.request()
		p.say(sseHead + chunks(event, "data: [DONE]\n\n"))
		p.gone()
	})
	g = ask(t, s.url, asked{options: func(o *transport.Options) { o.Timeout = time.Hour }})
	if g.is(t, "S62", "ok", "", "a"); g.End != g.Messages[len(g.Messages)-1].At {
		t.Errorf("S62: over %v after its last message", time.Duration(g.End-g.Messages[len(g.Messages)-1].At))
	}
}
