package foreign

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// start writes the program into memory and starts it. loader is the system's, that links it.
func start(loader string, patience time.Duration) (*Process, error) {
	if len(code) == 0 { // of other processors
		return nil, fmt.Errorf("libraries cannot be opened on processors of this kind")
	}
	if _, err := os.Stat(loader); err != nil {
		return nil, fmt.Errorf("this system has no loader of shared libraries of the GNU C library: %w", err)
	}
	fd, err := unix.MemfdCreate("foreign", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no program can be made in memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "foreign")
	defer file.Close() // it lives on in the process
	if _, err := file.Write(image(loader)); err != nil {
		return nil, fmt.Errorf("no program can be made in memory: %w", err)
	}
	theirRequests, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirRequests.Close()
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		_ = requests.Close()
		return nil, err
	}
	defer theirAnswers.Close()
	p := &Process{requests: requests, answers: answers, patience: patience, ended: make(chan error, 1)}
	p.cmd = exec.Command("/proc/self/fd/" + strconv.Itoa(fd))
	p.cmd.Args = []string{"aiperf: shared library"}
	p.cmd.ExtraFiles = []*os.File{theirRequests, theirAnswers} // requestsAt, answersAt
	p.cmd.Stderr = &bounded{to: &p.trouble, left: 1000}
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		_ = requests.Close()
		_ = answers.Close()
		return nil, fmt.Errorf("the program that opens libraries does not start: %w", err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	_ = theirAnswers.Close() // so that the end of the process is the end of its answers
	own := make([]byte, 8*len(p.own))
	if err := p.exchange(nil, own); err != nil {
		p.Close()
		return nil, err
	}
	for i := range p.own {
		p.own[i] = binary.LittleEndian.Uint64(own[8*i:])
	}
	return p, nil
}

// bounded takes the first bytes of a text.
type bounded struct {
	to   io.Writer
	left int
}

func (b *bounded) Write(text []byte) (int, error) {
	n := min(len(text), b.left)
	b.left -= n
	_, err := b.to.Write(text[:n])
	return len(text), err
}
