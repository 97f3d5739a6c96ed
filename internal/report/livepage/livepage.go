// Package livepage serves the live page: the page of a run in progress, which browsers receive every second as server-sent events. Only what has
// changed is sent. A browser that does not read gets the latest state once it reads again; nothing is queued for it.
package livepage

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/report/htmlreport"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/telemetry/promserver"
)

// Default is the port of the page if the user names none; a free one is taken if it is in use.
const Default = "8090"

// Auto is the address that stands for loopback and the default port.
const Auto = "auto"

// Limits of the server.
const (
	pace         = time.Second            // between two messages
	maxClients   = 50                     // browsers at the same time
	writeLimit   = 10 * time.Second       // time for a browser to accept a message
	longest      = 10 * time.Minute       // time of any other answer
	farewellTime = 5 * time.Second        // time for browsers to fetch the report at the end
	noticeTime   = 500 * time.Millisecond // time for browsers to take the last message
)

// Options describes the server.
type Options struct {
	Address string // HOST:PORT, or Auto
	Token   string // every path but the open ones needs it
	Chosen  bool   // the user chose the token, so that it is not printed
	Version string // of the program
	Open    func(path string) bool
}

// Source is what the page shows: a run in progress.
type Source struct {
	Fill  func(*liveview.State) // called by one goroutine at a time
	Label string                // of a run of a series
	API   http.Handler          // answers all other paths; nil = not found; see Serve
}

// Server serves the page of one run after the other.
type Server struct {
	options Options
	guard   *promserver.AccessGuard
	server  *promserver.Server
	stop    chan struct{}
	done    chan struct{}

	mu      sync.Mutex // guards everything below
	source  *Source    // nil = no run is in progress
	state   liveview.State
	begun   bool // there is a state
	dir     string
	series  *htmlreport.LiveSeries // nil = a single run
	from    time.Time              // when the present run began
	taken   time.Duration          // time of the finished runs of the series
	ran     int                    // their number, without those from before
	over    bool
	final   *runfiles.Summary
	clients map[*client]struct{}
	parts   map[string]part
	number  int     // of the present state
	seconds float64 // that the clock of the page covers
}

// part is a part of the page with the number of the state that changed it.
type part struct {
	text   json.RawMessage
	number int
}

// client is a browser that receives messages.
type client struct {
	wake chan struct{} // holds at most one note: there is something new
	sent int           // number of the state that the browser has; used by its own goroutine
}

// Listen starts the server.
func Listen(ctx context.Context, o Options) (*Server, error) {
	s := &Server{options: o, stop: make(chan struct{}), done: make(chan struct{}), clients: map[*client]struct{}{}, parts: map[string]part{}}
	addresses := []string{o.Address}
	if o.Address == Auto {
		addresses = []string{net.JoinHostPort("127.0.0.1", Default), "127.0.0.1:0"}
	}
	var err error
	for _, address := range addresses {
		host, _, bad := net.SplitHostPort(address)
		if bad != nil {
			return nil, bad
		}
		s.guard = &promserver.AccessGuard{Token: o.Token, Host: host, Open: o.Open}
		if s.server, err = promserver.Listen(ctx, address, longest, s.guard.Wrap(s.handler())); err == nil {
			go s.run()
			return s, nil
		}
	}
	return nil, err
}

// Address returns the address of the page, with the token if that was not given by the user.
func (s *Server) Address(withToken bool) string {
	if address := s.server.URL() + "/"; !withToken {
		return address
	}
	return s.guard.Address(s.server.URL() + "/")
}

// Reachable reports whether other machines can reach the page.
func (s *Server) Reachable() bool {
	ip := net.ParseIP(s.guard.Host)
	return s.guard.Host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// ShowSeries makes the page that of a series of runs.
func (s *Server) ShowSeries(series htmlreport.LiveSeries) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.series = &series
}

// AddRun adds a run of the series that was measured before.
func (s *Server) AddRun(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.series != nil {
		s.series.Add(dir)
	}
}

// remaining estimates the time that the series still takes, from its finished runs; negative = unknown. The caller holds the mutex.
func (s *Server) remaining() time.Duration {
	left := s.series.Planned - s.series.Finished()
	if s.ran == 0 || s.series.Planned == 0 || left < 0 {
		return -1
	}
	each := s.taken / time.Duration(s.ran)
	all := each * time.Duration(left)
	if s.source != nil {
		all -= min(time.Since(s.from), each)
	}
	return all
}

// Link returns the address that the user opens, with the token unless the user chose it. It is "" without a server.
func (s *Server) Link() string {
	if s == nil {
		return ""
	}
	return s.Address(!s.options.Chosen)
}

// Begin shows a run. It replaces the one before.
func (s *Server) Begin(source Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.source, s.state, s.dir, s.final, s.from = &source, liveview.State{}, "", nil, time.Now()
	if s.series != nil {
		s.series.Label = source.Label
	}
	s.sample()
	s.publish()
}

// Serve sets what answers the paths of the API for the present run.
func (s *Server) Serve(api http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.source != nil {
		s.source.API = api
	}
}

// End keeps the last state of the present run. dir is the directory of its files; "" = it has none.
func (s *Server) End(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.source == nil {
		return
	}
	s.sample()
	s.source, s.dir = nil, dir
	if dir != "" {
		if sum, err := runfiles.Open(dir).Summary(); err == nil {
			s.final = sum
		}
		if s.series != nil {
			s.series.Add(dir)
			s.taken, s.ran = s.taken+time.Since(s.from), s.ran+1
		}
	}
	s.publish()
}

// Close tells all browsers that nothing more comes, waits a moment until they have the report, and ends the server.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.over = true
	s.publish()
	s.mu.Unlock()
	for from := time.Now(); time.Since(from) < farewellTime && s.fetching(time.Since(from) < noticeTime) && ctx.Err() == nil; {
		time.Sleep(20 * time.Millisecond)
	}
	return s.Leave(ctx)
}

