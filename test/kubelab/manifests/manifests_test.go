// Package manifests checks what "aiperf kube generate" prints against the types of the Kubernetes API. It needs no cluster.
package manifests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/json"
)

// base is a command line without flags of the pods.
const base = "kube generate --name run --image aiperf:1 --model m --url http://server:8000 --tokenizer builtin --concurrency 4 --request-count 8"

// commands are command lines that together use every flag of the pods.
var commands = map[string]string{
	"plain": base,
	"places": base + " --node-selector pool=load --tolerations gpu=yes:NoSchedule --tolerations spot --queue-name team --priority-class high --service-account runner --image-pull-secrets registry" +
		" --image-pull-policy if_not_present",
	"content": base + " --env-vars A=b --env-from-secrets HF_TOKEN=hub/token --secret-mounts ca:/ca --volume-claims data:/data --host-paths /srv/models:/models --labels team=x --annotations note=y" +
		" --worker-resources cpu=500m,memory=1Gi --controller-resources cpu=2 --ttl-seconds 60 --total-workers 4",
	"secret": base + " --api-key k --only-secret --namespace bench",
	"series": strings.Replace(base, "--concurrency 4", "--concurrency 2,4", 1),
}

// generated returns the documents that a command line prints.
func generated(t *testing.T, line string) []byte {
	t.Helper()
	program := os.Getenv("AIPERF")
	if program == "" {
		t.Fatal("AIPERF does not name a program to test; make kubelab sets it")
	}
	c := exec.Command(program, strings.Fields(line)...)
	c.Dir, c.Env = t.TempDir(), append(os.Environ(), "HOME="+t.TempDir(), "KUBECONFIG=none")
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return out
}

// TestTypes: each document has only fields of its kind, with values of their types.
func TestTypes(t *testing.T) {
	for name, line := range commands {
		kinds := map[string]int{}
		documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(generated(t, line))))
		for {
			text, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			kind, err := check(text)
			if err != nil {
				t.Errorf("%s: %s: %v\n%s", name, kind, err, text)
			}
			kinds[kind]++
		}
		want := map[string]int{"batch/v1 Job": 2, "v1 ConfigMap": 1, "v1 Service": 1}
		if name == "secret" {
			want = map[string]int{"v1 Secret": 1}
		}
		for kind, n := range want {
			if kinds[kind] != n || len(kinds) != len(want) {
				t.Errorf("%s: %v, want %v", name, kinds, want)
			}
		}
	}
}

// TestCheckFindsFaults: a field that no kind has, and a value of another type, are found.
func TestCheckFindsFaults(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {clusterIp: None}":           `unknown field "spec.clusterIp"`,
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {parallelism: many}":       "cannot unmarshal string",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}":                            "not a kind of a run",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {size: 3}":                 "cannot unmarshal number",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {key: \"no base64, surely\"}": "illegal base64",
	} {
		if _, err := check([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// check decodes a document into the type of its kind and returns the kind.
func check(text []byte) (kind string, err error) {
	data, err := yaml.ToJSON(text)
	if err != nil {
		return "", err
	}
	var meta struct{ APIVersion, Kind string }
	if err := json.Unmarshal(data, &meta); err != nil {
		return "", err
	}
	kind = meta.APIVersion + " " + meta.Kind
	into, ok := map[string]any{"batch/v1 Job": &batch.Job{}, "v1 ConfigMap": &v1.ConfigMap{}, "v1 Secret": &v1.Secret{}, "v1 Service": &v1.Service{}}[kind]
	if !ok {
		return kind, errors.New("not a kind of a run")
	}
	faults, err := strict.UnmarshalStrict(data, into) // unlike encoding/json, it distinguishes clusterIP from clusterIp
	return kind, errors.Join(append(faults, err)...)
}
