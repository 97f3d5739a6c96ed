package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/run/kube"
)

// clusterRun is a run that was resolved here and is sent from a cluster.
type clusterRun struct {
	run  *config.Run
	spec *kube.Spec
	dir  string // for its files, on this computer

	discovery config.Discovery // of metrics pages, as the user wants it
	view      config.UI        // on this computer
}

// podsWait is the longest wait of the controller for its workers, s: a cluster may have to add nodes and to pull an image on each.
const podsWait = "900"

// clusterRunOf resolves the flags of profile and of the pods. nil = the problems have been printed.
func (p *Program) clusterRunOf(ctx context.Context, own *setting.CommandLine, words []string) (*clusterRun, error) {
	for _, w := range words {
		if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(name, "--machine") && name != "--machines-loss" && name != "--machines-timeout" && name != "--machines-wait" {
			return nil, fmt.Errorf("%s: the machines of a run on a cluster are its worker pods; --total-workers says how many", name)
		}
	}
	if wordAfter(words, "--machines-wait") == "" {
		words = append(words, "--machines-wait", podsWait)
	}
	workers := int(oneInt(own, "--total-workers", defaultWorkers))
	volumes, err := mounts(own)
	if err != nil {
		return nil, err
	}
	words = append(words, "--machines", strconv.Itoa(workers), "--machines-listen", net.JoinHostPort("0.0.0.0", strconv.Itoa(machinesPort)))
	run, set, found := p.resolveFor(ctx, words, func(file string) bool { return isMounted(volumes, file) })
	if run != nil {
		p.Secrets.Add(run.Secrets()...)
	}
	p.say(run, found)
	if len(found.Problems) > 0 {
		return nil, nil
	}
	if most, limit := mostWorkers(run); most > 0 && most < workers {
		if own.Has("--total-workers") {
			return nil, fmt.Errorf("--total-workers %d: %s %d cannot be split into %d parts; write at most --total-workers %d", workers, run.As(limit), most, workers, most)
		}
		workers = most
		run.Machines.On = strconv.Itoa(workers)
	}
	p.warnOfLoopback(run)
	c := &clusterRun{run: run, dir: run.Artifacts.Dir, spec: &kube.Spec{Workers: workers, Sweep: run.Sweep != nil || run.MultiRun.NumRuns > 1}}
	if !set.Has("--artifact-dir") && run.Artifacts.Dir == "" {
		c.dir = "artifacts"
	}
	if err := p.podSpec(own, c.spec); err != nil {
		return nil, err
	}
	if err := c.finish(own.Text("--name", "")); err != nil {
		return nil, err
	}
	return c, nil
}

// mostWorkers returns into how many parts the load of a run or series can be split at most, and the key of the limit; 0 = any number.
func mostWorkers(run *config.Run) (most int, limit string) {
	cells, err := run.Cells()
	if err != nil {
		return 0, "" // the run says what is wrong
	}
	for i := range cells {
		for k := range cells[i].Run.Phases {
			phase := &cells[i].Run.Phases[k]
			for _, l := range []struct {
				key string
				n   *int
			}{
				{"concurrency", phase.Concurrency}, {"prefill_concurrency", phase.PrefillConcurrency}, {"users", phase.Users}, {"requests", phase.Requests}, {"sessions", phase.Sessions},
			} {
				if l.n != nil && *l.n > 0 && (most == 0 || *l.n < most) {
					most, limit = *l.n, "phases."+phase.Name+"."+l.key
				}
			}
		}
	}
	return most, limit
}

// warnOfLoopback warns of servers that a pod cannot reach, because their address is that of the pod itself.
func (p *Program) warnOfLoopback(run *config.Run) {
	for _, text := range run.Endpoint.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Scheme == "mock" {
			continue
		}
		if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
			p.warnf("%s %s: in a pod, %s is the pod itself; write the name of a Service, for example http://NAME:8000", run.As("endpoint.urls"), redact.URL(text), u.Hostname())
		}
	}
}

var runName = lazyregexp.New(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)

// notInNames matches what cannot be in the name of a run.
var notInNames = lazyregexp.New(`[^a-z0-9]+`)

// newRunName returns a name for a run of a model.
func newRunName(model string) string {
	model = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(path.Base(model)), "-"), "-")
	return strings.TrimRight("aiperf-"+model[:min(len(model), 24)], "-") + "-" + strings.ToLower(rand.Text()[:5])
}

