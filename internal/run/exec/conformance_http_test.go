package exec

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/transport"
)

// Bodies and heads of answers.
const (
	document  = `{"object":"chat.completion","choices":[{"index":0,"message":{"content":"a"}}]}`
	jsonHead  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	eventHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
)

// measured is a whole answer: a head without its end, and a body with its length.
func measured(head, body string) string {
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

func status(line, body string) string {
	return measured("HTTP/1.1 "+line+"\r\nContent-Type: application/json\r\n", body)
}

func zipped(parts ...string) (pieces []string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i, part := range parts {
		_, _ = io.WriteString(z, part) // a buffer takes everything
		_ = z.Flush()
		if i == len(parts)-1 {
			_ = z.Close()
		}
		pieces = append(pieces, b.String())
		b.Reset()
	}
	return pieces
}

// answerCase is a row of section 16.2 that one answer settles.
type answerCase struct {
	id      string
	answer  string
	asked   asked
	keep    bool // the server leaves the connection open
	outcome string
	message string
	want    []string
	check   func(t *testing.T, g *got)
}

var answerCases = []answerCase{
	{id: "H01", answer: measured(jsonHead, document), asked: inOnePiece, want: ab("a")},
	{id: "H02", answer: jsonHead + "Transfer-Encoding: chunked\r\n\r\n" + chunks(document[:9], document[9:]) + lastPart, asked: inOnePiece, want: ab("a")},
	{id: "H03", answer: status("201 Created", document), asked: inOnePiece, want: ab("a")},
	{id: "H03", answer: status("206 Partial Content", document), asked: inOnePiece, want: ab("a")},
	{id: "H04", answer: "HTTP/1.1 204 No Content\r\n\r\n", asked: inOnePiece, outcome: noResult},
	{id: "H05", answer: status("400 Bad Request", `{"error":{"message":"bad"}}`), outcome: "400 Bad Request", message: `{"error":{"message":"bad"}}`},
	{id: "H07", answer: status("429 Too Many Requests\r\nRetry-After: 1", "slow"), outcome: "429 Too Many Requests", check: once},
	{id: "H08", answer: status("500 Internal Server Error", ""), outcome: "500 Internal Server Error", check: worded("")},
	{id: "H09", answer: measured("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\n", strings.Repeat("<p>", 34_000)), outcome: "503 Service Unavailable", message: strings.Repeat("<p>", 1000)},
	{id: "H10", answer: status("599 Odd", ""), outcome: "599 Odd"},
	{id: "H11", answer: status("500 ", ""), outcome: "500 Internal Server Error"},
	{id: "H12", answer: status("301 Moved Permanently\r\nLocation: /x", ""), outcome: "301 Moved Permanently", check: once},
	{id: "H12", answer: status("302 Found\r\nLocation: /x", ""), outcome: "302 Found", check: once},
	{id: "H12", answer: status("303 See Other\r\nLocation: /x", ""), outcome: "303 See Other", check: once},
	{id: "H12", answer: status("307 Temporary Redirect\r\nLocation: /x", ""), outcome: "307 Temporary Redirect", check: once},
	{id: "H12", answer: status("308 Permanent Redirect\r\nLocation: /x", ""), outcome: "308 Permanent Redirect", check: once},
	{id: "H13", answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + measured(jsonHead, document), asked: inOnePiece, want: ab("a")},
	{id: "H14", answer: jsonHead + "Content-Length: 100\r\n\r\n" + strings.Repeat(" ", 50), asked: inOnePiece, outcome: transport.ErrPayload},
	{id: "H14", answer: eventHead + "Content-Length: 1000\r\n\r\n" + expand(plainStream)[0], want: ab("a", "b")},
	{id: "H15", answer: sseHead + chunks(expand("data: D(a)⏎⏎")[0]), outcome: transport.ErrPayload, want: ab("a")},
	{id: "H15", answer: sseHead + chunks(expand(plainStream)[0]), want: ab("a", "b")},
	{id: "H16", answer: "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + document, asked: inOnePiece, want: ab("a")},
	{id: "H19", answer: "", outcome: transport.ErrClosed},
	{id: "H20", keep: true, asked: impatient, outcome: transport.ErrTimeout},
	{id: "H23", answer: measured(jsonHead+"Content-Encoding: gzip\r\n", strings.Join(zipped(document), "")), asked: inOnePiece, want: ab("a")},
	{id: "H25", answer: measured(jsonHead+"Content-Encoding: xyz\r\n", document), asked: inOnePiece, want: ab("a")},
	{id: "H26", answer: measured("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n", expand(plainStream)[0]), want: ab("a", "b")},
	{id: "H26", answer: measured("HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream\r\n", expand(plainStream)[0]), want: ab("a", "b")},
	{id: "H27", answer: measured(jsonHead, document), want: ab("a"), check: arrived(1)},
	{id: "H28", answer: measured(eventHead, expand(plainStream)[0]), asked: inOnePiece, want: ab("a", "b"), check: arrived(3)},
	{id: "H29", answer: measured(jsonHead, expand(plainStream)[0]), outcome: noResult, message: "not text/event-stream"},
	{id: "H30", answer: measured("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n", document+"\n"+document+"\n"), outcome: noResult},
	{id: "H30a", answer: measured("HTTP/1.1 200 OK\r\n", document), asked: inOnePiece, want: ab("a")},
	{id: "H30b", answer: measured("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n", "\x89PNG\r\n\x1a\n"), asked: inOnePiece, outcome: noResult},
	{id: "H30c", answer: measured(jsonHead, "\ufeff"+document), asked: inOnePiece, want: ab("a")},
	{id: "H31", answer: measured("HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=latin-1\r\n", strings.Replace(document, `"a"`, "\"\xe9\"", 1)), asked: inOnePiece, want: ab("é")},
	{id: "H32", answer: measured(jsonHead, " \r\n\t"), asked: inOnePiece, outcome: noResult},
	{id: "H34", answer: sseHead + chunks(expand(plainStream)[0]) + "0\r\nX-Trailer: 1\r\n\r\n", want: ab("a", "b")},
	{id: "H35", answer: measured(jsonHead+strings.Repeat("X-Long: "+strings.Repeat("y", 1000)+"\r\n", 64), document), asked: inOnePiece, want: ab("a")},
	{id: "H35", answer: measured(jsonHead+"X-Long: "+strings.Repeat("y", 9000)+"\r\n", document), asked: inOnePiece, want: ab("a")},
	{id: "H36", answer: fmt.Sprintf("HTTP/1.1 200 OK\r\ncOnTeNt-TyPe: application/json\r\nX-A: 1\r\nx-a: 2\r\nCONTENT-length: %d\r\n\r\n%s", len(document), document), asked: inOnePiece, want: ab("a")},
	{id: "H53", answer: measured("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n", "12345"), asked: inOnePiece, outcome: noResult, check: func(t *testing.T, g *got) {
		if g.Messages[0].Size() != 5 {
			t.Errorf("H53: size %d, want 5", g.Messages[0].Size())
		}
	}},
}

var (
	inOnePiece = asked{whole: true}
	impatient  = asked{options: func(o *transport.Options) { o.Timeout = 300 * time.Millisecond }}
)

func once(t *testing.T, g *got) {
	t.Helper()
	if g.stats.Dialled != 1 || len(g.Exchanges) != 0 {
		t.Errorf("%d connections, %d further exchanges", g.stats.Dialled, len(g.Exchanges))
	}
}

func worded(message string) func(t *testing.T, g *got) {
	return func(t *testing.T, g *got) {
		t.Helper()
		if g.failure.Message != message {
			t.Errorf("message %q, want %q", g.failure.Message, message)
		}
	}
}

func arrived(n int) func(t *testing.T, g *got) {
	return func(t *testing.T, g *got) {
		t.Helper()
		if len(g.Messages) != n {
			t.Errorf("%d messages, want %d", len(g.Messages), n)
		}
	}
}

// TestConformanceOfAnswers: section 16.2; small answers that do not depend on the end of the connection are cut at every byte.
func TestConformanceOfAnswers(t *testing.T) {
	ids := slices.Clone(connectionCases)
	for _, c := range answerCases {
		ids = append(ids, c.id)
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			c.run(t, 0)
			step := 1
			if testing.Short() {
				step = 10
			}
			if len(c.answer) < 400 {
				for at := 1; at < len(c.answer) && !t.Failed(); at += step {
					c.run(t, at)
				}
			}
		})
	}
	corpus(t, "H", ids, 55, "H30a", "H30b", "H30c", "H37a", "H37b", "H46a")
}

