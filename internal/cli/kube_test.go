package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/redact"
	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubefake"
)

// kubeTest runs kube commands against a cluster for tests.
type kubeTest struct {
	*kubefake.Cluster
	t *testing.T

	mu      sync.Mutex
	state   string // of the controller
	status  int
	output  string
	posted  []string
	fetched bool
	live    []byte // what the run publishes; nil = nothing
}

func newKubeTest(t *testing.T) *kubeTest {
	t.Helper()
	k := &kubeTest{Cluster: kubefake.New(t), t: t, state: "finished", output: "line of the run\n"}
	server := httptest.NewServer(http.HandlerFunc(k.serve))
	t.Cleanup(server.Close)
	k.Server = server.Listener.Addr().String()
	return k
}

// serve answers as the controller of a run.
func (k *kubeTest) serve(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case r.Method == http.MethodPut:
		body, _ := io.ReadAll(r.Body)
		k.posted = append(k.posted, fmt.Sprintf("%s %d", r.URL.Path, len(body)))
		fmt.Fprint(w, "{}")
	case r.Header.Get("Authorization") == "Bearer ":
		http.Error(w, "no token", http.StatusUnauthorized)
	case r.Method == http.MethodPost:
		k.posted = append(k.posted, r.URL.Path)
		k.fetched = k.fetched || r.URL.Path == "/api/fetched"
		fmt.Fprint(w, "{}")
	case r.URL.Path == "/api/live":
		if k.live == nil {
			http.NotFound(w, r)
		}
		_, _ = w.Write(k.live)
	case r.URL.Path == "/api/output":
		from := r.URL.Query().Get("from")
		w.Header().Set("Aiperf-First", from)
		w.Header().Set("Aiperf-State", k.state)
		if from == "0" {
			w.Header().Set("Aiperf-State", "running")
			fmt.Fprint(w, k.output)
		}
	case r.URL.Path == "/api/state":
		fmt.Fprintf(w, `{"state":%q,"exit_status":%d,"fetched":%t}`, k.state, k.status, k.fetched)
	case r.URL.Path == "/api/results/list": // the digest is that of "x"
		sum := "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
		fmt.Fprintf(w, `{"files":[{"name":"profile_export_aiperf.csv","size":1,"sha256":%q},{"name":"profile_export.jsonl","size":1,"sha256":%q}]}`, sum, sum)
	default:
		fmt.Fprint(w, "x")
	}
}

// run executes a command line and returns its status and what it printed.
func (k *kubeTest) run(words ...string) (status int, out, errs string) {
	k.t.Helper()
	var o, e strings.Builder
	p := &Program{
		Streams: Streams{Out: &o, Err: &e, Environ: []string{"AIPERF_IMAGE=aiperf:test"}},
		Kube: KubeTools{
			Open: func(_, _, namespace string) (kube.Cluster, error) {
				if namespace == "" {
					namespace = kubefake.Namespace
				}
				return k.In(namespace), nil
			},
			Keys: func(host string, port int) (map[string][]byte, string, error) {
				return map[string][]byte{"token": []byte("t")}, fmt.Sprintf("tls://%s:%d/pin", host, port), nil
			},
		},
		FindTokenizer: offline,
	}
	status = Main(k.t.Context(), p, append([]string{"kube"}, words...))
	return status, o.String(), e.String()
}

// expect runs a command line and checks its status and a part of what it printed.
func (k *kubeTest) expect(status int, want, line string) {
	k.t.Helper()
	got, out, errs := k.run(strings.Fields(line)...)
	if got != status || !strings.Contains(out+errs, want) {
		k.t.Errorf("%s: status %d, want %d and %q:\n%s%s", line, got, status, want, out, errs)
	}
}

// pods adds the pods of a run, which all run.
func (k *kubeTest) pods(run string, workers int) {
	k.Pod(run, "controller", run+"-controller-x", "Running", `"conditions":[{"type":"Ready","status":"True"}]`)
	for i := range workers {
		k.Pod(run, "worker", fmt.Sprintf("%s-worker-%d", run, i), "Running", "")
	}
}

// benchmark is a command line of a run.
const benchmark = "--model m --url http://server:8000 --tokenizer builtin --concurrency 4 --request-count 8 --api-key key-of-the-server"

