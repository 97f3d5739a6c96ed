package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/run"
	"aiperf/internal/wire/bus"
)

// Options configure a controller.
type Options struct {
	Machines config.Machines
	Version  string            // of this program
	Secret   func(text string) // receives the token
	Note     func(text string) // tells the user something
	As       func(key string) string
	// Words returns the arguments with which this program is a worker, and reads the token from a file ("-" = standard input).
	Words func(join, name, tokenFile string) []string
}

// Controller is the controller of a series of runs on several machines. It starts the machines, or lets them join, and gives each run to the same ones.
type Controller struct {
	opts    Options
	list    *config.MachineList
	timeout time.Duration
	wait    time.Duration
	server  *bus.Server
	token   string
	saved   string // file with the token; "" = none

	mu      sync.Mutex
	members map[string]*member
	order   []string // names in the order of their shares; complete once all have joined
	spares  []string // names of machines that wait for a place
	started int      // number of processes that this controller has started
	epoch   int64
	current *machineLoad    // nil = no run
	changed chan struct{}   // closed at each change of the members
	refusal map[string]bool // refusals that the user has seen
}

// member is a machine that has joined or was started.
type member struct {
	name    string
	hello   *hello   // nil = it has not joined
	process *process // nil = it was not started by this controller
	lost    string   // why it was given up; "" = it was not
	silent  bool     // it was given up because it was out of sight
}

// Open starts a controller and its machines. It does not wait for them.
func Open(ctx context.Context, o Options) (*Controller, error) {
	list, err := o.Machines.List()
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(&o)
	if err != nil {
		return nil, err
	}
	c := &Controller{
		opts: o, list: list, timeout: o.Machines.TimeoutOr().Duration(), wait: o.Machines.WaitOr().Duration(), token: keys.Token, members: map[string]*member{},
		changed: make(chan struct{}), refusal: map[string]bool{},
	}
	o.Secret(c.token)
	listen, advertise, err := c.addresses(ctx)
	if err != nil {
		return nil, err
	}
	c.server, err = bus.Listen(bus.Options{Listen: listen, Advertise: advertise, Token: c.token, Certificate: keys.Certificate, Encrypt: o.Machines.Keys != "", Answer: c.answer, Note: c.note, Store: c.store, Presence: c.presence, Refused: c.refused})
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", o.As("machines.listen"), listen, err)
	}
	if err := c.launch(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// keysOf returns the token and the certificate of a controller: those of the settings, or a new token.
func keysOf(o *Options) (*bus.Keys, error) {
	if o.Machines.Keys == "" {
		return &bus.Keys{Token: bus.NewToken()}, nil
	}
	keys, err := bus.ReadKeys(o.Machines.Keys)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", o.As("machines.keys"), o.Machines.Keys, err)
	}
	return keys, nil
}

// addresses returns the address to listen on, and the host that machines connect to if it is another one.
func (c *Controller) addresses(ctx context.Context) (listen, advertise string, err error) {
	listen = c.opts.Machines.Listen
	switch {
	case listen == "" && c.list.Hosts == nil:
		return "127.0.0.1:0", "", nil
	case listen == "":
		host := c.list.Hosts[0]
		if _, name, ok := strings.Cut(host, "@"); ok {
			host = name
		}
		var d net.Dialer
		probe, err := d.DialContext(ctx, "udp", net.JoinHostPort(host, "9")) // sends nothing: it asks the system for the way there
		if err != nil {
			if unknown, ok := errors.AsType[*net.DNSError](err); ok {
				return "", "", fmt.Errorf("%s: cannot look up the host %q (%s); check its name. If only the shell that starts the workers knows it, give %s the address at which it reaches this computer",
					c.opts.As("machines.on"), host, unknown.Err, c.opts.As("machines.listen"))
			}
			return "", "", fmt.Errorf("the way to %s is not known (%w); give %s the address at which the machines reach this one", host, err, c.opts.As("machines.listen"))
		}
		defer probe.Close()
		own, _, err := net.SplitHostPort(probe.LocalAddr().String())
		return net.JoinHostPort(own, "0"), "", err
	}
	if _, err := strconv.Atoi(listen); err == nil {
		listen = ":" + listen
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", "", fmt.Errorf("%s %q is not HOST:PORT", c.opts.As("machines.listen"), listen)
	}
	if address := net.ParseIP(host); host == "" || address != nil && address.IsUnspecified() {
		if advertise, err = os.Hostname(); err != nil {
			return "", "", err
		}
		listen = net.JoinHostPort(host, port)
	}
	return listen, advertise, nil
}

