// Package network measures the round trip to the servers with new TCP connections. Rules: telemetry, section 3.
package network

import (
	"context"
	"net"
	"net/url"
	"sync"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/stats"
	"aiperf/internal/telemetry"
)

// Options selects the servers to probe and how often.
type Options struct {
	URLs     []string      // of the servers
	Interval time.Duration // between two probes of a target
	Timeout  time.Duration // of one probe
	Least    int           // number of successful probes of each target for the mean
	Line     func([]byte)  // receives lines of the file of probes, one at a time
}

// Probes measures round trips until it is stopped.
type Probes struct {
	Options
	targets []*target
	ctx     context.Context
	end     context.CancelFunc
	begin   sync.Once
	wg      sync.WaitGroup

	mu   sync.Mutex
	rtts []float64 // ns, of successful probes
}

// target is one host and port.
type target struct {
	url, host, port string
	address         string // resolved once; "" = not yet
	good            int
}

// New returns probes of every distinct host and port.
func New(o Options) *Probes {
	p := &Probes{Options: o}
	p.ctx, p.end = context.WithCancel(context.Background())
	seen := map[string]bool{}
	for _, address := range o.URLs {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" {
			continue
		}
		port := u.Port()
		if port == "" {
			port = "80"
			if u.Scheme == "https" {
				port = "443"
			}
		}
		if key := net.JoinHostPort(u.Hostname(), port); !seen[key] {
			seen[key] = true
			p.targets = append(p.targets, &target{url: telemetry.Shown(address), host: u.Hostname(), port: port})
		}
	}
	return p
}

// Begin starts the probes, at once and then at the interval. Further calls do nothing.
func (p *Probes) Begin() {
	p.begin.Do(func() {
		for _, t := range p.targets {
			p.wg.Go(func() {
				tick := time.NewTicker(p.Interval)
				defer tick.Stop()
				for p.ctx.Err() == nil {
					p.probe(p.ctx, t)
					select {
					case <-tick.C:
					case <-p.ctx.Done():
					}
				}
			})
		}
	})
}

// Finish ends the periodic probes and adds missing ones until the context ends: at most twice the required number per target.
func (p *Probes) Finish(ctx context.Context) {
	p.end()
	p.wg.Wait()
	var all sync.WaitGroup
	for _, t := range p.targets {
		all.Go(func() {
			for n := 0; n < 2*p.Least && t.good < p.Least && ctx.Err() == nil; n++ {
				p.probe(ctx, t)
			}
		})
	}
	all.Wait()
}

// Mean returns the mean round trip in ns; false if no probe succeeded.
func (p *Probes) Mean() (float64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return stats.Mean(p.rtts), len(p.rtts) > 0
}

// probe opens a connection and closes it.
func (p *Probes) probe(ctx context.Context, t *target) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	err := t.resolve(ctx)
	at := time.Now()
	var took time.Duration
	if err == nil {
		var c net.Conn
		c, err = (&net.Dialer{}).DialContext(ctx, "tcp", t.address)
		if took = time.Since(at); err == nil {
			_ = c.Close() // nothing was sent
			t.good++
		}
	}
	if err != nil && p.ctx.Err() != nil && ctx.Err() == context.Canceled { // cancelled by the end of the run
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.rtts = append(p.rtts, float64(took))
	}
	p.Line(t.line(at, took, err))
}

// resolve resolves the host, once.
func (t *target) resolve(ctx context.Context) error {
	if t.address != "" {
		return nil
	}
	list, err := net.DefaultResolver.LookupHost(ctx, t.host)
	if err == nil {
		t.address = net.JoinHostPort(list[0], t.port)
	}
	return err
}

// line returns a line of profile_export_network_latency.jsonl.
func (t *target) line(at time.Time, took time.Duration, err error) []byte {
	o := jsontext.Open(nil)
	o.Int("timestamp_ns", at.UnixNano())
	o.Text("target_url", t.url)
	o.Text("target_host", t.host)
	port, _ := net.LookupPort("tcp", t.port) // the port was part of a valid URL
	o.Int("target_port", int64(port))
	o.Text("probe_type", "tcp_connect")
	if err == nil {
		o.Int("rtt_ns", int64(took))
		o.Bool("success", true)
		o.Raw("error", []byte("null"))
	} else {
		o.Raw("rtt_ns", []byte("null"))
		o.Bool("success", false)
		o.Text("error", err.Error())
	}
	return append(o.Close(), '\n')
}
