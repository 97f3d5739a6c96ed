package cli

import (
	"context"
	"fmt"
	"net"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
	"aiperf/internal/sim/mockserver"
)

const mockServerLong = "Simulates a server for chat, completions, embeddings, rankings, images, videos and transcripts, with the timing you set, until Ctrl-C. " +
	"The first line on standard output ends in its address.\n\n" +
	"The same options are the parameters of a mock:// URL: aiperf profile --url 'mock://?ttft=50ms&itl=10ms'"

// mockServerTable returns the flags of mock-server: its address, then its options.
func mockServerTable() *setting.Table {
	rows := []setting.Row{
		{Flags: []string{"--host"}, Kind: setting.Text, Default: "127.0.0.1", Help: "address to listen on"},
		{Flags: []string{"--port"}, Kind: setting.Int, Bounds: ">= 0, <= 65535", Default: "8000", Help: "port to listen on; 0 = any free port"},
	}
	for _, k := range mockserver.Knobs() {
		rows = append(rows, k.Row())
	}
	return setting.NewTable(append(rows, setting.Row{
		Flags: []string{"--" + mockserver.LifelineFlag}, Kind: setting.Bool, Help: "exit when standard input closes (for programs that start a server)",
	}))
}

// mockServerCommand runs the simulated server in the foreground; its options are those of a mock:// URL.
func (p *Program) mockServerCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "mock-server", short: "simulated inference server with known timing", long: mockServerLong,
		table: mockServerTable, bare: cobra.ShellCompDirectiveNoFileComp,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			options := mockserver.Defaults()
			for _, k := range mockserver.Knobs() {
				row := k.Row()
				given := set.Get(row.Name())
				if given == nil {
					continue
				}
				if err := options.Set(k.Name, strings.Join(given.Values, ",")); err != nil {
					return fmt.Errorf("%s: %w", set.Spelled(row.Name()), err)
				}
			}
			port := int64(8000)
			if given := set.Ints("--port"); len(given) > 0 {
				port = given[0]
			}
			host := strings.Trim(set.Text("--host", "127.0.0.1"), "[]")
			return p.serveMock(cmd.Context(), options, net.JoinHostPort(host, strconv.FormatInt(port, 10)), set.True("--"+mockserver.LifelineFlag, false))
		},
	})
}

// serveMock serves until a signal. With lifeline it also stops when standard input is closed, because the parent process has ended.
func (p *Program) serveMock(ctx context.Context, options mockserver.Options, address string, lifeline bool) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if lifeline {
		ctx = mockserver.UntilEOF(ctx, p.In)
	}
	return mockserver.Run(ctx, options, address, func(url string) {
		fmt.Fprintln(p.Out, mockserver.ReadyLine(url))
	})
}
