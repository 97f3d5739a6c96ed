package kube

import (
	"context"
	"strings"
)

// serverRights are the optional rights in the namespace of a server.
var serverRights = []right{{"", "services", "", "get"}, {"", "pods", "", "list"}}

// checkServerRights checks the rights with which this computer looks at the pods of a server; none if no URL can be that of a Service.
func checkServerRights(ctx context.Context, c Cluster, server string) []Check {
	_, name, namespace, _ := serviceOf(server, c.Namespace())
	if name == "" {
		return nil
	}
	var missing []string
	for _, r := range serverRights {
		switch ok, err := isAllowed(ctx, c, namespace, r); {
		case err != nil:
			return []Check{{"server rights", Unknown, err.Error()}}
		case !ok:
			missing = append(missing, r.String())
		}
	}
	if missing != nil {
		return []Check{{"server rights", Noted, "your account may not " + strings.Join(missing, ", ") + " in namespace " + namespace + "; runs work, but lack the metrics of the server's pods and GPUs, and do not show their restarts"}}
	}
	everywhere, err := isAllowed(ctx, c, "", right{"", "pods", "", "list"})
	if err != nil {
		return []Check{{"server rights", Unknown, err.Error()}}
	}
	if !everywhere {
		return []Check{{"server rights", Noted, "your account may look at the server, but not list pods of all namespaces; runs look for GPU exporters in the namespaces of run and server only"}}
	}
	return []Check{{"server rights", Passed, "your account may look at the pods of the server in namespace " + namespace + ", and for GPU exporters in all namespaces"}}
}

// isAllowed asks the API server for a right of this account in a namespace; "" = in all.
func isAllowed(ctx context.Context, c Cluster, namespace string, r right) (bool, error) {
	answer, err := c.Create(ctx, Object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": Object{}, "spec": Object{"resourceAttributes": Object{
		"namespace": namespace, "group": r.group, "resource": r.resource, "subresource": r.part, "verb": r.verb,
	}}})
	allowed, _ := at(answer, "status", "allowed").(bool)
	return allowed, err
}
