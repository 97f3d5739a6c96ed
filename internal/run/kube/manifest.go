package kube

import (
	"bytes"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Controller returns the Job of the controller. Everything else of a run belongs to it.
func (s *Spec) Controller() Object {
	meta := s.metadata(s.Name+"-"+RoleController, RoleController)
	notes := mapOf(s.Annotations)
	maps.Copy(notes, mapOf(s.Facts))
	notes[WorkersNote] = strconv.Itoa(s.Workers)
	meta["annotations"] = notes
	s.enqueue(meta)
	return Object{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": Object{
		"backoffLimit": 0, "ttlSecondsAfterFinished": s.Keep, "template": s.pod(RoleController, s.ControllerArgs),
	}}
}

// earlyFailures is how often a worker may fail before it has joined, for example because the controller's image takes long.
const earlyFailures = 6

// Workers returns the Job of the workers. A worker that failed after it had joined would be refused by the controller, which ends its index; the others
// continue.
func (s *Spec) workers() Object {
	meta := s.metadata(s.Name+"-"+RoleWorker, RoleWorker)
	s.enqueue(meta)
	refused := Object{"action": "FailIndex", "onExitCodes": Object{"containerName": program, "operator": "In", "values": []any{2, 3}}}
	return Object{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": Object{
		"completionMode": "Indexed", "completions": s.Workers, "parallelism": s.Workers, "backoffLimitPerIndex": earlyFailures, "ttlSecondsAfterFinished": s.Keep,
		"podFailurePolicy": Object{"rules": []any{refused}}, "template": s.pod(RoleWorker, s.WorkerArgs),
	}}
}

// enqueue lets Kueue admit a Job.
func (s *Spec) enqueue(meta Object) {
	if labels, ok := meta["labels"].(map[string]any); ok && s.Queue != "" {
		labels[queueLabel] = s.Queue
	}
}

// Service returns the headless Service by which workers find the controller. Its name must be known before the controller is ready.
func (s *Spec) service() Object {
	return Object{"apiVersion": "v1", "kind": "Service", "metadata": s.metadata(s.Name, ""), "spec": Object{
		"clusterIP": "None", "publishNotReadyAddresses": true, "selector": Object{RunLabel: s.Name, RoleLabel: RoleController},
		"ports": []any{Object{"name": "machines", "port": MachinePort}},
	}}
}

// configMap returns the ConfigMap with the configuration and small data files.
func (s *Spec) configMap() Object {
	text, binary := map[string]any{ConfigFile: string(s.Config)}, map[string]any{}
	for name, content := range s.Data {
		if utf8.Valid(content) {
			text[name] = string(content)
		} else {
			binary[name] = base64.StdEncoding.EncodeToString(content)
		}
	}
	o := Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": s.metadata(s.Name, ""), "data": text}
	if len(binary) > 0 {
		o["binaryData"] = binary
	}
	return o
}

// Secret returns the Secret of a run: keys of the controller by file name, and the secrets of the configuration.
func (s *Spec) Secret(keys map[string][]byte) Object {
	data := map[string]any{}
	for name, content := range keys {
		data[name] = base64.StdEncoding.EncodeToString(content)
	}
	for name, value := range s.Secrets {
		data[name] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return Object{"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": s.metadata(s.Name, ""), "data": data}
}

// Objects returns the objects of a run without its Secret, in the order in which they are created: the controller's Job, to which the others belong, first.
func (s *Spec) Objects() []Object {
	return []Object{s.Controller(), s.configMap(), s.service(), s.workers()}
}

// YAML writes objects as a stream of documents.
func YAML(objects []Object) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	for _, o := range objects {
		if err := enc.Encode(o); err != nil {
			return nil, err
		}
	}
	err := enc.Close()
	return out.Bytes(), err
}

// sorted returns the names of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
