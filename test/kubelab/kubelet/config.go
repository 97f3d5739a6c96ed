package kubelet

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
)

// Config says what a kubelet runs on.
type Config struct {
	Kubeconfig string
	Server     string            // URL of the API server, as pods reach it
	Dir        string            // folder for the files of pods
	Nodes      int               // number of nodes that it plays
	Port       int               // first port of the lab; the kubelet listens on the sixth
	Programs   map[string]string // path of the program behind a command or image, by name
}

// ParseConfig reads the arguments of "kubelab kubelet".
func ParseConfig(args []string) (Config, error) {
	var c Config
	var programs string
	flags := flag.NewFlagSet("kubelet", flag.ContinueOnError)
	flags.StringVar(&c.Kubeconfig, "kubeconfig", "", "")
	flags.StringVar(&c.Server, "server", "", "")
	flags.StringVar(&c.Dir, "dir", "", "")
	flags.IntVar(&c.Nodes, "nodes", 1, "")
	flags.IntVar(&c.Port, "port", 0, "")
	flags.StringVar(&programs, "programs", "", "")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	var err error
	c.Programs, err = ParsePrograms(programs)
	return c, err
}

// ParsePrograms reads NAME=PATH,… into paths by name. Paths must be absolute.
func ParsePrograms(text string) (map[string]string, error) {
	programs := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair == "" {
			continue
		}
		name, path, ok := strings.Cut(pair, "=")
		if !ok || name == "" || !filepath.IsAbs(path) {
			return nil, fmt.Errorf("-programs %q: want NAME=/absolute/path", pair)
		}
		programs[name] = path
	}
	return programs, nil
}
