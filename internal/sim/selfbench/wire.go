package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"
)

// wireTask has the streams of the first row of the CPU figure, from net/http's server, which supports every protocol.
var wireTask = task{title: "event, 100 streams x 100 tokens/s", tokens: 100, streaming: true, clients: 100, short: 100, long: 500, rounds: 3}

// wireFigure compares protocols: the cost of an event over TLS and over HTTP/2, next to HTTP/1.1 from the same server.
func wireFigure(b *suite) error {
	b.row("unit", "client", "CPU/unit", "ratio", "")
	t := wireTask
	if b.short {
		t.rounds, t.long = 1, t.short+(t.long-t.short)/2
	}
	s, err := startChildServer("wire", strconv.Itoa(t.tokens))
	if err != nil {
		return err
	}
	defer s.stop()
	over := func(name, url string, args ...string) contestant {
		return contestant{name: name, cost: func(requests int) (time.Duration, error) {
			args := append([]string{"--url", url, "--tls-insecure", "--tokenizer", "builtin", "--streaming", "--isl", "16", "--concurrency", strconv.Itoa(t.clients),
				"--request-count", strconv.Itoa(requests)}, args...)
			_, u, err := b.profile(args...)
			return u.cpu, err
		}}
	}
	baseline := func(requests int) (time.Duration, error) {
		u, err := run(self(), target{s.plain, "{}", t.clients, int64(requests)}.args("nethttp2")...)
		return u.cpu, err
	}
	return b.least(t, []contestant{
		over("aiperf, HTTP/1.1", s.plain), over("aiperf, HTTP/1.1 over TLS", s.secret),
		over("aiperf, HTTP/2", s.plain, "--http-version", "2"), over("aiperf, HTTP/2 over TLS", s.secret, "--http-version", "2"),
		{name: "net/http, HTTP/2", cost: baseline},
	})
}

// playWire streams a number of events, 10 ms apart, for every request, over HTTP/1.1 and HTTP/2, plain and over TLS.
func playWire(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected a number of events, got %q", args)
	}
	events, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		next := time.Now()
		for i := range events {
			next = next.Add(10 * time.Millisecond)
			time.Sleep(time.Until(next))
			end := ""
			if i == events-1 {
				end = "data: [DONE]\n\n"
			}
			fmt.Fprintf(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n%s", end)
			if flush() != nil {
				return
			}
		}
	})
	var all http.Protocols
	all.SetHTTP1(true)
	all.SetHTTP2(true)
	all.SetUnencryptedHTTP2(true)
	plain, secret := httptest.NewUnstartedServer(handler), httptest.NewUnstartedServer(handler)
	plain.Config.Protocols, secret.Config.Protocols = &all, &all
	secret.EnableHTTP2 = true
	secret.Config.ErrorLog = log.New(io.Discard, "", 0) // clients disconnect
	plain.Start()
	secret.StartTLS()
	fmt.Println(plain.URL, secret.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// playNetHTTP2 is the standard client over HTTP/2 with prior knowledge.
func playNetHTTP2(args []string) error {
	t, err := parseTarget(args)
	if err != nil {
		return err
	}
	t.addr = strings.TrimPrefix(t.addr, "http://")
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	return playReader(t, &http.Client{Transport: &http.Transport{Protocols: &only, DisableCompression: true}})
}
