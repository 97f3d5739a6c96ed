// Package exporters reads the metrics of the servers, the GPUs, the network and this machine during a run, and writes them to its files.
package exporters

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/redact"
	"aiperf/internal/config"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/message"
	"aiperf/internal/sim/mockserver"
	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/gpu"
	"aiperf/internal/telemetry/machine"
	"aiperf/internal/telemetry/network"
	"aiperf/internal/telemetry/servermetrics"
	"aiperf/internal/telemetry/timeline"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
)

// Collection is the component that reads exporters during the run: those of GPUs and those of the servers. It never waits for the load. The
// load waits for it only before a phase begins, for at most boundaryTime.
type Collection struct {
	Options
	client  *telemetry.Client
	gpu     *gpu.Collector           // nil = not collected
	servers *servermetrics.Collector // nil = not collected
	network *network.Probes          // nil = not collected
	machine *machine.Watcher         // nil = this system does not provide the figures
	files   []*artifact.Lines
}

// Options says what is read and where the readings go.
type Options struct {
	Config  *config.Benchmark
	Version string // of this program
	Secrets *redact.Secrets
	URLs    []string // of the servers
	Layout  artifact.Layout
	Seconds *timeline.Timeline
	Say     *message.Reporter
}

// New returns a component that reads nothing before its start.
func New(o Options) *Collection {
	return &Collection{Options: o}
}

// Time limits for readings that the run waits for.
const (
	boundaryTime = time.Second     // for the reading before a phase
	topUpTime    = 5 * time.Second // for the network probes that are still missing
	finalTime    = 5 * time.Second // for the last reading of GPUs
)

// Start implements component: it looks for exporters and reads each of them once.
func (w *Collection) Start(ctx context.Context) error {
	b := w.Config
	w.machine = machine.Start(w.lines(w.Layout.ClientMachine()))
	if n := &b.NetworkLatency; n.Enabled && n.MeanMs == nil {
		tuning := b.Environment.Network
		w.network = network.New(network.Options{
			URLs: w.httpServers(), Interval: n.PingInterval.Duration(), Timeout: tuning.ConnectTimeout.Duration(), Least: tuning.MinSamples,
			Line: w.lines(w.Layout.NetworkLatency()),
		})
	}
	secure, err := w.secure()
	if err != nil {
		return err
	}
	w.client = telemetry.NewClient("aiperf/"+w.Version, secure)
	var both sync.WaitGroup
	if b.GPUTelemetry.Enabled {
		open, err := w.gpuCollector(ctx)
		if err != nil {
			return err
		}
		both.Go(open)
	}
	if b.ServerMetrics.Enabled {
		tuning := b.Environment.Server
		o := servermetrics.Options{
			Client: w.client, Servers: w.metricsServers(), URLs: b.ServerMetrics.URLs,
			Cadence: w.cadence(tuning.CollectionInterval.Duration()), Reachable: tuning.ReachabilityTimeout.Duration(), Warn: w.Say.Warn, Log: w.Say.Log,
			Silence: b.As("server_metrics.enabled") + " turns server metrics off", Addresses: b.As("server_metrics.urls"),
		}
		if w.format("jsonl") {
			o.Line = w.lines(w.Layout.ServerMetrics("jsonl"))
		}
		both.Go(func() {
			o.Found = w.inCluster(ctx)
			w.servers = servermetrics.Open(ctx, o)
		})
	}
	both.Wait()
	return nil
}

// secure returns the TLS configuration for exporters: that of the requests for the servers of the run, and the same without client credentials for
// other hosts.
func (w *Collection) secure() (func(address string) *tls.Config, error) {
	o := connection.Options(w.Config, nil)
	own, err := o.SideTLS(true)
	if err != nil {
		return nil, connection.SpellSetting(w.Config, err)
	}
	other, err := o.SideTLS(false)
	if err != nil {
		return nil, connection.SpellSetting(w.Config, err)
	}
	servers := map[string]bool{}
	for _, raw := range w.URLs {
		if t, err := transport.NewTarget(raw); err == nil {
			servers[t.Address()] = true
		}
	}
	return func(address string) *tls.Config {
		if servers[address] {
			return own
		}
		return other
	}, nil
}

