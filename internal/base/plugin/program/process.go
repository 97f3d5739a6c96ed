package program

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// process is a started program with aiperf's ends of its pipes.
type process struct {
	cmd                   *exec.Cmd
	stdin, stdout, stderr *os.File
	exited                chan struct{} // closed when the process has ended and its group was killed
	ending                sync.Once

	mu   sync.Mutex
	gone bool // the number of the group may belong to somebody else
}

// alive holds the processes that have not ended, for KillAll.
var alive sync.Map // of *process

// KillAll kills every program with its process group, at once. Call it before this process ends without waiting for what it started.
func KillAll() {
	alive.Range(func(key, _ any) bool {
		key.(*process).signal(true, false)
		return true
	})
}

// startProcess starts the program of s. The pipes are files, so that waiting for the process does not wait for descendants that hold them.
func startProcess(s *Settings) (*process, error) {
	p := &process{exited: make(chan struct{})}
	p.cmd = exec.Command(s.Command[0], s.Command[1:]...)
	p.cmd.Dir, p.cmd.Env = s.Dir, environment(os.Environ(), s.Env)
	p.cmd.SysProcAttr = attributes()
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close() // the program has its own descriptors; nil only returns an error
		}
	}()
	var err error
	for i, ours := range []**os.File{&p.stdin, &p.stdout, &p.stderr} {
		r, w, fault := os.Pipe()
		if fault != nil {
			p.closePipes()
			return nil, fault
		}
		if *ours, theirs[i] = r, w; i == 0 {
			*ours, theirs[i] = w, r
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	started := make(chan error)
	go p.live(started)
	if err = <-started; err != nil {
		p.closePipes()
		return nil, err
	}
	return p, nil
}

// live starts the process and waits for its end.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread() // on Linux the process is killed when this thread ends, so the thread must live as long
	defer runtime.UnlockOSThread()
	sealDescriptors()
	err := p.cmd.Start()
	if err == nil {
		alive.Store(p, nil)
	}
	started <- err
	if err != nil {
		return
	}
	numbered := awaitUnreaped(p.cmd.Process.Pid)
	if !numbered {
		_ = p.cmd.Wait() // the status is in ProcessState
	}
	p.signal(true, true) // descendants of the program end with it
	if numbered {
		_ = p.cmd.Wait()
	}
	alive.Delete(p)
	close(p.exited)
	p.endReading()
}

// endReading lets reads end soon, also if a descendant outside the group holds the pipe.
func (p *process) endReading() {
	soon := time.Now().Add(drainWait)
	_ = p.stdout.SetReadDeadline(soon)
	_ = p.stderr.SetReadDeadline(soon)
}

// drainWait is the time for reading what a program wrote before it ended.
const drainWait = 500 * time.Millisecond

// readWithoutDeadline removes the deadline of the greeting.
func (p *process) readWithoutDeadline() error {
	err := p.stdout.SetReadDeadline(time.Time{})
	select {
	case <-p.exited:
		p.endReading()
	default:
	}
	return err
}

// awaitExit waits for the end of the process and reports whether it ended.
func (p *process) awaitExit(most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// terminate sends SIGTERM to the group, and SIGKILL after a time. It does not wait.
func (p *process) terminate(grace time.Duration) {
	p.ending.Do(func() {
		p.signal(false, false)
		time.AfterFunc(grace, func() { p.signal(true, false) })
	})
}

// signal ends the group. The last signal is sent while the number of the group is still taken; afterwards another group could get it.
func (p *process) signal(kill, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		killGroup(p.cmd.Process, kill)
	}
	p.gone = p.gone || last
}

// status describes the end of the process.
func (p *process) status() string { return p.cmd.ProcessState.String() }

func (p *process) closePipes() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		_ = f.Close() // also ends reads and writes that wait; a second time it only returns an error
	}
}
