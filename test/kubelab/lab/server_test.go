package lab

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// serve is a server in a pod: it answers with the pod's name, and its health by time.
func serve(args []string) {
	flags := flag.NewFlagSet("server", flag.ExitOnError)
	readyAfter := flags.Duration("ready-after", 0, "time until /readyz succeeds")
	sickAfter := flags.Duration("sick-after", time.Hour, "time until /livez fails")
	host := flags.String("host", "", "address to listen on; empty means all")
	_ = flags.Parse(args)
	began := time.Now()
	health := func(good func() bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if !good() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}
	}
	http.HandleFunc("/readyz", health(func() bool { return time.Since(began) > *readyAfter }))
	http.HandleFunc("/livez", health(func() bool { return time.Since(began) < *sickAfter }))
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		name, _ := os.Hostname()
		fmt.Fprintln(w, "I am", name)
	})
	l, err := net.Listen("tcp", *host+":8080")
	if err == nil {
		fmt.Println("serving")
		err = http.Serve(l, nil)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
