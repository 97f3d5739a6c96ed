package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The closed loop: each of some slots sends its next request as soon as it has an answer, and the server answers at once with one token.
const (
	loopSlots  = 16
	loopTitle  = "closed loop of 16, 1 token"
	loopBudget = loopTitle + ", raw sockets / aiperf"
)

const loopBody = `{"messages":[{"role":"user","content":"hello"}],"model":"mock","max_tokens":1}`

// closedLoopFigure compares how many requests per second clients reach. It calls hey and wrk where they are installed.
func closedLoopFigure(b *suite) error {
	requests := 60_000
	if b.short {
		requests /= 4
	}
	b.row("load", "client", "requests/s", "ratio to aiperf's", "slots in use", "budget")
	return b.withServer(func(s *server) error {
		ours, slots, err := b.closedLoop(s, requests)
		if err != nil {
			return err
		}
		b.row(loopTitle, "aiperf: records, metrics, JSONL", fmt.Sprintf("%.0f", ours), "1.00", fmt.Sprintf("%.1f", slots), "")
		roles := []string{"floor", "nethttp"}
		if b.short {
			roles = roles[:1] // only its ratio has a budget
		}
		for _, role := range roles {
			u, err := run(self(), target{strings.TrimPrefix(s.url, "http://"), loopBody, loopSlots, int64(requests)}.args(role)...)
			if err != nil {
				return err
			}
			b.rateRow(role, float64(requests)/u.wall.Seconds(), ours)
		}
		if b.short {
			return nil
		}
		return b.otherTools(s.url+chatPath, requests, ours)
	}, "--ttft=0", "--itl=0", "--tokens=1")
}

// otherTools prints the rates of hey and wrk, where they are installed.
func (b *suite) otherTools(url string, requests int, ours float64) error {
	for _, tool := range []struct {
		name string
		rate func(url string, requests int) (float64, error)
	}{{"hey", heyRate}, {"wrk", b.wrkRate}} {
		if _, err := exec.LookPath(tool.name); err != nil {
			continue
		}
		theirs, err := tool.rate(url, requests)
		if err != nil {
			return err
		}
		b.rateRow(tool.name, theirs, ours)
	}
	return nil
}

// rateRow prints another client's rate. Only the ratio to raw sockets has a budget, because they are always there.
func (b *suite) rateRow(client string, theirs, ours float64) {
	budget := ""
	if client == "floor" {
		client, budget = "raw sockets", b.budgets.of(loopBudget)
		if problem := b.budgets.exceeded(loopBudget, theirs/ours); problem != "" {
			b.problems = append(b.problems, problem)
		}
	}
	b.row(loopTitle, client, fmt.Sprintf("%.0f", theirs), fmt.Sprintf("%.2f", theirs/ours), "", budget)
}

// closedLoop returns the rate that the program under test reports, and how many of its slots waited for an answer.
func (b *suite) closedLoop(s *server, requests int) (perSecond, slots float64, err error) {
	dir, _, err := b.profile("--url", s.url, "--isl", "16", "--concurrency", strconv.Itoa(loopSlots), "--request-count", strconv.Itoa(requests))
	if err != nil {
		return 0, 0, err
	}
	var summary struct {
		Throughput  struct{ Avg float64 } `json:"request_throughput"`
		Concurrency struct{ Avg float64 } `json:"effective_concurrency"`
	}
	err = readSummary(dir, &summary)
	return summary.Throughput.Avg, summary.Concurrency.Avg, err
}

func heyRate(url string, requests int) (float64, error) {
	return printedRate("hey", "-n", strconv.Itoa(requests), "-c", strconv.Itoa(loopSlots), "-m", "POST", "-T", "application/json", "-d", loopBody, url)
}

func (b *suite) wrkRate(url string, _ int) (float64, error) {
	script := filepath.Join(b.dir, "post.lua")
	text := fmt.Sprintf("wrk.method = 'POST'\nwrk.body = '%s'\nwrk.headers['Content-Type'] = 'application/json'\n", loopBody)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return 0, err
	}
	return printedRate("wrk", "-t", "2", "-c", strconv.Itoa(loopSlots), "-d", "3s", "-s", script, url)
}

// printedRate runs a client that prints "Requests/sec: N". hey and wrk do, and also say if answers failed.
func printedRate(name string, args ...string) (float64, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", name, err, tail(out))
	}
	rate, err := rateOf(string(out))
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", name, err, tail(out))
	}
	return rate, nil
}

func rateOf(printed string) (float64, error) {
	for _, trouble := range []string{"Error distribution", "Non-2xx", "Socket errors"} {
		if strings.Contains(printed, trouble) {
			return 0, errors.New("some requests failed")
		}
	}
	_, rest, found := strings.Cut(printed, "Requests/sec:")
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		return 0, errors.New("it printed no rate")
	}
	return strconv.ParseFloat(words[0], 64)
}
