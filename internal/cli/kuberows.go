package cli

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/run/kube"
)

// Defaults of runs on a cluster.
const (
	defaultWorkers = 10
	defaultKeep    = 300 // s
	imageVariable  = "AIPERF_IMAGE"
)

// podRows are the flags of the pods of a run.
func podRows() []setting.Row {
	return []setting.Row{
		{Flags: []string{"--name"}, Kind: setting.Text, Default: "chosen", Help: "name of the run: lower-case letters, digits and -, at most 40"},
		{Flags: []string{"--image"}, Kind: setting.Text, Default: imageVariable, Help: "image with this version of aiperf"},
		{Flags: []string{"--image-pull-policy"}, Kind: setting.Enum, Choices: []string{"always", "never", "if_not_present"}, Default: "that of the cluster", Help: "when nodes pull the image"},
		{Flags: []string{"--total-workers"}, Kind: setting.Int, Bounds: ">= 1, <= 1000", Default: "10, or fewer if the load has fewer parts", Help: "number of worker pods"},
		{Flags: []string{"--ttl-seconds"}, Kind: setting.Int, Bounds: ">= 0", Default: "300", Help: "how long files wait to be fetched, and ended Jobs are kept, in s"},
		{Flags: []string{"--node-selector"}, Kind: setting.Text, List: true, Help: "label of the nodes: NAME=VALUE"},
		{Flags: []string{"--tolerations"}, Kind: setting.Text, List: true, Help: "taint of nodes to accept: KEY, KEY=VALUE or KEY=VALUE:EFFECT"},
		{Flags: []string{"--queue-name"}, Hidden: []string{"--kueue-queue"}, Kind: setting.Text, Help: "queue of Kueue that admits the Jobs"},
		{Flags: []string{"--priority-class"}, Kind: setting.Text, Help: "priority class of the pods"},
		{Flags: []string{"--annotations"}, Kind: setting.Text, List: true, Whole: true, Help: "annotation of all objects and pods: NAME=VALUE"},
		{Flags: []string{"--labels"}, Kind: setting.Text, List: true, Help: "label of all objects and pods: NAME=VALUE"},
		{Flags: []string{"--image-pull-secrets"}, Kind: setting.Text, List: true, Help: "Secret of the namespace with access to the image"},
		{Flags: []string{"--env-vars"}, Kind: setting.Text, List: true, Whole: true, Help: "environment variable of the pods: NAME=VALUE"},
		{Flags: []string{"--env-from-secrets"}, Kind: setting.Text, List: true, Help: "environment variable from a Secret: NAME=SECRET/KEY"},
		{Flags: []string{"--secret-mounts"}, Kind: setting.Text, List: true, Help: "Secret as a folder in the pods: SECRET:/PATH"},
		{Flags: []string{"--volume-claims"}, Kind: setting.Text, List: true, Help: "PersistentVolumeClaim as a folder in the pods, read-only: CLAIM:/PATH"},
		{Flags: []string{"--host-paths"}, Kind: setting.Text, List: true, Help: "folder of the nodes as a folder in the pods, read-only: /FOLDER:/PATH"},
		{Flags: []string{"--service-account"}, Kind: setting.Text, Default: "that of the namespace", Help: "service account of the pods; they get no token"},
		{Flags: []string{"--worker-resources"}, Kind: setting.Text, List: true, Default: "cpu=1,memory=512Mi", Help: "resources that a worker requests"},
		{Flags: []string{"--controller-resources"}, Kind: setting.Text, List: true, Default: "cpu=1,memory=1Gi", Help: "resources that the controller requests"},
		{Flags: []string{"--operator"}, Kind: setting.Bool, NotBuilt: true, Help: "custom resources of an operator; runs are plain Jobs here"},
		{Flags: []string{"--no-operator"}, Kind: setting.Bool, NoEffect: "there is no operator", Help: "plain Jobs"},
	}
}

// pairs reads NAME=VALUE items of a flag.
func pairs(set *setting.CommandLine, flag string) (map[string]string, error) {
	all := map[string]string{}
	for _, item := range set.Texts(flag) {
		name, value, ok := strings.Cut(item, "=")
		if name == "" || !ok {
			return nil, fmt.Errorf("%s %q: want NAME=VALUE", set.Spelled(flag), item)
		}
		all[name] = value
	}
	return all, nil
}

// taintEffects are the effects of taints.
var taintEffects = []string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}

// tolerationsOf reads --tolerations.
func tolerationsOf(set *setting.CommandLine) (list []kube.Toleration, err error) {
	for _, item := range set.Texts("--tolerations") {
		taint, effect, _ := strings.Cut(item, ":")
		key, value, _ := strings.Cut(taint, "=")
		if key == "" || !slices.Contains(taintEffects, effect) {
			return nil, fmt.Errorf("%s %q: want KEY, KEY=VALUE or KEY=VALUE:EFFECT with NoSchedule, PreferNoSchedule or NoExecute", set.Spelled("--tolerations"), item)
		}
		list = append(list, kube.Toleration{Key: key, Value: value, Effect: effect})
	}
	return list, nil
}