// Programs that print the figures of the GPUs of this machine. AMD's is a script that takes a good part of a second, so it runs at most once per
// amdPace.
const (
	smiCommand    = "nvidia-smi"
	amdSMICommand = "amd-smi"
	amdPace       = time.Second
)

// gpuCollector creates the collector of GPU figures. The returned function looks for exporters; the collector of this machine is already open.
func (w *Collection) gpuCollector(ctx context.Context) (open func(), err error) {
	b, tuning := w.Config, w.Config.Environment.GPU
	o := gpu.Options{
		Client: w.client, URLs: telemetry.URLs(b.GPUTelemetry.URLs), Pods: b.GPUTelemetry.Pods, Defaults: slices.Concat(tuning.DefaultDCGMEndpoints, w.simulatedGPUs()),
		Cadence: w.cadence(tuning.CollectionInterval.Duration()), Reachable: tuning.ReachabilityTimeout.Duration(),
		Line: w.lines(w.Layout.GPUTelemetry()), Warn: w.Say.Warn, Log: w.Say.Log, Silence: b.As("gpu_telemetry.enabled") + " turns GPU telemetry off",
	}
	switch b.GPUTelemetry.Collector {
	case "pynvml", "amdsmi":
		if w.elsewhere() {
			w.Say.Warn("the GPU metrics are from this machine, but the server runs on another one")
		}
		if b.GPUTelemetry.Collector == "pynvml" {
			w.gpu, err = gpu.OpenSMI(ctx, o, smiCommand)
		} else {
			o.Cadence = w.cadence(max(tuning.CollectionInterval.Duration(), amdPace))
			w.gpu, err = gpu.OpenAMD(ctx, o, amdSMICommand)
		}
		if err != nil { // as in AIPerf 0.13, a machine without GPUs does not end the run
			w.Say.Warn(fmt.Sprintf("%s %s: %v; the run continues without GPU metrics", b.As("gpu_telemetry.urls"), b.GPUTelemetry.Collector, err))
		}
		return func() {}, nil
	case "dcgm":
		o.More, err = w.customFields()
		if b.Artifacts.OldFiles != "" { // only for runs in GenAI-Perf's formats
			o.More = slices.Concat(gpu.Old, o.More)
		}
		return func() { w.gpu = gpu.Open(ctx, o) }, err
	}
	e, ok, err := plugin.Installed().Choose(gpu.Category, b.GPUTelemetry.Collector, false)
	if err == nil && !ok {
		err = errors.New("there is no such collector")
	}
	if err == nil {
		w.gpu, err = gpu.OpenExternal(ctx, o, &e)
	}
	if err != nil { // the user named it, so its metrics are wanted
		return nil, fmt.Errorf("%s %s: %w", b.As("gpu_telemetry.urls"), b.GPUTelemetry.Collector, err)
	}
	return func() {}, nil
}

// simulatedGPUs returns the exporters of the simulated servers that have GPUs.
func (w *Collection) simulatedGPUs() (list []string) {
	for i, asked := range w.Config.Endpoint.URLs {
		u, err := url.Parse(asked)
		if err != nil || !strings.HasPrefix(asked, mockserver.Scheme) {
			continue
		}
		if o, err := mockserver.ParseQuery(u.RawQuery); err == nil && o.DCGM > 0 {
			list = append(list, w.URLs[i]+"/dcgm")
		}
	}
	return list
}

// elsewhere reports whether some server is on another machine.
func (w *Collection) elsewhere() bool {
	return slices.ContainsFunc(w.httpServers(), func(text string) bool {
		u, err := url.Parse(text)
		if err != nil {
			return false
		}
		ip := net.ParseIP(u.Hostname())
		return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
	})
}

// customFields reads the file of additional GPU figures, if there is one.
func (w *Collection) customFields() ([]gpu.Field, error) {
	path := w.Config.GPUTelemetry.MetricsFile
	if path == "" {
		return nil, nil
	}
	fields, warnings, err := gpu.ReadCustom(path)
	for _, text := range warnings {
		w.Say.Warn(text)
	}
	return fields, err
}

// cadence returns how often exporters are read. An exporter that has not answered after a hundred intervals is given up.
func (w *Collection) cadence(interval time.Duration) telemetry.Cadence {
	return telemetry.Cadence{Interval: interval, Timeout: min(max(100*interval, time.Second), 10*time.Second)}
}

