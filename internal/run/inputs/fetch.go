package inputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"aiperf/internal/config"
	"aiperf/internal/run/connection"
	"aiperf/internal/workload/dataset/custom"
)

// fetcher downloads the media of a file before the run, for endpoint types that send content instead of addresses. It has its own connections: they
// are not measured and carry no credentials of the endpoint. They use the trusted certificates and the proxy of the run, or else the proxy of the
// environment.
func fetcher(ctx context.Context, agent string, b *config.Benchmark) func(addresses []string, got func(int, custom.Download)) {
	tuning := b.Environment.Dataset
	over, bad := connection.Options(b, nil).Downloads()
	if bad != nil {
		bad, over = connection.SpellSetting(b, bad), new(http.Transport)
	}
	client := &http.Client{Transport: over, Timeout: tuning.MediaDownloadTimeout.Duration()}
	return func(addresses []string, got func(int, custom.Download)) {
		defer over.CloseIdleConnections()
		next := make(chan int)
		var workers sync.WaitGroup
		var one sync.Mutex // results are handed over one at a time
		for range min(max(1, tuning.MediaDownloadMax), len(addresses)) {
			workers.Go(func() {
				for i := range next {
					d := custom.Download{Err: bad}
					if bad == nil {
						d = fetch(ctx, client, agent, addresses[i], int64(b.Environment.HTTP.MaxResponseBytes))
					}
					one.Lock()
					got(i, d)
					one.Unlock()
				}
			})
		}
		for i := range addresses {
			next <- i
		}
		close(next)
		workers.Wait()
	}
}

// fetch downloads one address, at most limit bytes.
func fetch(ctx context.Context, client *http.Client, agent, address string, limit int64) (d custom.Download) {
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		d.Err = errors.New("only http and https addresses can be fetched")
		return d
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		d.Err = err
		return d
	}
	req.Header.Set("User-Agent", agent)
	resp, err := client.Do(req)
	if err != nil {
		d.Err = err
		return d
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		d.Err = fmt.Errorf("the server answered %s", resp.Status)
		return d
	}
	d.Media, _, _ = strings.Cut(resp.Header.Get("Content-Type"), ";")
	if d.Content, d.Err = io.ReadAll(io.LimitReader(resp.Body, limit+1)); int64(len(d.Content)) > limit {
		d.Err = fmt.Errorf("it is larger than %d bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES)", limit)
	}
	return d
}
