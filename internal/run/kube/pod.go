package kube

import (
	"encoding/json"
	"maps"
	"strconv"
)

// pod returns the template of the pods of a role. They run as nobody with a read-only file system and without rights in the cluster.
func (s *Spec) pod(role string, args []string) Object {
	meta := Object{"labels": s.labels(role), "annotations": s.podNotes()}
	spec := Object{
		"restartPolicy": "Never", "automountServiceAccountToken": false, "enableServiceLinks": false, "terminationGracePeriodSeconds": 60,
		"securityContext": Object{"runAsNonRoot": true, "seccompProfile": Object{"type": "RuntimeDefault"}},
		"containers":      []any{s.container(role, args)}, "volumes": s.volumes(role),
	}
	if role == RoleWorker {
		spec["affinity"] = spread(s.Name)
	}
	if len(s.NodeSelector) > 0 {
		spec["nodeSelector"] = mapOf(s.NodeSelector)
	}
	if len(s.Tolerations) > 0 {
		spec["tolerations"] = tolerations(s.Tolerations)
	}
	for key, text := range map[string]string{"priorityClassName": s.PriorityClass, "serviceAccountName": s.ServiceAccount} {
		if text != "" {
			spec[key] = text
		}
	}
	if len(s.PullSecrets) > 0 {
		spec["imagePullSecrets"] = namesOf(s.PullSecrets)
	}
	return Object{"metadata": meta, "spec": spec}
}

