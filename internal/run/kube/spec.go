// Package kube runs benchmarks on a Kubernetes cluster: it writes the objects of a run, creates them, follows the run, fetches its files and deletes what it
// made. A run is two Jobs (the controller, and the workers as an Indexed Job), a ConfigMap, a Secret and a headless Service, all in one namespace. They are
// found by their labels, so any computer with access to the namespace can follow a run.
package kube

// Object is an object of the Kubernetes API as it is written in JSON.
type Object = map[string]any

// Spec says what a run on a cluster is made of.
type Spec struct {
	Name       string // of the run: lower-case letters, digits and -
	Image      string
	PullPolicy string // Always, IfNotPresent, Never; "" = the cluster decides
	Workers    int
	Keep       int  // for how long files and Jobs are kept after the end, s
	Sweep      bool // the run is a series of runs

	ControllerArgs []string // arguments of the program in the controller's pod
	WorkerArgs     []string
	Command        []string          // command line of the user, without secrets, for the report; nil = that of the pod
	Config         []byte            // configuration of the run
	Data           map[string][]byte // small data files by name
	Uploads        []Upload          // data files that are too large for a ConfigMap
	Secrets        map[string]string // values of environment variables of the controller; nil values are allowed in manifests without secrets
	Facts          map[string]string // annotations that describe the run in lists

	Labels, Annotations, NodeSelector map[string]string
	Tolerations                       []Toleration
	PriorityClass, ServiceAccount     string
	Queue                             string // queue of Kueue; "" = none
	PullSecrets                       []string
	Env                               map[string]string
	SecretEnv                         []SecretVariable
	Mounts                            []Mount
	ControllerRequests                map[string]string // resources by name
	WorkerRequests                    map[string]string
}

// Upload is a data file on this computer that the controller gets before the run starts.
type Upload struct {
	Name   string // in DataDir
	Path   string // on this computer
	SHA256 string // hexadecimal digits
}

// Toleration lets pods run on nodes with a taint.
type Toleration struct {
	Key, Value, Effect string // an empty value or effect matches all
}

// SecretVariable is an environment variable from a Secret of the namespace.
type SecretVariable struct{ Name, Secret, Key string }

// Mount is a volume in all pods of a run. One of Secret, Claim and HostPath says what it is.
type Mount struct {
	Secret   string
	Claim    string // PersistentVolumeClaim
	HostPath string
	Path     string // in the pods
	Writable bool
}

// Labels and annotations of the objects of a run.
const (
	RunLabel  = "aiperf/run"
	RoleLabel = "aiperf/role"
	KindLabel = "aiperf/kind" // KindRun or KindSweep

	ModelNote    = "aiperf/model"
	EndpointNote = "aiperf/endpoint" // URLs with blanks between them
	WorkersNote  = "aiperf/workers"

	RoleController = "controller"
	RoleWorker     = "worker"
	KindRun        = "job"
	KindSweep      = "sweep"

	queueLabel   = "kueue.x-k8s.io/queue-name"
	managedLabel = "app.kubernetes.io/managed-by"
	nameLabel    = "app.kubernetes.io/name"
	program      = "aiperf"
)

// Places and ports in the pods.
const (
	ConfigDir   = "/etc/aiperf/run"
	ConfigFile  = "run.yaml"
	KeysDir     = "/etc/aiperf/keys"
	ResultsDir  = "/results"
	DataDir     = "/tmp/aiperf-data"
	APIPort     = 8080
	MachinePort = 4222
	// JoinKey is the key of the Secret with the address of the controller, and TokenKey that of the token of its API.
	JoinKey  = "join"
	TokenKey = "api-token"
)

// MaxData is the largest sum of the data in the ConfigMap of a run, bytes. The API server accepts 1 MiB.
const MaxData = 900 << 10

// ControllerHost returns the name at which workers reach the controller.
func ControllerHost(run, namespace string) string { return run + "." + namespace + ".svc" }

// labels returns the labels of an object of the run.
func (s *Spec) labels(role string) map[string]any {
	all := map[string]any{}
	for name, value := range s.Labels {
		all[name] = value
	}
	kind := KindRun
	if s.Sweep {
		kind = KindSweep
	}
	all[nameLabel], all[managedLabel], all[RunLabel], all[KindLabel] = program, program, s.Name, kind
	if role != "" {
		all[RoleLabel] = role
	}
	return all
}

// metadata returns the metadata of an object of the run.
func (s *Spec) metadata(name, role string) Object {
	m := Object{"name": name, "labels": s.labels(role)}
	if notes := mapOf(s.Annotations); len(notes) > 0 {
		m["annotations"] = notes
	}
	return m
}

// mapOf converts a map for an object.
func mapOf(from map[string]string) map[string]any {
	to := map[string]any{}
	for name, value := range from {
		to[name] = value
	}
	return to
}