// httpServers returns the servers that may have a metrics page next to their API.
func (w *Collection) httpServers() (list []string) {
	for _, u := range w.URLs {
		if !strings.Contains(u, "://") || strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://") {
			list = append(list, u)
		}
	}
	return list
}

func (w *Collection) format(name string) bool {
	return slices.Contains(w.Config.ServerMetrics.Formats, name)
}

// lines returns the writer of a file of lines.
func (w *Collection) lines(path string) func([]byte) {
	file := artifact.NewLines(path)
	w.files = append(w.files, file)
	return func(line []byte) { file.Write(w.Secrets.JSON(line)) }
}

// watches returns the watches that read an exporter.
func (w *Collection) watches() (list []*telemetry.Watch) {
	if w.gpu != nil {
		list = append(list, w.gpu.Watch)
	}
	if w.servers != nil {
		list = append(list, w.servers.Watch)
	}
	return list
}

// each calls a function for all watches concurrently.
func (w *Collection) each(do func(*telemetry.Watch)) {
	var all sync.WaitGroup
	for _, one := range w.watches() {
		all.Go(func() { do(one) })
	}
	all.Wait()
}

// Before takes the reading with which the counters of a measured phase are compared.
func (w *Collection) Before(ctx context.Context, p *load.PhaseInfo) {
	if p.Warmup || p.Seamless {
		return
	}
	var all sync.WaitGroup
	if w.gpu != nil {
		all.Go(func() { w.gpu.Once(ctx, boundaryTime) })
	}
	if w.servers != nil {
		all.Go(func() { w.servers.Once(ctx, boundaryTime) })
	}
	all.Wait()
}

// PhaseStart implements component.
func (w *Collection) PhaseStart(p *load.PhaseInfo) {
	if w.servers != nil {
		w.servers.Enter(&servermetrics.Phase{Name: p.Name, Warmup: p.Warmup, Index: p.Index, Profiling: p.Profiling})
	}
	for _, one := range w.watches() {
		one.Begin()
	}
	if w.network != nil && !p.Warmup {
		w.network.Begin()
	}
}

// PhaseEnd implements component.
func (w *Collection) PhaseEnd(*load.PhaseStats) {
	for _, one := range w.watches() {
		one.Kick()
	}
}

// Finish takes the last readings: of GPUs at once, of servers after they have had time to publish late counts.
func (w *Collection) Finish(ctx context.Context) {
	if w.gpu != nil {
		w.gpu.Once(ctx, finalTime)
		w.gpu.Stop()
	}
	if w.network != nil {
		limited, cancel := context.WithTimeout(ctx, topUpTime)
		w.network.Finish(limited)
		cancel()
	}
	if w.servers == nil {
		return
	}
	if flush := w.Config.Environment.Server.FlushPeriod.Duration(); flush > 0 && w.servers.Answered() {
		w.readLateCounts(ctx, flush)
	}
	w.servers.Once(ctx, w.Config.Environment.Server.ScrapeTimeout.Duration())
	w.servers.Stop()
}

// readLateCounts keeps reading until servers have published late counts. Simulated servers have done so when they report that no request is running.
func (w *Collection) readLateCounts(ctx context.Context, flush time.Duration) {
	limited, cancel := context.WithTimeout(ctx, flush)
	defer cancel()
	if !w.simulated() {
		w.Say.Log.Info("server metrics: still reading, because servers count some requests late", "seconds", flush.Seconds())
		<-limited.Done()
		return
	}
	const pause = 10 * time.Millisecond
	for {
		w.servers.Once(limited, flush)
		if running, known := w.servers.Latest(servermetrics.Running); !known || running == 0 {
			return
		}
		select {
		case <-time.After(pause):
		case <-limited.Done():
			return
		}
	}
}

// simulated reports whether all servers are simulated.
func (w *Collection) simulated() bool {
	for _, u := range w.Config.Endpoint.URLs {
		if !strings.HasPrefix(u, mockserver.Scheme) {
			return false
		}
	}
	return len(w.Config.ServerMetrics.URLs) == 0
}

// Stop implements component.
func (w *Collection) Stop(context.Context) error {
	w.each((*telemetry.Watch).Stop)
	if w.gpu != nil {
		w.gpu.Stop()
	}
	w.machine.Stop()
	w.client.Close()
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