// launch starts the machines, or says how they join.
func (c *Controller) launch(ctx context.Context) error {
	join := c.server.Join().String()
	switch {
	case c.list.Local:
		for range c.list.Count {
			if err := c.start(ctx, ""); err != nil {
				return err
			}
		}
	case c.list.Hosts != nil:
		for _, host := range c.list.Hosts {
			if err := c.start(ctx, host); err != nil {
				return err
			}
		}
	case c.opts.Machines.Keys != "": // whoever made the keys gives them to the machines
		c.opts.Note("waiting for " + terminal.Plural(int64(c.list.Count), "machine") + " at " + join)
	default:
		path, err := c.saveToken()
		if err != nil {
			return err
		}
		c.opts.Note(fmt.Sprintf("waiting for %s; on each, copy %s there and run: aiperf %s", terminal.Plural(int64(c.list.Count), "machine"), path, strings.Join(c.opts.Words(join, "", path), " ")))
	}
	return nil
}

// start starts a machine on a host and gives it the next place; "" = on this computer.
func (c *Controller) start(ctx context.Context, host string) error {
	c.started++
	name := "w" + strconv.Itoa(c.started)
	words := c.opts.Words(c.server.Join().String(), name, "-")
	p := localProcess(words, c.token)
	if host != "" {
		var err error
		if p, err = shellProcess(c.opts.Machines.Shell, host, words, c.token); err != nil {
			return err
		}
	}
	if err := p.start(context.WithoutCancel(ctx), func(ended string) { c.lose(name, ended) }); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members[name] = &member{name: name, process: p}
	c.order = append(c.order, name)
	return nil
}

// remote reports whether the machines may be other computers.
func (c *Controller) remote() bool {
	host, err := netip.ParseAddr(c.server.Join().Host)
	return !c.list.Local && !(err == nil && host.IsLoopback() || c.server.Join().Host == "localhost")
}

// saveToken writes the token to a file that only the user can read.
func (c *Controller) saveToken() (string, error) {
	f, err := os.CreateTemp("", "aiperf-token-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(c.token + "\n")
	c.saved = f.Name()
	return f.Name(), errors.Join(err, f.Close())
}

// change wakes those who wait for a change of the members. The caller holds the mutex.
func (c *Controller) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// answer answers a question of a machine.
func (c *Controller) answer(ctx context.Context, name, kind string, data []byte) ([]byte, error) {
	if kind == askHello {
		reply, err := c.join(name, data)
		if err != nil {
			return nil, err
		}
		return encode(reply)
	}
	r := c.running(name)
	if r == nil {
		return nil, errors.New("there is no run")
	}
	return r.answer(ctx, name, kind, data)
}

// running returns the current run if the machine takes part in it.
func (c *Controller) running(name string) *machineLoad {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil || !slices.Contains(c.order, name) {
		return nil
	}
	return c.current
}

// join lets a machine take part.
func (c *Controller) join(name string, data []byte) (*welcome, error) {
	var h hello
	if err := decode(data, &h); err != nil {
		return nil, err
	}
	if h.Build != build() {
		c.noteRefusal(h.Host, name, fmt.Sprintf("it runs another build of aiperf (%s)", terminal.Text(h.Version)))
		return &welcome{StatusOther, fmt.Sprintf("this is aiperf %s, the controller is aiperf %s, built from other sources: install the same program on every machine", h.Version, c.opts.Version)}, nil
	}
	if !c.admit(name, &h) && !(h.Spare && c.keepSpare(name, &h)) {
		c.noteRefusal(h.Host, name, "the run has all of its machines already")
		return &welcome{StatusLate, fmt.Sprintf("the run has its %s already; a spare machine would wait for the place of a lost one", terminal.Plural(int64(c.list.Count), "machine"))}, nil
	}
	return &welcome{}, nil
}

// admit gives a machine a place, unless the run has all of its machines.
func (c *Controller) admit(name string, h *hello) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.members[name]
	if m == nil {
		if c.list.Local || c.list.Hosts != nil || len(c.order) == c.list.Count {
			return false
		}
		m = &member{name: name}
		c.members[name] = m
		c.order = append(c.order, name)
		c.opts.Note(fmt.Sprintf("machine %s joined (%d of %d): %s, %s", terminal.Text(name), len(c.order), c.list.Count, terminal.Text(h.Host), terminal.Plural(int64(h.Cores), "core")))
	}
	m.hello = h
	c.change()
	return true
}

// keepSpare lets a machine wait for a place, if machines may join.
func (c *Controller) keepSpare(name string, h *hello) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list.Local || c.list.Hosts != nil || c.members[name] != nil {
		return false
	}
	c.members[name] = &member{name: name, hello: h}
	c.spares = append(c.spares, name)
	c.opts.Note(fmt.Sprintf("machine %s waits as a spare: %s, %s", terminal.Text(name), terminal.Text(h.Host), terminal.Plural(int64(h.Cores), "core")))
	return true
}