// finish completes the specification from the run.
func (c *clusterRun) finish(name string) error {
	model := ""
	if len(c.run.Models.Items) > 0 {
		model = c.run.Models.Items[0].Name
	}
	if name == "" {
		name = newRunName(model)
	}
	if !runName.MatchString(name) {
		return fmt.Errorf("--name %q: use 1 to 40 lower-case letters, digits and -, the first one a letter", name)
	}
	s := c.spec
	s.Name = name
	if err := c.packData(); err != nil {
		return err
	}
	if c.view = c.run.Runtime.UI; c.view == config.UIDashboard { // pods have no terminal
		c.run.Runtime.UI = config.UINone
	}
	c.run.Artifacts.Dir, c.discovery = kube.ResultsDir, c.run.ServerMetrics.Discovery
	if c.discovery.Mode == "auto" { // the pods have no token with which to search
		c.run.ServerMetrics.Discovery = config.Discovery{Mode: "disabled", Timeout: c.discovery.Timeout}
	}
	if err := c.writeConfig(); err != nil {
		return err
	}
	s.Facts = map[string]string{kube.ModelNote: model}
	var servers []string
	for _, u := range c.run.Endpoint.URLs {
		servers = append(servers, redact.URL(u))
	}
	s.Facts[kube.EndpointNote] = strings.Join(servers, " ")
	s.ControllerArgs = []string{"service", serviceController, path.Join(kube.ConfigDir, kube.ConfigFile), "--keep-results", strconv.Itoa(s.Keep), "--keys", kube.KeysDir,
		"--artifact-dir", kube.ResultsDir, "--health-port", strconv.Itoa(kube.APIPort)}
	for _, u := range s.Uploads {
		s.ControllerArgs = append(s.ControllerArgs, "--data-files", u.Name+"="+u.SHA256)
	}
	s.WorkerArgs = []string{"worker", "--token-file", path.Join(kube.KeysDir, "token"), "--health-port", strconv.Itoa(kube.APIPort)}
	return nil
}

// writeConfig writes the run into the specification.
func (c *clusterRun) writeConfig() (err error) {
	s := c.spec
	if s.Config, s.Secrets, err = c.run.SecretYAML(); err != nil {
		return err
	}
	size := len(s.Config)
	for _, content := range s.Data {
		size += len(content)
	}
	if size > kube.MaxData {
		return fmt.Errorf("the configuration and its data files have %d KiB, and a ConfigMap holds at most %d: put the files on a volume and mount it with --volume-claims", size>>10, kube.MaxData>>10)
	}
	return nil
}

// configRoom is how much of a ConfigMap data files leave for the configuration, bytes.
const configRoom = 64 << 10

// packData puts the data files of the run into the specification: into the ConfigMap while they fit, else among those that are sent to the controller.
// Files below a mounted volume stay there.
func (c *clusterRun) packData() error {
	c.spec.Data, c.spec.Uploads = map[string][]byte{}, nil
	room := int64(kube.MaxData - configRoom)
	for i, file := range c.run.InputPaths() {
		if *file == "" || isMounted(c.spec.Mounts, *file) {
			continue
		}
		info, err := os.Stat(*file)
		if err != nil {
			return err
		}
		if info.IsDir() {
			return fmt.Errorf("%s is a folder; put it on a volume and mount it with --volume-claims", *file)
		}
		name, dir := fmt.Sprintf("%d-%s", i, notInFiles.ReplaceAllString(filepath.Base(*file), "_")), kube.ConfigDir
		if info.Size() > room {
			upload, err := kube.NewUpload(name, *file)
			if err != nil {
				return err
			}
			dir, c.spec.Uploads = kube.DataDir, append(c.spec.Uploads, upload)
		} else {
			if c.spec.Data[name], err = os.ReadFile(*file); err != nil {
				return err
			}
			room -= int64(len(c.spec.Data[name]))
		}
		*file = path.Join(dir, name)
	}
	return nil
}

// notInFiles matches what cannot be in a key of a ConfigMap.
var notInFiles = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// isMounted reports whether a file is on a volume of the pods.
func isMounted(volumes []kube.Mount, file string) bool {
	for _, m := range volumes {
		if strings.HasPrefix(path.Clean(file), m.Path+"/") {
			return true
		}
	}
	return false
}

// keysFor returns the content of the Secret of a run, apart from the secrets of its configuration.
func (p *Program) keysFor(s *kube.Spec, namespace string) (map[string][]byte, error) {
	if p.Kube.Keys == nil {
		return nil, errors.New("kube: this program was built without clusters (build tag nocluster)")
	}
	files, join, err := p.Kube.Keys(kube.ControllerHost(s.Name, namespace), kube.MachinePort)
	if err != nil {
		return nil, err
	}
	files[kube.JoinKey], files[kube.TokenKey] = []byte(join), []byte(rand.Text())
	return files, nil
}