// podNotes returns the annotations of pods. A cluster that shrinks must not move them, because a run cannot be continued elsewhere.
func (s *Spec) podNotes() map[string]any {
	notes := map[string]any{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
	maps.Copy(notes, mapOf(s.Annotations))
	return notes
}

// container returns the container of a pod.
func (s *Spec) container(role string, args []string) Object {
	c := Object{
		"name": program, "image": s.Image, "command": []any{program}, "args": listOf(args), "workingDir": "/tmp", "env": s.env(role), "volumeMounts": s.volumeMounts(role),
		"securityContext": Object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": Object{"drop": []any{"ALL"}}},
		"ports":           []any{Object{"name": "health", "containerPort": APIPort}},
		"readinessProbe":  Object{"httpGet": Object{"path": "/readyz", "port": APIPort}, "initialDelaySeconds": 1, "periodSeconds": 2, "timeoutSeconds": 2},
		// A worker that waits for a CPU answers late; only one that is stuck is ended.
		"livenessProbe": Object{"httpGet": Object{"path": "/healthz", "port": APIPort}, "initialDelaySeconds": 5, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 12},
	}
	if s.PullPolicy != "" {
		c["imagePullPolicy"] = s.PullPolicy
	}
	requests := s.ControllerRequests
	if role == RoleWorker {
		requests = s.WorkerRequests
	}
	if len(requests) > 0 {
		c["resources"] = Object{"requests": mapOf(requests)}
	}
	return c
}

// PodIPVariable is the environment variable with the address of a pod. It is set in all pods of a run, and nowhere else.
const PodIPVariable = "AIPERF_POD_IP"

// CommandVariable is the environment variable of the controller with the command line of the user, a JSON list of the words after the program's name.
const CommandVariable = "AIPERF_COMMAND_LINE"

// env returns the environment of a container.
func (s *Spec) env(role string) []any {
	list := []any{
		Object{"name": "HOME", "value": "/tmp"},
		Object{"name": PodIPVariable, "valueFrom": Object{"fieldRef": Object{"fieldPath": "status.podIP"}}},
	}
	if role == RoleWorker {
		list = append(list, Object{"name": "AIPERF_NAME", "valueFrom": Object{"fieldRef": Object{"fieldPath": "metadata.name"}}}, fromSecret("AIPERF_JOIN", s.Name, JoinKey))
	} else {
		for _, name := range sorted(s.Secrets) {
			list = append(list, fromSecret(name, s.Name, name))
		}
		if words, err := json.Marshal(s.Command); err == nil && s.Command != nil {
			list = append(list, Object{"name": CommandVariable, "value": string(words)})
		}
	}
	return append(list, s.userVariables()...)
}

// userVariables returns the variables that the user wants in all pods.
func (s *Spec) userVariables() (list []any) {
	for _, name := range sorted(s.Env) {
		list = append(list, Object{"name": name, "value": s.Env[name]})
	}
	for _, v := range s.SecretEnv {
		list = append(list, fromSecret(v.Name, v.Secret, v.Key))
	}
	return list
}

func fromSecret(name, secret, key string) Object {
	return Object{"name": name, "valueFrom": Object{"secretKeyRef": Object{"name": secret, "key": key}}}
}

// volumes returns the volumes of a pod. A worker sees the token, but not the certificate's key.
func (s *Spec) volumes(role string) []any {
	keys := Object{"secretName": s.Name}
	if role == RoleWorker {
		keys["items"] = []any{Object{"key": "token", "path": "token"}}
	} else {
		items := []any{}
		for _, key := range []string{"token", "tls.crt", "tls.key", TokenKey} {
			items = append(items, Object{"key": key, "path": key})
		}
		keys["items"] = items
	}
	list := []any{Object{"name": "tmp", "emptyDir": Object{}}, Object{"name": "keys", "secret": keys}}
	if role == RoleController {
		list = append(list, Object{"name": "results", "emptyDir": Object{}}, Object{"name": "run", "configMap": Object{"name": s.Name}})
	}
	return append(list, s.userVolumes()...)
}

// userVolumes returns the volumes that the user mounts.
func (s *Spec) userVolumes() (list []any) {
	for i, m := range s.Mounts {
		v := Object{"name": mountName(i)}
		switch {
		case m.Secret != "":
			v["secret"] = Object{"secretName": m.Secret}
		case m.Claim != "":
			v["persistentVolumeClaim"] = Object{"claimName": m.Claim, "readOnly": !m.Writable}
		default:
			v["hostPath"] = Object{"path": m.HostPath}
		}
		list = append(list, v)
	}
	return list
}

func mountName(i int) string { return "mount-" + strconv.Itoa(i) }

// volumeMounts returns where the volumes are in a container.
func (s *Spec) volumeMounts(role string) []any {
	list := []any{Object{"name": "tmp", "mountPath": "/tmp"}, Object{"name": "keys", "mountPath": KeysDir, "readOnly": true}}
	if role == RoleController {
		list = append(list, Object{"name": "results", "mountPath": ResultsDir}, Object{"name": "run", "mountPath": ConfigDir, "readOnly": true})
	}
	return append(list, s.userMounts()...)
}

// userMounts returns where the volumes of the user are in a container.
func (s *Spec) userMounts() (list []any) {
	for i, m := range s.Mounts {
		list = append(list, Object{"name": mountName(i), "mountPath": m.Path, "readOnly": !m.Writable})
	}
	return list
}

// spread prefers one worker a node: each has its own network card and processors then.
func spread(run string) Object {
	term := Object{"topologyKey": "kubernetes.io/hostname", "labelSelector": Object{"matchLabels": Object{RunLabel: run, RoleLabel: RoleWorker}}}
	return Object{"podAntiAffinity": Object{"preferredDuringSchedulingIgnoredDuringExecution": []any{Object{"weight": 100, "podAffinityTerm": term}}}}
}

func tolerations(from []Toleration) []any {
	list := []any{}
	for _, t := range from {
		o := Object{"key": t.Key, "operator": "Exists"}
		if t.Value != "" {
			o["operator"], o["value"] = "Equal", t.Value
		}
		if t.Effect != "" {
			o["effect"] = t.Effect
		}
		list = append(list, o)
	}
	return list
}

// namesOf returns references to objects by name.
func namesOf(names []string) []any {
	list := []any{}
	for _, name := range names {
		list = append(list, Object{"name": name})
	}
	return list
}

func listOf(words []string) []any {
	list := []any{}
	for _, w := range words {
		list = append(list, w)
	}
	return list
}
