package kubeclient

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var quiet = log.New(io.Discard, "", 0)

// described returns all that a server can know of a request.
func described(r *http.Request) string {
	lines := []string{r.Method + " " + r.Proto + " " + r.URL.Path + " " + r.URL.RawQuery}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		lines = append(lines, fmt.Sprintf("%s: %q", name, r.Header[name]))
	}
	if r.TLS != nil {
		lines = append(lines, "server name: "+r.TLS.ServerName)
		for _, c := range r.TLS.PeerCertificates {
			lines = append(lines, "certificate: "+c.Subject.CommonName)
		}
	}
	return strings.Join(lines, "\n")
}

// clientGo opens the cluster of a kubeconfig with client-go, as this package did before it had its own client.
func clientGo(o Options) (dynamic.Interface, string, *rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	over := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	over.Context.Namespace = o.Namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, over)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", nil, err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", nil, err
	}
	config.UserAgent, config.QPS, config.Burst, config.WarningHandler = o.Agent, 50, 100, rest.NoWarnings{}
	objects, err := dynamic.NewForConfig(config)
	return objects, namespace, config, err
}

// podResource is where pods are.
var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// kubeconfigCase is a kubeconfig. Without a text it has one context with a user and a cluster.
type kubeconfigCase struct {
	cluster, user string // members of the entries, in braces; "" = {server: SERVER, certificate-authority: ca.crt}, {}
	context       string // members of the context
	text          string
	options       Options
	env           string // KUBECONFIG, names in the folder with blanks between them
	plain         bool   // the server speaks HTTP
	fails         bool   // both clients must fail
	lenient       bool   // this client accepts what client-go does not
	differs       string // why this client fails and client-go does not; a part of the error
}

func (c *kubeconfigCase) content() string {
	if c.text != "" {
		return c.text
	}
	cluster, user := c.cluster, c.user
	if cluster == "" {
		cluster = "{server: SERVER, certificate-authority: ca.crt}"
	}
	if user == "" {
		user = "{}"
	}
	return "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts:\n- name: x\n  context: {cluster: c, user: u" + c.context + "}\nclusters:\n- name: c\n  cluster: " + cluster + "\nusers:\n- name: u\n  user: " + user + "\n"
}

// TestSameAsClientGo: a server receives the same from this client and from client-go, whatever a kubeconfig says, and both refuse the same kubeconfigs.
func TestSameAsClientGo(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for name, c := range kubeconfigCases {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, !c.plain, nil)
			o := c.options
			o.Agent = "aiperf/test"
			path := p.write(t, "config", c.content())
			p.write(t, "second", second)
			if c.env != "" {
				var names []string
				for name := range strings.FieldsSeq(c.env) {
					names = append(names, filepath.Join(p.dir, name))
				}
				t.Setenv("KUBECONFIG", strings.Join(names, string(os.PathListSeparator)))
			} else {
				o.Kubeconfig = path
			}
			ourSpace, ourError := ourList(t, o)
			ours := p.requests()
			theirSpace, theirError := theirList(t, o)
			theirs := p.requests()
			if c.differs != "" {
				if theirError != nil || ourError == nil || !strings.Contains(ourError.Error(), c.differs) || len(ours) != 0 {
					t.Errorf("this client: %v, client-go: %v, requests %q", ourError, theirError, ours)
				}
				return
			}
			if c.lenient {
				if ourError != nil || theirError == nil || len(ours) != 1 {
					t.Errorf("this client: %v, client-go: %v, requests %q", ourError, theirError, ours)
				}
				return
			}
			if (ourError == nil) == c.fails || (theirError == nil) == c.fails || !c.fails && ourSpace != theirSpace || !slices.Equal(ours, theirs) {
				t.Errorf("this client: namespace %q, error %v, requests\n%s\n\nclient-go: namespace %q, error %v, requests\n%s", ourSpace, ourError, strings.Join(ours, "\n"), theirSpace, theirError, strings.Join(theirs, "\n"))
			}
			if c.fails && len(ours) != 0 {
				t.Errorf("requests were sent: %q", ours)
			}
		})
	}
}

func ourList(t *testing.T, o Options) (string, error) {
	client, err := Open(o)
	if err != nil {
		return "", err
	}
	defer client.CloseIdleConnections()
	_, err = client.List(t.Context(), "Pod", "a=b", "")
	return client.Namespace(), err
}

func theirList(t *testing.T, o Options) (string, error) {
	objects, namespace, _, err := clientGo(o)
	if err != nil {
		return "", err
	}
	_, err = objects.Resource(podResource).Namespace(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "a=b", Limit: 500})
	return namespace, err
}
