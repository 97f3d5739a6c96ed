package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// childServer is a server in a child process of this program. It lives as long as its standard input.
type childServer struct {
	cmd           *exec.Cmd
	life          io.Closer
	plain, secret string // URLs, without and with TLS
}

// startChildServer starts the child of a role. The child prints its two URLs once it listens.
func startChildServer(role, arg string) (*childServer, error) {
	s := &childServer{cmd: exec.Command(self(), role, arg)}
	s.cmd.Stderr = os.Stderr
	life, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.life = life
	line, err := bufio.NewReader(out).ReadString('\n')
	if n, _ := fmt.Sscan(line, &s.plain, &s.secret); n != 2 {
		s.stop()
		return nil, errors.Join(fmt.Errorf("the %s server did not start", role), err)
	}
	return s, nil
}

// stop ends the child and waits for it.
func (s *childServer) stop() {
	_ = s.life.Close() // closing a pipe does not fail
	_ = s.cmd.Wait()   // the child ends by itself
}
