package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/chat"
	"aiperf/internal/run/connection"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/wire/transport"
)

const chatLong = "Chats with a server through OpenAI's chat completions API, one message per line. After each answer it prints the time to first token, the speed " +
	"and the cached prompt tokens. Ctrl-D ends the conversation.\n\n" +
	"The whole conversation is sent again with every message, unless --no-history says otherwise."

// chatTable returns the flags of chat.
func chatTable() *setting.Table {
	rows := rowsOfProfile([2]string{"--model", ""}, [2]string{"--url", "http://localhost:8000"}, [2]string{"--system-prompt", ""})
	rows = append(rows,
		setting.Row{Flags: []string{"--quick", "-q"}, Kind: setting.Text, Help: "send this one message, print the answer and its figures, then exit"},
		setting.Row{Flags: []string{"--history"}, FalseNames: []string{"--no-history"}, Kind: setting.Bool, Default: "on", Help: "send the conversation so far with every message"},
	)
	rows = append(rows, rowsOfProfile([2]string{"--api-key", "for api.openai.com alone, OPENAI_API_KEY of the environment"}, [2]string{"--header", ""}, [2]string{"--tokenizer", "the model's own"},
		[2]string{"--tls-ca-file", ""}, [2]string{"--tls-insecure", ""}, [2]string{"--proxy", ""})...)
	return setting.NewTable(rows)
}

// chatCommand builds the command that talks to a server.
func (p *Program) chatCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "chat", short: "conversation with a server, with the figures of each answer", long: chatLong, table: chatTable, bare: cobra.ShellCompDirectiveNoFileComp,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			ctx, done := cmd.Context(), func(status int) int { return status }
			if p.Watch != nil {
				ctx, done = p.Watch(ctx, io.Discard)
			}
			status := done(p.chat(ctx, set))
			if ctx.Err() != nil {
				status = 0 // Ctrl-C is a normal way to leave
			}
			if status != 0 {
				return exitStatus(status)
			}
			return nil
		},
	})
}

// chat runs the conversation and returns the exit status.
func (p *Program) chat(ctx context.Context, set *setting.CommandLine) int {
	o, err := p.chatOptions(ctx, set)
	var t *chat.Session
	if err == nil {
		t, err = chat.Open(o)
	}
	if err != nil {
		p.errorf("%v", err)
		return 1
	}
	defer t.Close()
	if text := set.Text("--quick", ""); set.Has("--quick") {
		return p.exchange(ctx, t, text)
	}
	fmt.Fprintln(p.Out, "One line is a message; Ctrl-D ends.")
	lines := p.lines(ctx)
	for {
		fmt.Fprint(p.Out, "> ")
		p.flush()
		select {
		case <-ctx.Done():
			return 0
		case text, more := <-lines:
			switch {
			case !more:
				fmt.Fprintln(p.Out)
				return 0
			case strings.TrimSpace(text) != "":
				p.exchange(ctx, t, text)
			}
		}
	}
}

// exchange sends one message and prints the answer.
func (p *Program) exchange(ctx context.Context, t *chat.Session, text string) int {
	f, err := t.Say(ctx, text)
	fmt.Fprintln(p.Out)
	if err != nil {
		p.errorf("request failed: %v", err)
		return 1
	}
	fmt.Fprintln(p.Out, f)
	return 0
}

// maxMessage is the length of the longest line that is accepted as a message, in bytes.
const maxMessage = 16 << 20

