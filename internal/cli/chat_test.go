package cli

import (
	"strings"
	"testing"

	"aiperf/internal/sim/mockserver"
)

// TestChat: lines are messages, a failure does not end the conversation, --quick is one exchange whose failure is the status.
func TestChat(t *testing.T) {
	o := mockserver.Defaults()
	o.TTFT, o.ITL, o.Tokens = 0, 0, 3
	server, err := mockserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range []struct {
		args, in string
		status   int
		out, err string
	}{
		{"--url " + server.URL(), "hello\n\nagain\n", 0, "TTFT: ", ""},
		{"--url " + server.URL() + " --quick hello --tokenizer builtin", "", 0, "(3 tokens in ", ""},
		{"--url http://127.0.0.1:1 --quick hello --tokenizer builtin", "", 1, "", "request failed: ClientConnectorError"},
		{"--url http://127.0.0.1:1 --tokenizer builtin", "a\nb\n", 0, "> ", "request failed: ClientConnectorError"},
		{"--url mock:// --tokenizer builtin", "", 1, "", "aiperf mock-server"},
		{"--url " + server.URL() + " --tokenizer builtin --nonsense", "", 1, "", "--nonsense"},
	} {
		var out, errs strings.Builder
		p := &Program{Streams: Streams{In: strings.NewReader(c.in), Out: &out, Err: &errs, Environ: []string{"HF_HUB_OFFLINE=1"}}}
		status := Main(t.Context(), p, append([]string{"chat", "--model", "builtin"}, strings.Fields(c.args)...))
		if status != c.status || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.err) || c.err == "" && errs.Len() > 0 {
			t.Errorf("%s: status %d\n%s\n%s", c.args, status, out.String(), errs.String())
		}
		if n := strings.Count(out.String(), "TTFT"); c.in != "" && c.err == "" && n != 2 {
			t.Errorf("%d answers:\n%s", n, out.String())
		}
	}
	var errs strings.Builder
	p := &Program{Streams: Streams{In: strings.NewReader(""), Out: &errs, Err: &errs, Environ: []string{"AIPERF_CHAT_READ_TIMEOUT=-1"}}}
	if status := Main(t.Context(), p, []string{"chat", "--model", "builtin", "--quick", "x"}); status != 1 || !strings.Contains(errs.String(), "AIPERF_CHAT_READ_TIMEOUT") {
		t.Errorf("status %d\n%s", status, errs.String())
	}
}
