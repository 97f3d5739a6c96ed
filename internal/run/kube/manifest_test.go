package kube_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/run/kube"
)

// sample is a run with all that a specification can say.
func sample() *kube.Spec {
	return &kube.Spec{
		Name: "demo", Image: "registry/aiperf:1", PullPolicy: "Always", Workers: 3, Keep: 300, ControllerArgs: []string{"service"}, WorkerArgs: []string{"worker"},
		Config: []byte("benchmark:\n  api_key: ${AIPERF_SECRET_1}\n"), Data: map[string][]byte{"0-prompts.jsonl": []byte("{}\n"), "1-x.bin": {0xff, 0xfe}},
		Secrets: map[string]string{"AIPERF_SECRET_1": "key-of-the-server"}, Facts: map[string]string{kube.ModelNote: "m"},
		Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"}, NodeSelector: map[string]string{"pool": "load"},
		Tolerations:   []kube.Toleration{{Key: "load", Value: "yes", Effect: "NoSchedule"}, {Key: "any"}},
		PriorityClass: "high", ServiceAccount: "runner", Queue: "q", PullSecrets: []string{"pull"}, Env: map[string]string{"A": "1"},
		SecretEnv:      []kube.SecretVariable{{Name: "HF_TOKEN", Secret: "hf", Key: "token"}},
		Mounts:         []kube.Mount{{Secret: "certs", Path: "/certs"}, {Claim: "data", Path: "/data"}, {HostPath: "/srv", Path: "/srv"}},
		WorkerRequests: map[string]string{"cpu": "2"}, ControllerRequests: map[string]string{"cpu": "1"},
	}
}

// find returns the value at a path of names and indices in an object.
func find(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%v: no object at %q", path, key)
			}
			v = m[key]
		case int:
			l, ok := v.([]any)
			if !ok || key >= len(l) {
				t.Fatalf("%v: no item %d", path, key)
			}
			v = l[key]
		}
	}
	return v
}

// TestManifests: what is written can be read again, holds no secret, and its pods have no rights that they do not need.
func TestManifests(t *testing.T) {
	s := sample()
	text, err := kube.YAML(s.Objects())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "key-of-the-server") {
		t.Error("the manifests hold a secret")
	}
	var objects []kube.Object
	for dec := yaml.NewDecoder(strings.NewReader(string(text))); ; {
		var o kube.Object
		if dec.Decode(&o) != nil {
			break
		}
		objects = append(objects, o)
	}
	if errs, warnings := kube.ValidateObjects(objects); len(errs)+len(warnings) > 0 || len(objects) != 4 {
		t.Error(errs, warnings, len(objects))
	}
	if got := kube.ConfigOf(objects); got != string(s.Config) {
		t.Errorf("%q", got)
	}
	for _, i := range []int{0, 3} {
		pod := find(t, objects[i], "spec", "template", "spec")
		for _, c := range []struct {
			want any
			path []any
		}{
			{false, []any{"automountServiceAccountToken"}}, {"Never", []any{"restartPolicy"}}, {true, []any{"securityContext", "runAsNonRoot"}},
			{"RuntimeDefault", []any{"securityContext", "seccompProfile", "type"}}, {true, []any{"containers", 0, "securityContext", "readOnlyRootFilesystem"}},
			{false, []any{"containers", 0, "securityContext", "allowPrivilegeEscalation"}}, {"ALL", []any{"containers", 0, "securityContext", "capabilities", "drop", 0}},
			{"/healthz", []any{"containers", 0, "livenessProbe", "httpGet", "path"}}, {"/readyz", []any{"containers", 0, "readinessProbe", "httpGet", "path"}},
			{"load", []any{"nodeSelector", "pool"}}, {"Equal", []any{"tolerations", 0, "operator"}}, {"Exists", []any{"tolerations", 1, "operator"}}, {"high", []any{"priorityClassName"}},
			{"runner", []any{"serviceAccountName"}}, {"pull", []any{"imagePullSecrets", 0, "name"}}, {"Always", []any{"containers", 0, "imagePullPolicy"}},
		} {
			if got := find(t, pod, c.path...); got != c.want {
				t.Errorf("object %d: %v is %v, want %v", i, c.path, got, c.want)
			}
		}
		if find(t, objects[i], "metadata", "labels", "kueue.x-k8s.io/queue-name") != "q" || find(t, objects[i], "metadata", "labels", "team") != "a" {
			t.Errorf("object %d: labels %v", i, find(t, objects[i], "metadata", "labels"))
		}
	}
	if find(t, objects[3], "spec", "completionMode") != "Indexed" || find(t, objects[3], "spec", "completions") != 3 {
		t.Errorf("%v", objects[3])
	}
	if find(t, objects[3], "spec", "template", "spec", "volumes", 1, "secret", "items", 0, "key") != "token" {
		t.Error("workers see more than their token")
	}
}

// TestValidateObjects: manifests that are not those of one run are refused with the reason.
func TestValidateObjects(t *testing.T) {
	for want, change := range map[string]func(objects []kube.Object) []kube.Object{
		"the Job of the workers of the run is missing": func(o []kube.Object) []kube.Object { return o[:3] },
		"restartPolicy must be Never": func(o []kube.Object) []kube.Object {
			find(t, o[0], "spec", "template", "spec").(kube.Object)["restartPolicy"] = "Always" //nolint:forcetypeassert // find has checked it
			return o
		},
		"belong to different runs": func(o []kube.Object) []kube.Object {
			other := *sample()
			other.Name = "other"
			return append(o[:3], other.Objects()[3])
		},
		"needs a kind and a name": func(o []kube.Object) []kube.Object { return append(o, kube.Object{"a": "b"}) },
	} {
		errs, _ := kube.ValidateObjects(change(sample().Objects()))
		if !strings.Contains(strings.Join(errs, "\n"), want) {
			t.Errorf("%v, want %q", errs, want)
		}
	}
	if _, warnings := kube.ValidateObjects(append(sample().Objects(), sample().Secret(nil))); len(warnings) != 1 {
		t.Error(warnings)
	}
}