// Leave ends the server of a run that continues without it. Browsers keep the last state and try to connect again.
func (s *Server) Leave(ctx context.Context) error {
	close(s.stop)
	<-s.done
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), noticeTime)
	defer cancel()
	return s.server.Close(limited)
}

// Clients returns the number of browsers that receive messages.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}

// fetching reports whether browsers still need the server at the end: those that have taken the last message, and all for a moment. A browser that
// sleeps is not waited for.
func (s *Server) fetching(all bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		if all || c.sent == s.number {
			return true
		}
	}
	return false
}

// run samples the state every second, also while nobody watches: the lanes need the whole phase.
func (s *Server) run() {
	defer close(s.done)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.mu.Lock()
			s.sample()
			s.publish()
			s.mu.Unlock()
		}
	}
}

// sample reads the state of the run. The caller holds the mutex.
func (s *Server) sample() {
	if s.source != nil {
		s.source.Fill(&s.state)
		s.begun = true
	}
}

// live returns what the page shows now. The caller holds the mutex.
func (s *Server) live() *htmlreport.Live {
	if s.series != nil {
		s.series.Left = s.remaining()
	}
	return &htmlreport.Live{State: &s.state, Final: s.final, Series: s.series, Ended: s.over, Version: s.options.Version}
}

// publish makes the parts of the page and wakes the browsers. Without a browser it does nothing. The caller holds the mutex.
func (s *Server) publish() {
	if len(s.clients) == 0 || !s.begun {
		return
	}
	list, seconds, err := s.live().Parts()
	if err != nil { // a state always has parts; a browser would miss one second
		return
	}
	s.number++
	s.seconds = seconds
	for _, p := range list {
		if old, ok := s.parts[p.ID]; !ok || string(old.text) != string(p.Text) {
			s.parts[p.ID] = part{p.Text, s.number}
		}
	}
	for c := range s.clients {
		select {
		case c.wake <- struct{}{}:
		default: // it has not taken the note before
		}
	}
}

// message is what a browser receives.
type message struct {
	Number  int                        `json:"number"`
	Title   string                     `json:"title"`
	Seconds float64                    `json:"seconds"`
	Over    bool                       `json:"over"`
	Parts   map[string]json.RawMessage `json:"parts"`
}

// next returns the message that brings a browser from the state that it has to the present one.
func (s *Server) next(c *client) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := message{Number: s.number, Title: s.title(), Seconds: s.seconds, Over: s.over, Parts: map[string]json.RawMessage{}}
	for id, p := range s.parts {
		if p.number > c.sent {
			m.Parts[id] = p.text
		}
	}
	c.sent = s.number
	return jsontext.Marshal(m)
}

// title returns the title of the browser's tab.
func (s *Server) title() string {
	switch {
	case s.over:
		return "done · aiperf"
	case s.state.Known && s.state.Stage != liveview.Starting:
		return fmt.Sprintf("%.0f %% · aiperf", 100*s.state.Share)
	}
	return s.state.Stage.String() + " · aiperf"
}

// handler serves the page.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /report.html", s.report)
	mux.HandleFunc("/", s.api)
	return mux
}

// policy lets a browser run only the page's own script, which asks only this server.
const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"

func protect(w http.ResponseWriter, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	protect(w, "text/html; charset=utf-8")
	_, _ = w.Write(htmlreport.LivePage()) // an error means that the browser has gone
}

// api passes other requests to the API of the present run.
func (s *Server) api(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	source := s.source
	s.mu.Unlock()
	if source == nil || source.API == nil {
		http.Error(w, "no run is in progress", http.StatusNotFound)
		return
	}
	source.API.ServeHTTP(w, r)
}

// report sends the report of the finished run, or the present state as a separate page.
func (s *Server) report(w http.ResponseWriter, _ *http.Request) {
	text, err := s.reportPage()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	protect(w, "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="aiperf-report.html"`)
	_, _ = w.Write(text) // an error means that the browser has gone
}

func (s *Server) reportPage() ([]byte, error) {
	s.mu.Lock()
	dir, begun, over, series := s.dir, s.begun, s.over, s.series
	s.mu.Unlock()
	if over && series != nil && series.Cell == nil && series.Finished() > 0 {
		return series.Report(s.options.Version)
	}
	if dir != "" && series == nil {
		if _, err := os.Stat(dir); err == nil {
			return htmlreport.Run(runfiles.Open(dir), s.options.Version)
		}
	}
	if !begun {
		return nil, fmt.Errorf("the run has not begun")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live().Page()
}

// events sends the state of the run to a browser until it goes away.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	c := s.join()
	if c == nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d browsers watch this run already", maxClients), http.StatusServiceUnavailable)
		return
	}
	defer s.leave(c)
	protect(w, "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy must not wait for more
	out := http.NewResponseController(w)
	send := func(text []byte) bool {
		if out.SetWriteDeadline(time.Now().Add(writeLimit)) != nil {
			return false
		}
		_, err := w.Write(text)
		return err == nil && out.Flush() == nil
	}
	if !send([]byte("retry: 1000\n\n")) {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.stop:
			return
		case <-c.wake:
		}
		text, err := s.next(c)
		if err != nil || !send(append(append([]byte("data: "), text...), '\n', '\n')) {
			return
		}
	}
}

// join adds a browser, which gets the present state at once; nil if there are too many.
func (s *Server) join() *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= maxClients {
		return nil
	}
	c := &client{wake: make(chan struct{}, 1)}
	s.clients[c] = struct{}{}
	s.sample()
	s.publish()
	return c
}

func (s *Server) leave(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
}
