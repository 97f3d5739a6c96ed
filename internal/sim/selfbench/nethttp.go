package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// playNetHTTP is the obvious reader: the standard client and a line scanner. It parses nothing and stores nothing.
func playNetHTTP(args []string) error {
	t, err := parseTarget(args)
	if err != nil {
		return err
	}
	return playReader(t, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: t.clients, DisableCompression: true}})
}

// playReader reads the answers with a client and prints the number of events.
func playReader(t target, client *http.Client) error {
	var events atomic.Int64
	err := t.each(func(next func() bool) error {
		for next() {
			n, err := readAnswer(client, t)
			if err != nil {
				return err
			}
			events.Add(n)
		}
		return nil
	})
	fmt.Println(events.Load(), "events")
	return err
}

func readAnswer(client *http.Client, t target) (events int64, err error) {
	resp, err := client.Post("http://"+t.addr+chatPath, "application/json", strings.NewReader(t.body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		_, err = io.Copy(io.Discard, resp.Body)
		return 0, err
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), eventMark) {
			events++
		}
	}
	return events, lines.Err()
}