// secretVariables reads --env-from-secrets.
func secretVariables(set *setting.CommandLine) (list []kube.SecretVariable, err error) {
	for _, item := range set.Texts("--env-from-secrets") {
		name, from, _ := strings.Cut(item, "=")
		secret, key, ok := strings.Cut(from, "/")
		if name == "" || secret == "" || key == "" || !ok {
			return nil, fmt.Errorf("%s %q: want NAME=SECRET/KEY", set.Spelled("--env-from-secrets"), item)
		}
		list = append(list, kube.SecretVariable{Name: name, Secret: secret, Key: key})
	}
	return list, nil
}

// mounts reads the flags that put volumes into the pods.
func mounts(set *setting.CommandLine) (list []kube.Mount, err error) {
	for _, kind := range []struct {
		flag string
		make func(from, to string) kube.Mount
	}{
		{"--secret-mounts", func(from, to string) kube.Mount { return kube.Mount{Secret: from, Path: to} }},
		{"--volume-claims", func(from, to string) kube.Mount { return kube.Mount{Claim: from, Path: to} }},
		{"--host-paths", func(from, to string) kube.Mount { return kube.Mount{HostPath: from, Path: to} }},
	} {
		for _, item := range set.Texts(kind.flag) {
			from, to, _ := strings.Cut(item, ":")
			if from == "" || !path.IsAbs(to) || path.Clean(to) == "/" {
				return nil, fmt.Errorf("%s %q: want a name, a colon and an absolute path, such as data:/data", set.Spelled(kind.flag), item)
			}
			if kind.flag == "--host-paths" && !path.IsAbs(from) {
				return nil, fmt.Errorf("%s %q: %s is not an absolute path", set.Spelled(kind.flag), item, from)
			}
			list = append(list, kind.make(from, path.Clean(to)))
		}
	}
	return list, nil
}

// defaultRequests returns what workers and the controller request unless flags say otherwise.
func defaultRequests() (worker, controller map[string]string) {
	return map[string]string{"cpu": "1", "memory": "512Mi"}, map[string]string{"cpu": "1", "memory": "1Gi"}
}

// quantities checks the resources that a flag requests: the API server would refuse them only when the pods are made.
func quantities(set *setting.CommandLine, flag string, requested map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(requested)) {
		if _, err := kube.ParseQuantity(requested[name]); err != nil {
			return fmt.Errorf("%s: %s: %w", set.Spelled(flag), name, err)
		}
	}
	return nil
}

// pullPolicies are the values of --image-pull-policy as Kubernetes spells them.
var pullPolicies = map[string]string{"": "", "always": "Always", "never": "Never", "if_not_present": "IfNotPresent"}

// podSpec fills a specification from the flags of the pods.
func (p *Program) podSpec(set *setting.CommandLine, s *kube.Spec) error {
	if set.True("--operator", false) {
		return errors.New("--operator: there is no operator, runs are plain Jobs; leave it out")
	}
	s.Image = set.Text("--image", lookup(p.Environ, imageVariable))
	if s.Image == "" {
		return fmt.Errorf("--image is missing: name an image with aiperf %s that the nodes can pull, or set %s", Version(), imageVariable)
	}
	s.PullPolicy, s.Keep = pullPolicies[set.Text("--image-pull-policy", "")], int(oneInt(set, "--ttl-seconds", defaultKeep))
	s.Queue, s.PriorityClass, s.ServiceAccount = set.Text("--queue-name", ""), set.Text("--priority-class", ""), set.Text("--service-account", "")
	s.PullSecrets = set.Texts("--image-pull-secrets")
	s.WorkerRequests, s.ControllerRequests = defaultRequests()
	for flag, into := range map[string]*map[string]string{
		"--node-selector": &s.NodeSelector, "--annotations": &s.Annotations, "--labels": &s.Labels, "--env-vars": &s.Env, "--worker-resources": &s.WorkerRequests,
		"--controller-resources": &s.ControllerRequests,
	} {
		if !set.Has(flag) {
			continue
		}
		all, err := pairs(set, flag)
		if err != nil {
			return err
		}
		*into = all
	}
	if err := quantities(set, "--worker-resources", s.WorkerRequests); err != nil {
		return err
	}
	if err := quantities(set, "--controller-resources", s.ControllerRequests); err != nil {
		return err
	}
	var faults [3]error
	s.Tolerations, faults[0] = tolerationsOf(set)
	s.SecretEnv, faults[1] = secretVariables(set)
	s.Mounts, faults[2] = mounts(set)
	return errors.Join(faults[:]...)
}
