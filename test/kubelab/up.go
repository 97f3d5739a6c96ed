package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"kubelab/plane"
)

// up starts a lab, prints where it is and waits for signals.
func up(args []string) error {
	var o plane.Options
	flags := flag.NewFlagSet("up", flag.ExitOnError)
	flags.StringVar(&o.Dir, "dir", "", "folder of the state; it is emptied first")
	flags.IntVar(&o.Port, "port", 28100, "first of six ports; two labs need two ranges")
	flags.IntVar(&o.Nodes, "nodes", 3, "number of nodes")
	flags.StringVar(&o.Programs, "programs", "", "NAME=PATH,… programs of this machine that stand for images and commands of that name")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.Dir == "" {
		return fmt.Errorf("-dir is missing: name an empty or new folder")
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2)
	p, err := plane.Start(o)
	if err != nil {
		return err
	}
	defer p.Close()
	fmt.Printf("ready\nkubeconfig %s\naddress %s\n", p.Kubeconfig, p.Address)
	return follow(p, signals)
}

// follow obeys signals until one of them ends the lab.
func follow(p *plane.Plane, signals <-chan os.Signal) error {
	for s := range signals {
		switch s {
		case syscall.SIGUSR1:
			p.StopAPIServer()
			fmt.Println("API server stopped")
		case syscall.SIGUSR2:
			if err := p.StartAPIServer(); err != nil {
				return err
			}
			fmt.Println("API server started")
		default:
			return nil
		}
	}
	return nil
}