// lines returns the lines of standard input; the channel is closed at its end.
func (p *Program) lines(ctx context.Context) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(p.In)
		s.Buffer(nil, maxMessage)
		for s.Scan() {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// chatOptions returns the options from the command line and the environment.
func (p *Program) chatOptions(ctx context.Context, set *setting.CommandLine) (o chat.Options, err error) {
	b := &config.Default().Benchmark
	o.Model, o.System, o.Forget = set.Text("--model", ""), set.Text("--system-prompt", ""), !set.True("--history", true)
	if o.URL, err = resolve.ParseURL(set.Text("--url", "http://localhost:8000")); err != nil {
		return o, fmt.Errorf("%s: %w", set.Spelled("--url"), err)
	}
	if resolve.IsMock(o.URL) {
		return o, fmt.Errorf("%s: chat needs a running server; start a simulated one with aiperf mock-server", set.Spelled("--url"))
	}
	given, err := resolve.ParseHeaders(set.Texts("--header"))
	if err != nil {
		return o, fmt.Errorf("%s: %w", set.Spelled("--header"), err)
	}
	key := resolve.EnvironmentAPIKey(o.URL, p.Environ)
	if set.Has("--api-key") {
		if key, err = resolve.APIKey(set.Text("--api-key", ""), p.Environ); err != nil {
			return o, fmt.Errorf("%s: %w", set.Spelled("--api-key"), err)
		}
	}
	o.Headers = transport.HeaderSet{UserAgent: "aiperf/" + Version(), APIKey: key}
	p.Secrets.Add(key)
	for _, h := range given {
		o.Headers.User = append(o.Headers.User, record.Header{Name: h.Name, Value: h.Value})
	}
	b.Endpoint.TLS.CAFile, b.Endpoint.TLS.Insecure, b.Endpoint.Proxy = set.Text("--tls-ca-file", ""), set.True("--tls-insecure", false), set.Text("--proxy", "")
	b.Endpoint.URLs, b.Endpoint.APIKey, b.Endpoint.Headers = []string{o.URL}, key, given
	simulated := false
	if o.Model == "" {
		found, err := resolve.OnlyModel(p.modelLister(ctx, false), b, config.FlagOf)
		if err != nil {
			return o, err
		}
		o.Model, simulated = found.Names[0], found.Simulated
		p.printErr("note: model: %s, the only one that %s serves; --model names another", o.Model, redact.URL(o.URL))
	}
	o.Connections = connection.Options(b, p.chatWarning)
	o.Connections.Timeout = 0 // a long answer must not time out
	if o.Connect, err = p.seconds("AIPERF_CHAT_CONNECT_TIMEOUT", 10*time.Second); err != nil {
		return o, err
	}
	if o.Read, err = p.seconds("AIPERF_CHAT_READ_TIMEOUT", 300*time.Second); err != nil {
		return o, err
	}
	words, err := p.chatTokenizer(ctx, set, o.Model, simulated)
	if err != nil {
		return o, err
	}
	o.Count = words.Count
	o.Show = func(text, thought string) {
		fmt.Fprint(p.Out, thought, text)
		p.flush()
	}
	return o, nil
}

func (p *Program) chatWarning(text string) { p.warnf("%s", text) }

// chatTokenizer returns the tokenizer that counts answers: the requested one, the model's, or else the built-in one.
func (p *Program) chatTokenizer(ctx context.Context, set *setting.CommandLine, model string, simulated bool) (*tokenizer.Tokenizer, error) {
	if simulated && !set.Has("--tokenizer") {
		return tokenizer.Builtin()
	}
	name := set.Text("--tokenizer", model)
	tok, err := tokenizer.Open(ctx, name, tokenizer.Options{})
	if err == nil || set.Has("--tokenizer") {
		return tok, err
	}
	p.warnf("no tokenizer found for model %q; counting with the built-in one (choose another with --tokenizer)", model)
	return tokenizer.Builtin()
}

// seconds reads a duration from the environment.
func (p *Program) seconds(name string, otherwise time.Duration) (time.Duration, error) {
	text := lookup(p.Environ, name)
	if text == "" {
		return otherwise, nil
	}
	s, err := setting.ParseTime(text, "s", false)
	if err != nil || !(s > 0 && s <= 86400) {
		return 0, fmt.Errorf("%s=%q: must be a duration above 0 and at most 24h, for example 10s or 2m", name, text)
	}
	return time.Duration(s * float64(time.Second)), nil
}