// TestKubeProfile: a run is created, followed and fetched, its status is that of the command, and nothing of it is left.
func TestKubeProfile(t *testing.T) {
	k, dir := newKubeTest(t), t.TempDir()
	k.pods("one", 4)
	k.status = 3
	k.output = "CSV Export: /results/profile_export_aiperf.csv\nthe last line"
	k.expect(3, "CSV Export: "+filepath.Join(dir, "profile_export_aiperf.csv")+"\nthe last line", "profile --name one --artifact-dir "+dir+" "+benchmark)
	if text, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.csv")); err != nil || string(text) != "x" {
		t.Error(string(text), err)
	}
	for _, kind := range []string{"Job", "Secret", "ConfigMap", "Service"} {
		if left, err := k.List(t.Context(), kind, "", ""); len(left) > 0 || err != nil {
			t.Error(kind, left, err)
		}
	}
}

// TestKubeSendsData: a data file that no ConfigMap holds is sent to the controller, which knows its digest.
func TestKubeSendsData(t *testing.T) {
	k, large := newKubeTest(t), filepath.Join(t.TempDir(), "large.jsonl")
	if err := os.WriteFile(large, []byte(strings.Repeat("{\"text\":\"x\"}\n", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	k.pods("big", 4)
	k.expect(0, "the run has its 1 data file", "profile --name big -d --input-file "+large+" --custom-dataset-type single_turn "+benchmark)
	if want := "/api/data/0-large.jsonl 1300000"; len(k.posted) != 1 || k.posted[0] != want {
		t.Errorf("%q, want %q", k.posted, want)
	}
	job, err := k.Get(t.Context(), "Job", "big-controller")
	if err != nil || !strings.Contains(fmt.Sprint(job), "--data-files 0-large.jsonl=") {
		t.Error(job, err)
	}
	config, err := k.Get(t.Context(), "ConfigMap", "big")
	if err != nil || !strings.Contains(fmt.Sprint(config["data"]), kube.DataDir+"/0-large.jsonl") {
		t.Error(config["data"], err)
	}
}

// TestKubeDetached: a run that was started is found by the other commands.
func TestKubeDetached(t *testing.T) {
	k, dir := newKubeTest(t), t.TempDir()
	k.expect(0, "follow it with: aiperf kube attach one", "profile --name one -d --env-vars A=b --tolerations gpu=yes:NoSchedule --labels team=x "+benchmark)
	k.expect(1, "namespace bench has a run one already; choose another name", "profile --name one -d "+benchmark)
	job, err := k.Get(t.Context(), "Job", "one-worker")
	if err != nil || fmt.Sprint(job["spec"].(kube.Object)["completions"]) != "4" { //nolint:forcetypeassert // the fake keeps what it got
		t.Error(job, err)
	}
	secret, err := k.Get(t.Context(), "Secret", "one")
	if err != nil || !strings.Contains(fmt.Sprint(secret["data"]), "AIPERF_SECRET_1") {
		t.Error(secret, err)
	}
	k.expect(0, "pending", "list")
	k.expect(1, "has no pod controller", "logs one --ignore-not-found")
	k.expect(0, "had not begun and was deleted", "cancel one")
	k.expect(1, "namespace bench has no run one", "attach one")
	k.expect(0, "has no run one", "attach one --ignore-not-found")

	k.expect(0, "run two has 2 workers", "profile --name two -d --total-workers 2 "+benchmark)
	k.pods("two", 2)
	k.Logs["two-controller-x"] = "printed\n"
	k.expect(0, "line of the run", "attach")
	k.expect(0, "printed", "logs two")
	k.expect(0, "running", "list --running --wide -n bench")
	k.expect(0, "no runs", "list --failed")
	k.expect(0, "printed", "debug two")
	k.expect(0, "kind: ConfigMap", "show two")
	k.expect(0, ".", "results list-runs two")
	k.expect(0, "1 file of run two", "results two --summary-only --output "+dir)
	k.expect(1, "its files would be lost", "delete two")
	k.expect(0, "2 files of run two", "results two --output "+dir)
	k.state = "running"
	k.expect(1, "has not ended", "results two --output "+dir)
	k.expect(0, "run two stops", "cancel two")
	k.state = "finished"
	k.expect(0, "", "shutdown two")
	if got := strings.Join(k.posted, " "); got != "/api/fetched /api/cancel /api/shutdown" {
		t.Error(got)
	}
	k.expect(0, "", "cleanup --dry-run")
	k.expect(0, "two (running) would be deleted", "cleanup --all --force --dry-run")
	k.expect(0, "5 objects deleted", "delete two")
}

// TestKubeRefusals: errors name the flag.
func TestKubeRefusals(t *testing.T) {
	k := newKubeTest(t)
	large := filepath.Join(t.TempDir(), "large.jsonl")
	if err := os.WriteFile(large, []byte(strings.Repeat("{\"text\":\"x\"}\n", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"profile --name Bad_ " + benchmark:             `--name "Bad_"`,
		"profile --machines 3 " + benchmark:            "the machines of a run on a cluster are its worker pods",
		"profile --tolerations :x " + benchmark:        `--tolerations ":x"`,
		"profile --env-from-secrets A=b " + benchmark:  "want NAME=SECRET/KEY",
		"profile --host-paths data:/data " + benchmark: "data is not an absolute path",
		"profile --operator " + benchmark:              "there is no operator",
		"profile --node-selector x " + benchmark:       "want NAME=VALUE",
		"generate --input-file " + large + " --custom-dataset-type single_turn --model m --url h:1 --tokenizer builtin": "too large for a ConfigMap",
		"generate --only-secret " + benchmark: "needs --name",
		"generate --total-workers 8 --image I --model m --url h:1 --tokenizer builtin --concurrency 16 --request-count 4":      "--total-workers 8: --request-count 4 cannot be split into 8 parts; write at most --total-workers 4",
		"generate --worker-resources cpu=1,memory=lots --image I --model m --url h:1 --tokenizer builtin --request-count 9":    `--worker-resources: memory: "lots" is not a quantity such as 500m or 2Gi`,
		"generate --controller-resources cpu=-1 --image I --model m --url h:1 --tokenizer builtin --request-count 9":           `--controller-resources: cpu: "-1" is not a quantity such as 500m or 2Gi`,
		"profile --total-workers 8 --image I --model m --url h:1 --tokenizer builtin --concurrency 16,4 --request-count 99 -d": "--total-workers 8: --concurrency 4 cannot be split into 8 parts",
		"generate --kubeconfig /nowhere --only-secret --name one " + benchmark:                                                 "--kubeconfig: /nowhere does not exist",
		"show --path /nowhere.yaml":         "--path: /nowhere.yaml does not exist",
		"results one --run x":               "not built yet",
		"cancel one two":                    "one run at a time",
		"sweep --max-runs 3 " + benchmark:   "--max-runs: use --trials",
		"preflight --endpoint-url http://h": "",
		"init --job-name X":                 `--job-name "X"`,
		"validate":                          "name the files",
		"nonsense":                          `unknown command "nonsense"`,
	} {
		if want != "" {
			k.expect(1, want, line)
		}
	}
	var errs strings.Builder
	p := &Program{Streams: Streams{Out: &errs, Err: &errs}}
	if status := Main(t.Context(), p, []string{"kube", "list"}); status != 1 || !strings.Contains(errs.String(), "built without clusters") {
		t.Error(status, errs.String())
	}
}

// TestKubeFindsMetrics: a run gets the metrics pages of the server's pods, which its pods have no right to look for, unless the user does not want them.
func TestKubeFindsMetrics(t *testing.T) {
	k := newKubeTest(t)
	k.Add(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"server"},"spec":{"selector":{"app":"llm"},"ports":[{"port":8000}]}}`)
	for _, one := range [][3]string{{"llm-0", `"app":"llm"`, "10.0.0.1"}, {"dcgm", `"app":"nvidia-dcgm-exporter"`, "10.0.0.2"}} {
		k.Add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + one[0] + `","namespace":"bench","labels":{` + one[1] + `}},"spec":{"nodeName":"n"},"status":{"phase":"Running","podIP":"` + one[2] + `"}}`)
	}
	for i, one := range []struct{ flags, note, pages, gpus string }{
		{"", "server metrics are read from 1 pod; GPU metrics are read from DCGM exporters on 1 of the server's 1 node", "http://10.0.0.1:8000/metrics", "http://10.0.0.2:9400/metrics"},
		{"--gpu-telemetry http://10.9.9.9:9400", "DCGM exporters on 1", "http://10.0.0.1:8000/metrics", "http://10.9.9.9:9400/metrics, http://10.0.0.2:9400/metrics"},
		{"--no-gpu-telemetry", "server metrics are read from 1 pod\n", "http://10.0.0.1:8000/metrics", ""},
		{"--no-server-metrics", "GPU metrics are read", "", "http://10.0.0.2:9400/metrics"},
		{"--no-server-metrics --no-gpu-telemetry", "", "", ""},
	} {
		name := fmt.Sprintf("m%d", i)
		k.expect(0, one.note, "profile -d --name "+name+" "+one.flags+" "+benchmark)
		o, err := k.Get(t.Context(), "ConfigMap", name)
		text := fmt.Sprint(o["data"])
		if err != nil || strings.Contains(text, "10.0.0.1") != (one.pages != "") || strings.Contains(text, "10.0.0.2") != (one.gpus != "") || !strings.Contains(text, one.pages) {
			t.Errorf("%s: %v %s", one.flags, err, text)
		}
	}
}

// TestKubeCommandLine: the report of a run on a cluster shows the command line of the user; other runs show that of their process.
func TestKubeCommandLine(t *testing.T) {
	args := []string{"/bin/aiperf", "profile", "--url", "h:1"}
	for value, want := range map[string]string{"": "profile --url h:1", `["kube","profile"]`: "kube profile", "[]": "profile --url h:1", "no list": "profile --url h:1"} {
		if got := strings.Join(ReportedWords(args, []string{kube.CommandVariable + "=" + value}), " "); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	if got := strings.Join(redact.Args([]string{"--env-vars", "A=secret", "--api-key", "secret", "--name", "n"}, kubeFlagSecret), " "); strings.Contains(got, "secret") || !strings.HasSuffix(got, "--name n") {
		t.Error(got)
	}
	k := newKubeTest(t)
	k.expect(0, "", "profile -d --name one "+benchmark)
	job, err := k.Get(t.Context(), "Job", "one-controller")
	if text := fmt.Sprint(job); err != nil || !strings.Contains(text, kube.CommandVariable) || strings.Contains(text, "key-of-the-server") {
		t.Error(text, err)
	}
}

// TestKubeFiles: manifests are printed without secrets, are valid, and their Secret is made apart; a file to start from is valid too.
func TestKubeFiles(t *testing.T) {
	k, dir := newKubeTest(t), t.TempDir()
	status, manifests, errs := k.run(strings.Fields("generate --name one " + benchmark)...)
	if status != 0 || strings.Contains(manifests, "key-of-the-server") {
		t.Fatal(status, manifests, errs)
	}
	file := filepath.Join(dir, "manifests.yaml")
	if err := os.WriteFile(file, []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	k.expect(0, file+": valid", "validate "+file)
	k.expect(0, "join: ", "generate --name one --only-secret -n other "+benchmark)
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(manifests, "Indexed", "NonIndexed")), 0o600); err != nil {
		t.Fatal(err)
	}
	k.expect(1, "completionMode must be Indexed", "validate "+file)
	config := filepath.Join(dir, "run.yaml")
	k.expect(0, "", "init --model m --url http://server:8000 --output "+config)
	k.expect(0, `"valid": true`, "validate -o json "+config)
	k.expect(0, "name: my-benchmark-controller", "show --path "+config)
	k.expect(0, "minimal", "init --list")
	k.expect(0, "kind: Job", "profile --dry-run --name one "+benchmark)
	const small = "generate --name one --image I --model m --tokenizer builtin --url "
	k.expect(0, "parallelism: 4", small+"h:1 --request-rate 2 --request-count 4")
	k.expect(0, "parallelism: 3", small+"h:1 --concurrency 16 --prefill-concurrency 3 --streaming")
	k.expect(0, "warning: --url http://localhost:1: in a pod, localhost is the pod itself; write the name of a Service, for example http://NAME:8000", small+"http://localhost:1")
	k.expect(0, "print it with the same flags, --name one and --only-secret", small+"h:1")
}

// TestKubeVolumeFiles: files that are only on a volume of the pods stay there, and the flags say what their rows would say.
func TestKubeVolumeFiles(t *testing.T) {
	k := newKubeTest(t)
	const run = "generate --name one --model m --url http://server:8000 --tokenizer builtin --volume-claims data:/data --input-file /data/x.jsonl "
	k.expect(1, "--input-file /data/x.jsonl is only on a volume of the pods, so its format cannot be detected here: give --custom-dataset-type", run)
	k.expect(1, "give --fixed-schedule or --no-fixed-schedule", run+"--custom-dataset-type mooncake_trace")
	k.expect(1, "give --num-sessions", run+"--custom-dataset-type dag_jsonl")
	k.expect(1, "/elsewhere/x.jsonl does not exist", strings.ReplaceAll(run, "/data/x", "/elsewhere/x"))
	for flags, want := range map[string]string{
		"--custom-dataset-type single_turn --concurrency 4 --system-prompt-file /data/system.txt": "system_prompt_file: /data/system.txt",
		"--custom-dataset-type mooncake_trace --fixed-schedule":                                   "type: fixed_schedule",
		"--custom-dataset-type mooncake_trace --no-fixed-schedule":                                "type: concurrency",
		"--custom-dataset-type dag_jsonl --num-sessions 3":                                        "sessions: 3",
	} {
		status, out, errs := k.run(strings.Fields(run + flags)...)
		if status != 0 || !strings.Contains(out, "path: /data/x.jsonl") || !strings.Contains(out, want) {
			t.Errorf("%s: status %d, want %q:\n%s%s", flags, status, want, out, errs)
		}
	}
}

// TestKubePreflight: the checks are printed, and a problem is status 3.
func TestKubePreflight(t *testing.T) {
	k := newKubeTest(t)
	k.Allow()
	var errs strings.Builder
	ask := func(words ...string) (int, string) {
		var out strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, Kube: KubeTools{Open: func(_, _, _ string) (kube.Cluster, error) { return k.Cluster, nil }}}
		return Main(context.WithoutCancel(t.Context()), p, append([]string{"kube", "preflight"}, words...)), out.String()
	}
	if status, out := ask(); status != 3 || !strings.Contains(out, "none of 0 nodes") || !strings.Contains(out, "ok") {
		t.Error(status, out, errs.String())
	}
	if status, out := ask("-o", "json"); status != 3 || !strings.Contains(out, `"state": "problem"`) {
		t.Error(status, out)
	}
	if status, _ := ask("--endpoint-url", "http://h"); status != 1 || !strings.Contains(errs.String(), "name its --image") {
		t.Error(status, errs.String())
	}
	small, large := filepath.Join(t.TempDir(), "small.jsonl"), filepath.Join(t.TempDir(), "large.jsonl")
	for file, size := range map[string]int{small: 10, large: 3 << 20} {
		if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, out := ask("--input-file", small, "--input-file", large, "--input-file", t.TempDir(), "--input-file", "absent", "--input-file", "/data/x", "--volume-claims", "data:/data")
	for _, want := range []string{"1 KiB; it fits into the ConfigMap", "3.0 MiB; it is sent to the controller", "it is a folder; put it on a volume", "absent: no such file", "it is on a volume, where a pod reads it"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestKubeProbe: what preflight runs in a pod prints its tests as JSON, with the clock of the node.
func TestKubeProbe(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	var out strings.Builder
	p := &Program{Streams: Streams{Out: &out, Err: &out}}
	if status := Main(t.Context(), p, []string{"kube", "probe", "--url", server.URL, "--tokenizer", "builtin", "--files", "absent"}); status != 0 {
		t.Fatal(status, out.String())
	}
	var got kube.ProbeResult
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	states := ""
	for _, c := range got.Checks {
		states += c.Name + " " + c.State + ", "
	}
	if states != "server ok, tokenizer ok, data absent problem, " || got.Began == 0 || got.Ended < got.Began {
		t.Errorf("%s %+v", states, got)
	}
}