// run plays the answer, in two writes if it is cut.
func (c *answerCase) run(t *testing.T, cut int) {
	s := play(t, func(p *player) {
		if !p.request() {
			return
		}
		if p.say(c.answer[:cut]); cut > 0 {
			time.Sleep(100 * time.Microsecond)
		}
		p.say(c.answer[cut:])
		if c.keep {
			p.gone()
		}
	})
	g := ask(t, s.url, c.asked)
	outcome := c.outcome
	if outcome == "" {
		outcome = "ok"
	}
	g.is(t, fmt.Sprintf("%s cut at %d", c.id, cut), outcome, c.message, c.want...)
	if c.check != nil {
		c.check(t, g)
	}
	if n := len(s.headsSeen()); n != 1 {
		t.Errorf("%s: %d requests reached the server, want one", c.id, n)
	}
}

// H38, H39, H40: what is sent.
func TestConformanceOfRequestHeads(t *testing.T) {
	for id, c := range map[string]struct {
		set  transport.HeaderSet
		want map[string]string // of headers, in small letters; "" = none
	}{
		"H38": {transport.HeaderSet{SessionAffinity: true}, map[string]string{"user-agent": "aiperf/v", "accept": "application/json", "accept-encoding": "", "content-length": "*",
			"x-request-id": "*", "x-correlation-id": "s", "content-type": "application/json", "host": "*", "x-session-affinity": "s"}},
		"H39": {transport.HeaderSet{User: []record.Header{{Name: "accept", Value: "x"}}}, map[string]string{"accept": "application/json"}},
		"H40": {transport.HeaderSet{APIKey: "k", User: []record.Header{{Name: "authorization", Value: "z"}}}, map[string]string{"authorization": "Bearer k"}},
	} {
		s := play(t, func(p *player) {
			p.request()
			p.say(measured(jsonHead, document))
		})
		a := asked{whole: true, headers: c.set}
		ask(t, s.url, a).is(t, id, "ok", "", "a")
		sent := map[string]string{}
		for _, line := range s.headsSeen()[0][1:] {
			name, value, _ := strings.Cut(line, ": ")
			if _, twice := sent[strings.ToLower(name)]; twice {
				t.Errorf("%s: %s is sent twice", id, name)
			}
			sent[strings.ToLower(name)] = value
		}
		for name, want := range c.want {
			if got := sent[name]; want == "*" && got == "" || want != "*" && got != want {
				t.Errorf("%s: %s: %q, want %q", id, name, got, want)
			}
		}
		if id == "H38" && len(sent) != len(c.want)-1 {
			t.Errorf("H38: sent %v", sent)
		}
		if n, err := strconv.Atoi(sent["content-length"]); err != nil || n == 0 {
			t.Errorf("%s: content-length %q", id, sent["content-length"])
		}
	}
}
