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

	"aiperf/internal/mockserver"
)

// mockServerCommand is the simulated server in the foreground; its knobs are those of a mock:// URL.
func (p *Program) mockServerCommand() *cobra.Command {
	var host string
	var port int
	var lifeline bool
	knobs := map[string]*string{}
	cmd := &cobra.Command{
		Use:   "mock-server",
		Short: "simulate an inference server with known timing",
		Long: "Serves chat, completions, embeddings, rankings, images, films and transcripts with timing that you set, until Ctrl-C. " +
			"The first line on standard output ends in its address.\n\n" +
			"The same options are the parameters of a mock:// URL: aiperf profile --url 'mock://?ttft=50ms&itl=10ms'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options := mockserver.Defaults()
			for _, k := range mockserver.Knobs() {
				if !cmd.Flags().Changed(k.Name) {
					continue
				}
				if err := options.Set(k.Name, *knobs[k.Name]); err != nil {
					return fmt.Errorf("--%s: %w", k.Name, err)
				}
			}
			if port < 0 || port > 65535 {
				return fmt.Errorf("--port %d is not 0 to 65535", port)
			}
			return p.serveMock(cmd.Context(), options, net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port)), lifeline)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&host, "host", "127.0.0.1", "address to listen on")
	flags.IntVar(&port, "port", 8000, "port to listen on; 0 takes a free one")
	for _, k := range mockserver.Knobs() {
		knobs[k.Name] = flags.String(k.Name, k.Default, k.Usage)
	}
	flags.BoolVar(&lifeline, mockserver.LifelineFlag, false, "end when standard input does")
	_ = flags.MarkHidden(mockserver.LifelineFlag) // the flag was defined above
	return cmd
}

// serveMock answers until a signal, or until standard input ends when a parent holds it.
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
