package chat

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aiperf/internal/wire/transport"
)

// TestTalk: every message goes out with what was said before, the answer is shown as it comes, and its figures are the server's.
func TestTalk(t *testing.T) {
	const gap = 20 * time.Millisecond
	var bodies []string
	broken := false
	seen := make(chan struct{}, 1) // a piece was shown
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // a body that breaks off is not what is expected
		bodies = append(bodies, string(raw))
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		if broken {
			http.Error(w, "no such model", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i, delta := range []string{`"reasoning_content":"hm"`, `"content":"one"`, `"content":" two"`} {
			if i > 0 {
				<-seen
				time.Sleep(gap)
			}
			fmt.Fprintf(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{%s}}]}\n\n", delta)
			_ = http.NewResponseController(w).Flush()
		}
		<-seen
		fmt.Fprint(w, `data: {"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":8,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	var shown strings.Builder
	o := Options{URL: server.URL, Model: "m", System: "be brief", Connections: transport.DefaultOptions(), Headers: transport.HeaderSet{APIKey: "k"},
		Connect: time.Minute, Read: time.Minute, Count: func(text string) int { return len(strings.Fields(text)) },
		Show: func(text, thought string) {
			shown.WriteString(thought + text)
			seen <- struct{}{}
		}}
	talk, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer talk.Close()
	var f *AnswerFigures
	for range 2 {
		if f, err = talk.Say(t.Context(), "count"); err != nil {
			t.Fatal(err)
		}
	}
	if shown.String() != "hmone twohmone two" || f.Tokens != 3 || f.Reasoning != 1 || f.Prompt != 8 || f.Cached != 2 || f.Latency < f.TTFT+2*gap || f.ITL < gap/2 {
		t.Errorf("shown %q, figures %+v", shown.String(), f)
	}
	for _, want := range []string{"TTFT: ", "(3 tokens, 1 reasoning in ", "ITL: ", "Cache: 2/8 prompt tokens cached (25.0%)"} {
		if !strings.Contains(f.String(), want) {
			t.Errorf("no %q in %s", want, f)
		}
	}
	var second struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(bodies[1]), &second); err != nil || len(second.Messages) != 4 || second.Messages[2].Role != "assistant" || second.Messages[2].Content != "one two" {
		t.Errorf("%s %v", bodies[1], err)
	}
	broken = true
	if _, err = talk.Say(t.Context(), "again"); err == nil || !strings.Contains(err.Error(), "404 Not Found: no such model") {
		t.Errorf("%v", err)
	}
	broken = false
	talk.Forget = true
	if _, err = talk.Say(t.Context(), "alone"); err != nil || len(talk.history) != 2 {
		t.Errorf("%v %d", err, len(talk.history))
	}
}

// TestSilence: a server that says nothing is given up after the time of silence, one that is not there at once.
func TestSilence(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = bufio.NewReader(r.Body).ReadString(0) // to its end
		<-stop
	}))
	defer server.Close()
	defer close(stop)
	o := Options{URL: server.URL, Model: "m", Connections: transport.DefaultOptions(), Connect: time.Minute, Read: 50 * time.Millisecond, Count: func(string) int { return 1 },
		Show: func(string, string) {}}
	for url, want := range map[string]string{server.URL: "no data from the server for 50ms", "http://127.0.0.1:1": "ClientConnectorError"} {
		o.URL = url
		talk, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := talk.Say(context.Background(), "hello"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
		talk.Close()
	}
}
