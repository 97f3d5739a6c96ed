package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/wire/capture"
)

// task is a unit of work whose cost is compared.
type task struct {
	title       string
	tokens      int // events per request
	streaming   bool
	server      []string
	clients     int
	short, long int // numbers of requests
	rounds      int
	fullOnly    bool // not part of the short form
}

// contestant is one way to do the task; it returns the CPU time for a number of requests.
type contestant struct {
	name     string
	cost     func(requests int) (time.Duration, error)
	budgeted bool // its ratio to the first has a budget
}

var tasks = []task{
	{"event, 100 streams x 100 tokens/s", 100, true, []string{"--ttft=10ms", "--itl=10ms"}, 100, 100, 500, 3, false},
	{"event, 400 streams x 100 tokens/s", 100, true, []string{"--ttft=10ms", "--itl=10ms"}, 400, 400, 1200, 1, true},
	{"event, 100 streams at full speed", 100, true, []string{"--ttft=0", "--itl=0"}, 100, 200, 4200, 3, false},
	{"request, not streamed, 1 token", 1, false, []string{"--ttft=0", "--itl=0"}, 10, 200, 20200, 3, false},
}

func cpuFigure(b *suite) error {
	b.row("unit", "client", "CPU/unit", "ratio", "budget")
	for _, t := range tasks {
		if b.short && t.fullOnly {
			continue
		}
		if b.short {
			t.rounds, t.long = 1, t.short+(t.long-t.short)/2
		}
		if err := b.compare(t); err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
	}
	return nil
}

// compare measures every contestant in turn, round by round, and prints the minimum cost of each.
func (b *suite) compare(t task) error {
	return b.withServer(func(s *server) error {
		return b.least(t, b.contestants(t, s))
	}, append(t.server, "--tokens="+strconv.Itoa(t.tokens))...)
}

// least prints the minimum cost of each contestant, as a ratio to the first.
func (b *suite) least(t task, list []contestant) error {
	least := make([]float64, len(list))
	for i := range least {
		least[i] = math.Inf(1)
	}
	for range t.rounds {
		for i, c := range list {
			ns, err := marginal(c.cost, t.short, t.long)
			if err != nil {
				return err
			}
			least[i] = min(least[i], ns/float64(t.tokens))
		}
	}
	for i, c := range list {
		ratio, budget := least[i]/least[0], ""
		if c.budgeted {
			budget = b.budgets.of(t.title)
			if problem := b.budgets.exceeded(t.title, ratio); problem != "" {
				b.problems = append(b.problems, problem)
			}
		}
		b.row(t.title, c.name, span(least[i]), fmt.Sprintf("%.2f", ratio), budget)
	}
	return nil
}

// marginal returns the CPU time of one more request, in ns: the difference between a long and a short run, so that start-up does not count.
func marginal(cost func(requests int) (time.Duration, error), short, long int) (float64, error) {
	a, err := cost(short)
	if err != nil {
		return 0, err
	}
	z, err := cost(long)
	if err != nil {
		return 0, err
	}
	return float64(max(z-a, 0)) / float64(long-short), nil
}

func (b *suite) contestants(t task, s *server) []contestant {
	body := `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 16) + `"}],"model":"mock","stream":` +
		strconv.FormatBool(t.streaming) + `}`
	baseline := func(role string) func(int) (time.Duration, error) {
		return func(requests int) (time.Duration, error) {
			u, err := run(self(), target{strings.TrimPrefix(s.url, "http://"), body, t.clients, int64(requests)}.args(role)...)
			return u.cpu, err
		}
	}
	ours := func(more ...string) func(int) (time.Duration, error) {
		return func(requests int) (time.Duration, error) {
			args := []string{"--url", s.url, "--isl", "16", "--concurrency", strconv.Itoa(t.clients), "--request-count", strconv.Itoa(requests)}
			if t.streaming {
				args = append(args, "--streaming")
			}
			_, u, err := b.profile(append(args, more...)...)
			return u.cpu, err
		}
	}
	list := []contestant{{"raw sockets", baseline("floor"), false}, {"aiperf: records, metrics, JSONL", ours(), true}}
	if b.short {
		return list // what has a budget, and what it is compared with
	}
	list = append(list, contestant{"net/http", baseline("nethttp"), false})
	if t.streaming && captures() {
		list = append(list, contestant{"aiperf with packet stamps", ours("--capture", "on"), false})
	}
	return list
}

// captures reports whether this machine permits a packet capture.
func captures() bool {
	c, err := capture.Open(capture.Options{})
	if err != nil {
		return false
	}
	return c.Close() == nil
}
