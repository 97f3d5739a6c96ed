package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Namespace creates a namespace and waits until pods can be created in it.
func (l *Lab) Namespace(ctx context.Context, name string) error {
	n := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := l.Client.CoreV1().Namespaces().Create(ctx, n, metav1.CreateOptions{}); err != nil {
		return err
	}
	return Wait(time.Minute, "default service account", func() (bool, error) {
		_, err := l.Client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, err
	})
}

// Apply creates the objects of a YAML text in a namespace, as the user of a configuration.
func Apply(ctx context.Context, config *rest.Config, namespace, text string) error {
	return create(ctx, config, namespace, text, metav1.CreateOptions{})
}

// Check lets the API server check the objects of a YAML text without creating them (a server-side dry run). Fields that it does not know are errors.
func Check(ctx context.Context, config *rest.Config, namespace, text string) error {
	return create(ctx, config, namespace, text, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
}

func create(ctx context.Context, config *rest.Config, namespace, text string, how metav1.CreateOptions) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		var o unstructured.Unstructured
		if err := documents.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		kind := o.GroupVersionKind()
		m, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return err
		}
		if _, err := client.Resource(m.Resource).Namespace(namespace).Create(ctx, &o, how); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Kind, o.GetName(), err)
		}
	}
}

// Pods returns the pods with a label.
func (l *Lab) Pods(ctx context.Context, namespace, selector string) ([]v1.Pod, error) {
	list, err := l.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Logs returns the output of a pod's only container.
func (l *Lab) Logs(ctx context.Context, namespace, pod string) (string, error) {
	b, err := l.Client.CoreV1().Pods(namespace).GetLogs(pod, &v1.PodLogOptions{}).DoRaw(ctx)
	return string(b), err
}

// Token returns a configuration with the rights of a service account only.
func (l *Lab) Token(ctx context.Context, namespace, account string) (*rest.Config, error) {
	t, err := l.Client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authentication.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	c := rest.AnonymousClientConfig(l.Config)
	c.BearerToken = t.Status.Token
	return c, nil
}
