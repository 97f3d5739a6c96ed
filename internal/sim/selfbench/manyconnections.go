package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func burstFigure(b *suite) error {
	const requests = 1000
	b.row("requests", "first to last send", "a bare thread, for comparison", "aim")
	for range 5 {
		err := b.withServer(func(s *server) error {
			dir, _, err := b.profile("--url", s.url, "--isl", "16", "--concurrency", strconv.Itoa(requests), "--request-count", strconv.Itoa(requests))
			if err != nil {
				return err
			}
			list, err := readRecords(dir)
			if err != nil {
				return err
			}
			var sends sample
			for _, r := range list {
				sends.add(r.Metadata.Start)
			}
			bare, err := bareBurst(strings.TrimPrefix(s.url, "http://"), requests)
			if err != nil {
				return err
			}
			b.row(len(sends), span(sends.at(1)-sends.at(0)), span(float64(bare)), "< 20 ms")
			return nil
		}, "--ttft=500ms", "--itl=0", "--tokens=1")
		if err != nil {
			return err
		}
	}
	return nil
}

func crowdFigure(b *suite) error {
	b.row("streams", "addresses", "tokens/s each", "finished", "largest delay of an answer p50", "p99", "max", "memory", "aim")
	for _, c := range []struct {
		streams, addresses, tokens int
		itl                        time.Duration
		aim                        string
	}{
		{1000, 1, 100, 50 * time.Millisecond, ""},
		{10000, 4, 20, time.Second, "< 1.5 GB, no stream starves"},
	} {
		if b.short {
			c.streams /= 10
		}
		if err := b.crowd(c.streams, c.addresses, c.tokens, c.itl, c.aim); err != nil {
			return err
		}
	}
	return nil
}

// crowd opens streams to servers on several loopback addresses and reports how much longer than planned the answers took.
func (b *suite) crowd(streams, addresses, tokens int, itl time.Duration, aim string) (err error) {
	var urls []string
	for i := range addresses {
		s, err := b.serve("--host", fmt.Sprintf("127.0.0.%d", i+1), "--ttft="+itl.String(), "--itl="+itl.String(), "--tokens="+strconv.Itoa(tokens))
		if err != nil {
			return err
		}
		defer s.stop()
		urls = append(urls, s.url)
	}
	n := strconv.Itoa(streams)
	args := []string{"--streaming", "--isl", "16", "--concurrency", n, "--request-count", n}
	for _, u := range urls {
		args = append(args, "--url", u)
	}
	dir, u, err := b.profile(args...)
	if err != nil {
		return err
	}
	list, err := readRecords(dir)
	if err != nil {
		return err
	}
	var late sample
	for _, r := range list {
		late.add(r.Metadata.End - r.Metadata.Start - int64(tokens)*int64(itl))
	}
	p50, p99, largest := late.spread()
	b.row(streams, addresses, fmt.Sprintf("%.3g", 1/itl.Seconds()), len(list), p50, p99, largest, size(u.peak), aim)
	return nil
}

func millionFigure(b *suite) error {
	requests := 1_000_000
	if b.short {
		requests /= 20
	}
	b.row("requests", "time", "requests/s", "CPU/request", "memory", "aim")
	return b.withServer(func(s *server) error {
		n := strconv.Itoa(requests)
		_, u, err := b.profile("--url", s.url, "--isl", "4", "--num-prompts", "1000", "--concurrency", "32", "--request-count", n)
		if err != nil {
			return err
		}
		b.row(n, u.wall.Round(time.Second), fmt.Sprintf("%.0f", float64(requests)/u.wall.Seconds()),
			span(float64(u.cpu)/float64(requests)), size(u.peak), "< 1 GB")
		return nil
	}, "--ttft=0", "--itl=0", "--tokens=1")
}
