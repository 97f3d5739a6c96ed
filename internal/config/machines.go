package config

import (
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
)

// Machines are the machines that send the requests; zero: this process sends them.
type Machines struct {
	// On names them: local:N, host1,host2,…, or a number of machines that join by themselves; empty: none.
	On string `yaml:"on,omitempty"`
	// Listen is the address at which they reach this process; empty: chosen.
	Listen string `yaml:"listen,omitempty"`
	// Loss is the reaction to the loss of one; empty: continue.
	Loss Loss `yaml:"loss,omitempty"`
	// Timeout is the time without a sign of life after which a machine is lost; nil: 5 s.
	Timeout *Seconds `yaml:"timeout,omitempty"`
	// Wait is the longest time that machines are waited for; nil: 120 s.
	Wait *Seconds `yaml:"wait,omitempty"`
	// Shell is the command that runs a command on a host; empty: ssh.
	Shell string `yaml:"shell,omitempty"`
	// Keys is a folder with token, tls.crt and tls.key of the controller; empty: they are made for the session.
	Keys string `yaml:"keys,omitempty"`
}

// Loss is the reaction to the loss of a machine during a run.
type Loss string

// The values of Loss.
const (
	LossContinue Loss = "continue" // the others send their parts
	LossStop     Loss = "stop"     // the run ends
)

const (
	defaultMachineTimeout = Seconds(5)
	defaultMachineWait    = Seconds(120)
	maxMachines           = 1000
)

var machinesRows = group("Machines", []setting.Row{
	{Flags: []string{"--machines"}, Key: "machines.on", Kind: setting.Text, Help: "send from several machines: local:N = N processes here; host1,host2 = by ssh; N = wait for N that join (aiperf worker)"},
	{Flags: []string{"--machines-listen"}, Key: "machines.listen", Kind: setting.Text, Help: "HOST:PORT at which the machines reach this process; beyond this computer it is encrypted"},
	{Flags: []string{"--machines-loss"}, Key: "machines.loss", Kind: setting.Enum, Choices: []string{string(LossContinue), string(LossStop)}, Default: "continue", Help: "reaction to the loss of a machine: the others continue, or the run ends with status 3"},
	{Flags: []string{"--machines-timeout"}, Key: "machines.timeout", Unit: "s", Kind: setting.Float, Bounds: ">= 2, <= 600", Default: "5", Help: "a machine without a sign of life for so long is lost, and stops by itself, in s"},
	{Flags: []string{"--machines-wait"}, Key: "machines.wait", Unit: "s", Kind: setting.Float, Bounds: "> 0, <= 86400", Default: "120", Help: "longest wait for machines to join, and to be ready, in s"},
	{Flags: []string{"--machine-shell"}, Key: "machines.shell", Kind: setting.Text, Secret: redact.Address, Help: "command that runs a command on a host, instead of ssh; {} is the host: docker exec -i {}"},
	{Flags: []string{"--machines-keys"}, Key: "machines.keys", Kind: setting.Path, Help: "folder with token, tls.crt and tls.key of the controller, instead of ones made for the session"},
})

// MachineList is the list of machines that a run is sent from.
type MachineList struct {
	Local bool     // processes on this computer
	Hosts []string // started by a shell; nil = they are local, or join by themselves
	Count int
}

// List reads the list of machines; nil = this process sends the requests.
func (m *Machines) List() (*MachineList, error) {
	text := strings.TrimSpace(m.On)
	if text == "" {
		return nil, nil
	}
	number, local := strings.CutPrefix(text, "local:")
	if n, err := strconv.Atoi(number); err == nil || local {
		if err != nil || n < 1 || n > maxMachines {
			return nil, fmt.Errorf("%q is not a number of machines from 1 to %d", number, maxMachines)
		}
		return &MachineList{Local: local, Count: n}, nil
	}
	list := &MachineList{}
	for host := range strings.SplitSeq(text, ",") {
		host = strings.TrimSpace(host)
		if host == "" || strings.HasPrefix(host, "-") || strings.ContainsAny(host, " \t\n'\"\\$`;&|<>") {
			return nil, fmt.Errorf("%q is not the name of a host", host)
		}
		list.Hosts = append(list.Hosts, host)
	}
	list.Count = len(list.Hosts)
	return list, nil
}

// TimeoutOr returns the time without a sign of life after which a machine is lost.
func (m *Machines) TimeoutOr() Seconds {
	if m.Timeout == nil {
		return defaultMachineTimeout
	}
	return *m.Timeout
}

// WaitOr returns the longest time that machines are waited for.
func (m *Machines) WaitOr() Seconds {
	if m.Wait == nil {
		return defaultMachineWait
	}
	return *m.Wait
}

// machines checks what the rows cannot.
func (v *violations) machines(r *Run) {
	list, err := r.Machines.List()
	if err != nil {
		v.addIf(true, "machines.on", "%v", err)
		return
	}
	for _, one := range []struct {
		key   string
		given bool
	}{{"listen", r.Machines.Listen != ""}, {"loss", r.Machines.Loss != ""}, {"timeout", r.Machines.Timeout != nil}, {"wait", r.Machines.Wait != nil}, {"shell", r.Machines.Shell != ""}, {"keys", r.Machines.Keys != ""}} {
		v.addIf(one.given && list == nil, "machines."+one.key, "needs %s", v.spelling("machines.on"))
	}
	if list == nil {
		return
	}
	v.addIf(!list.Local && list.Hosts == nil && r.Machines.Listen == "", "machines.on", "waits for machines, which need %s HOST:PORT to join", v.spelling("machines.listen"))
	v.addIf(r.Machines.Shell != "" && list.Hosts == nil, "machines.shell", "runs commands on hosts, and %s names none", v.spelling("machines.on"))
	v.addIf(r.Accuracy != nil, "machines.on", "does not go with %s: accuracy benchmarks run on one machine", v.spelling("accuracy.benchmark"))
}
