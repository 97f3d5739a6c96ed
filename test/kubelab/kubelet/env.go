package kubelet

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// env returns the environment of a container as NAME=VALUE, or what is missing for it.
func (k *Kubelet) env(ctx context.Context, p *pod, c *v1.Container) ([]string, error) {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOSTNAME=" + p.object.Name, "HOME=/"}
	if u, err := url.Parse(k.config.Server); err == nil {
		env = append(env, "KUBERNETES_SERVICE_HOST="+u.Hostname(), "KUBERNETES_SERVICE_PORT="+u.Port())
	}
	for _, from := range c.EnvFrom {
		more, err := k.envFrom(ctx, p.object.Namespace, from)
		if err != nil {
			return nil, err
		}
		env = append(env, more...)
	}
	for _, e := range c.Env {
		value, found, err := k.envValue(ctx, p, e)
		if err != nil {
			return nil, err
		}
		if found {
			env = append(env, e.Name+"="+expand(value, env))
		}
	}
	return env, nil
}

// envFrom returns all values of a ConfigMap or Secret.
func (k *Kubelet) envFrom(ctx context.Context, namespace string, from v1.EnvFromSource) ([]string, error) {
	var values map[string][]byte
	var err error
	switch {
	case from.ConfigMapRef != nil:
		values, err = k.configMap(ctx, namespace, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		values, err = k.secret(ctx, namespace, from.SecretRef.Name, from.SecretRef.Optional)
	}
	var env []string
	for name, value := range values {
		env = append(env, from.Prefix+name+"="+string(value))
	}
	return env, err
}

// envValue returns the value of one variable and whether it is set.
func (k *Kubelet) envValue(ctx context.Context, p *pod, e v1.EnvVar) (string, bool, error) {
	f := e.ValueFrom
	if f == nil {
		return e.Value, true, nil
	}
	var values map[string][]byte
	var key string
	var optional *bool
	var err error
	switch {
	case f.FieldRef != nil:
		return field(p, f.FieldRef.FieldPath), true, nil
	case f.SecretKeyRef != nil:
		key, optional = f.SecretKeyRef.Key, f.SecretKeyRef.Optional
		values, err = k.secret(ctx, p.object.Namespace, f.SecretKeyRef.Name, optional)
	case f.ConfigMapKeyRef != nil:
		key, optional = f.ConfigMapKeyRef.Key, f.ConfigMapKeyRef.Optional
		values, err = k.configMap(ctx, p.object.Namespace, f.ConfigMapKeyRef.Name, optional)
	default:
		return "", false, fmt.Errorf("env %s: this source is not supported", e.Name)
	}
	value, found := values[key]
	if err == nil && !found && !isTrue(optional) {
		err = fmt.Errorf("couldn't find key %s for env %s", key, e.Name)
	}
	return string(value), found, err
}

// field returns a field of the downward API.
func field(p *pod, path string) string {
	o := p.object
	if kind, key, ok := strings.Cut(strings.TrimSuffix(path, "']"), "['"); ok {
		if kind == "metadata.labels" {
			return o.Labels[key]
		}
		return o.Annotations[key]
	}
	return map[string]string{
		"metadata.name": o.Name, "metadata.namespace": o.Namespace, "metadata.uid": string(o.UID), "spec.nodeName": o.Spec.NodeName,
		"spec.serviceAccountName": o.Spec.ServiceAccountName, "status.podIP": p.address.String(),
	}[path]
}

// expand replaces $(NAME) by values of the environment, as Kubernetes writes it; unknown names stay.
func expand(text string, env []string) string {
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	return text
}

// configMap returns the data of a ConfigMap; none if it is missing and optional.
func (k *Kubelet) configMap(ctx context.Context, namespace, name string, optional *bool) (map[string][]byte, error) {
	m, err := k.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unlessOptional(err, optional)
	}
	data := map[string][]byte{}
	for key, text := range m.Data {
		data[key] = []byte(text)
	}
	for key, b := range m.BinaryData {
		data[key] = b
	}
	return data, nil
}

// secret returns the data of a Secret; none if it is missing and optional.
func (k *Kubelet) secret(ctx context.Context, namespace, name string, optional *bool) (map[string][]byte, error) {
	s, err := k.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unlessOptional(err, optional)
	}
	return s.Data, nil
}

func unlessOptional(err error, optional *bool) error {
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return nil
	}
	return err
}

func isTrue(b *bool) bool { return b != nil && *b }
