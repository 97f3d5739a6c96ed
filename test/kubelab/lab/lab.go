// Package lab starts a kubelab from Go tests and speaks to it.
package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Lab is a running kubelab.
type Lab struct {
	Config     *rest.Config // of the administrator
	Client     kubernetes.Interface
	Kubeconfig string // path
	Address    string // of this machine, as pods reach it

	command *exec.Cmd
	lines   chan string
}

// startLimit is the time that a lab has to start; a busy machine of two cores needed 40 s.
const startLimit = 3 * time.Minute

// Start starts a lab with three nodes in an empty folder. Programs are paths by the name of a command or image.
func Start(binary, dir string, port int, programs map[string]string) (*Lab, error) {
	var pairs []string
	for name, path := range programs {
		pairs = append(pairs, name+"="+path)
	}
	l := &Lab{lines: make(chan string, 100)}
	l.command = exec.Command(binary, "up", "-dir", filepath.Join(dir, "state"), "-port", fmt.Sprint(port), "-nodes", "3",
		"-programs", strings.Join(pairs, ","))
	l.command.Stderr = os.Stderr
	l.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	out, err := l.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := l.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(l.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			l.lines <- s.Text()
		}
	}()
	if err := l.connect(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// connect reads where the lab is and waits for its nodes.
func (l *Lab) connect() error {
	if _, err := l.read("ready"); err != nil {
		return err
	}
	var err error
	if l.Kubeconfig, err = l.read("kubeconfig "); err != nil {
		return err
	}
	if l.Address, err = l.read("address "); err != nil {
		return err
	}
	if l.Config, err = clientcmd.BuildConfigFromFlags("", l.Kubeconfig); err != nil {
		return err
	}
	l.Config.QPS, l.Config.Burst = 100, 200
	if l.Client, err = kubernetes.NewForConfig(l.Config); err != nil {
		return err
	}
	return Wait(startLimit, "three nodes", func() (bool, error) {
		nodes, err := l.Client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
		return err == nil && len(nodes.Items) == 3, err
	})
}

// read returns the rest of the next line that begins with a word.
func (l *Lab) read(word string) (string, error) {
	limit := time.After(startLimit)
	for {
		select {
		case line, ok := <-l.lines:
			if !ok {
				return "", errors.New("kubelab ended early")
			}
			if rest, ok := strings.CutPrefix(line, word); ok {
				return rest, nil
			}
		case <-limit:
			return "", fmt.Errorf("kubelab did not print %q within %v", word, startLimit)
		}
	}
}

// Close ends the lab and all its processes.
func (l *Lab) Close() {
	_ = l.command.Process.Signal(syscall.SIGTERM)
	for range l.lines { // until it closes its output
	}
	_ = l.command.Wait()
}

// StopAPIServer ends the API server: clients find nobody listening.
func (l *Lab) StopAPIServer() error { return l.order(syscall.SIGUSR1, "API server stopped") }

// StartAPIServer starts the API server again and returns when it is ready.
func (l *Lab) StartAPIServer() error { return l.order(syscall.SIGUSR2, "API server started") }

func (l *Lab) order(s syscall.Signal, answer string) error {
	if err := l.command.Process.Signal(s); err != nil {
		return err
	}
	_, err := l.read(answer)
	return err
}

// Wait calls done every 100 ms until it returns true, and returns an error that names what was awaited and done's last error after the limit.
func Wait(limit time.Duration, what string, done func() (bool, error)) error {
	for end := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		ok, err := done()
		if ok {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("no %s within %v; last error: %w", what, limit, err)
		}
	}
}
