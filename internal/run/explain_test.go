package run

import (
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/report/explanation"
	"aiperf/internal/report/runfiles"
)

// TestExplainOverSockets: of two servers one is slower; the explanation of a real run over sockets names it first. With two equal ones nothing is said about
// the server.
func TestExplainOverSockets(t *testing.T) {
	testhome.Slow(t)
	for _, c := range []struct {
		name, second string
		slow         bool
	}{{"one slow server", "ttft=160ms", true}, {"equal servers", "ttft=20ms", false}} {
		t.Run(c.name, func(t *testing.T) {
			const rest = "&itl=1ms&tokens=8&jitter=0.3"
			urls := []string{listening(t, "ttft=20ms"+rest), listening(t, c.second+rest+"&seed=2")}
			dir := t.TempDir()
			seeded(t, dir, urls[0], func(b *config.Benchmark) {
				b.Endpoint.URLs = urls
				b.Phases[0].Requests, b.Phases[0].Concurrency = ptr(600), ptr(8)
				b.Dataset().Prompts.ISL = config.Normal(20, 0)
			})
			e, err := explanation.Explain(runfiles.Open(dir), explanation.Options{Level: 90})
			if err != nil {
				t.Fatal(err)
			}
			named, server := e.Named(), "server="+urls[1]
			switch first := len(named) > 0 && named[0].Name == server; {
			case c.slow && !first:
				t.Errorf("not first: %s", strings.Join(e.Sentences(), "\n"))
			case c.slow && (named[0].Slow.Share < 0.95 || named[0].Rest.Share > 0.6):
				t.Error(named[0].Sentence)
			}
			for _, f := range named {
				if !c.slow && strings.HasPrefix(f.Name, "server=") {
					t.Error(f.Sentence)
				}
			}
		})
	}
}
