package main

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// exporterCount is the number of pages that are read at 3 Hz during the load. Each is as long as that of a vLLM server with two models.
const exporterCount = 8

// flushSeconds is how long pages are read after the load.
const flushSeconds = 2

// exportersFigure runs the same schedule with and without exporters: reading them must not affect the schedule.
func exportersFigure(b *suite) error {
	seconds := 10
	if b.short {
		seconds = 3
	}
	urls, stop, err := exporters(exporterCount)
	if err != nil {
		return err
	}
	defer stop()
	b.row("1000/s poisson", "lag p50", "p99", "max", "client CPU", "a page", "verdict", "aim")
	var alone float64
	for _, list := range [][]string{nil, urls} {
		err := b.withServer(func(s *server) error {
			args := []string{"--url", s.url, "--isl", "16", "--request-rate", "1000", "--arrival-pattern", "poisson", "--benchmark-duration", strconv.Itoa(seconds), "--no-gpu-telemetry"}
			what, aim, page := "no exporters", "the baseline", ""
			if list == nil {
				args = append(args, "--no-server-metrics")
			} else {
				args = append(append(args, "--server-metrics"), list...)
				what, aim = fmt.Sprintf("%d exporters at 3 Hz", len(list)), "same lag as without exporters"
			}
			dir, used, err := b.profile(args...)
			if err != nil {
				return err
			}
			records, err := readRecords(dir)
			if err != nil {
				return err
			}
			v, err := readValidity(dir)
			if err != nil {
				return err
			}
			if cpu := float64(used.cpu); list == nil {
				alone = cpu
			} else {
				page = span((cpu - alone) / float64(3*(seconds+flushSeconds)*len(list)))
			}
			lags := lagsOf(records)
			p50, p99, largest := lags.spread()
			b.row(what, p50, p99, largest, span(float64(used.cpu)), page, v.Verdict, aim)
			return nil
		}, "--ttft=0", "--itl=0", "--tokens=1")
		if err != nil {
			return err
		}
	}
	return nil
}

// exporters starts servers with pages of 200 samples that change with every request.
func exporters(n int) (urls []string, stop func(), err error) {
	var open []*http.Server
	stop = func() {
		for _, s := range open {
			_ = s.Close() // nobody reads from it any more
		}
	}
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, err
		}
		var count atomic.Int64
		s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			looks := count.Add(1)
			var page strings.Builder
			for i := range 40 {
				fmt.Fprintf(&page, "# TYPE g%d gauge\ng%d{model=\"m\"} %d\n# TYPE h%d histogram\nh%d_bucket{le=\"1\"} %d\nh%d_bucket{le=\"+Inf\"} %d\nh%d_sum %d\nh%d_count %d\n",
					i, i, looks, i, i, looks, i, 2*looks, i, 3*looks, i, 2*looks)
			}
			_, _ = w.Write([]byte(page.String())) // the client may have disconnected
		})}
		open = append(open, s)
		go func() { _ = s.Serve(l) }() // ends with Close
		urls = append(urls, "http://"+l.Addr().String()+"/metrics")
	}
	return urls, stop, nil
}