// Ready implements run.Machines.
func (c *Controller) Ready(ctx context.Context) error {
	if err := c.replaceLost(ctx); err != nil {
		return err
	}
	late := time.NewTimer(c.wait)
	defer late.Stop()
	for {
		c.mu.Lock()
		missing, failed := c.list.Count-len(c.order), ""
		var names []string
		for _, name := range c.order {
			m := c.members[name]
			if m.lost != "" {
				failed = "machine " + c.title(m) + ": " + m.lost
			}
			if m.hello == nil {
				missing++
				names = append(names, c.title(m))
			}
		}
		changed := c.changed
		c.mu.Unlock()
		switch {
		case failed != "":
			return errors.New(failed)
		case missing == 0:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late.C:
			text := fmt.Sprintf("%d of %d machines did not join within %v", missing, c.list.Count, c.wait)
			if names != nil {
				text += ": " + strings.Join(names, ", ")
			}
			return fmt.Errorf("%s; %s waits longer", text, c.opts.As("machines.wait"))
		}
	}
}

// title returns the name of a machine as users know it.
func (c *Controller) title(m *member) string {
	if m.process != nil && m.process.host != "" {
		return m.name + " (" + m.process.host + ")"
	}
	return m.name
}

// lose gives a machine up.
func (c *Controller) lose(name, why string) { c.giveUp(name, why, false) }

// giveUp gives a machine up; silent says that it is only out of sight.
func (c *Controller) giveUp(name, why string, silent bool) {
	c.mu.Lock()
	m, r := c.members[name], c.current
	first := m != nil && m.lost == ""
	if first {
		m.lost, m.silent = why, silent
		c.change()
	}
	c.mu.Unlock()
	if first && r != nil {
		r.lost(name, why)
	}
}

// isDead reports whether nothing can come from a machine any more: the process that this controller started has ended.
func (c *Controller) isDead(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.members[name]
	if m == nil || m.process == nil {
		return false
	}
	select {
	case <-m.process.ended:
		return true
	default:
		return false
	}
}

// alive returns the names of the machines that are not lost.
func (c *Controller) alive() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.order {
		if c.members[name].lost == "" {
			list = append(list, name)
		}
	}
	return list
}

func (c *Controller) note(name, kind string, data []byte) {
	if r := c.running(name); r != nil && kind == noteProgress {
		r.progressed(name, data)
	}
}

func (c *Controller) store(name string, p *bus.Piece) error {
	r := c.running(name)
	if r == nil {
		return errors.New("there is no run")
	}
	return r.store(name, p)
}

func (c *Controller) presence(e bus.Event) {
	if r := c.running(e.Member); r != nil {
		r.seen(e)
	}
}

// Load implements run.Machines.
func (c *Controller) Load(r *run.MachineRun) (run.MachineLoad, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	return newMachineLoad(c, r, c.epoch)
}

// begin makes a run the current one.
func (c *Controller) begin(l *machineLoad) {
	c.mu.Lock()
	c.current = l
	c.mu.Unlock()
	c.server.BeginEpoch(l.epoch)
}

// end ends the current run.
func (c *Controller) end() {
	c.server.BeginEpoch(-1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = nil
}

// tell sends an order to a machine.
func (c *Controller) tell(name, kind string, m any) error {
	data, err := encode(m)
	if err != nil {
		return err
	}
	return c.server.Order(name, kind, data)
}

// Close lets the machines go and ends the controller.
func (c *Controller) Close() error {
	c.mu.Lock()
	members := slices.Collect(maps.Values(c.members))
	c.mu.Unlock()
	for _, m := range members { // also a lost one, which may be back
		_ = c.server.Order(m.name, orderLeave, nil) // a machine that has not joined is ended below
	}
	deadline := clock.Now() + int64(leaveTime)
	for _, m := range members {
		if m.process != nil {
			m.process.end(time.Duration(deadline - clock.Now()))
		}
	}
	if c.list.Hosts == nil && !c.list.Local {
		time.Sleep(min(leaveTime, 2*clientBeat)) // the order to leave arrives
	}
	c.server.Close()
	if c.saved != "" {
		return os.Remove(c.saved)
	}
	return nil
}

const (
	leaveTime  = 3 * time.Second        // for machines to end by themselves
	clientBeat = 500 * time.Millisecond // after which a machine that missed an order gets it again
)

// describe returns the drops of the bus for the log; "" = none.
func (c *Controller) describe() string {
	drops := c.server.Drops()
	if len(drops) == 0 {
		return ""
	}
	text, err := json.Marshal(drops)
	if err != nil {
		return ""
	}
	return string(text)
}
