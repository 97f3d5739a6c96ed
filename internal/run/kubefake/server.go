package kubefake

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// place is what the path of a request names.
type place struct {
	schema.GroupVersionResource
	namespace, name, part string
}

// placeOf reads the path of a request: /api/v1/… or /apis/GROUP/VERSION/…
func placeOf(path string) (p place, ok bool) {
	words := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(words) > 2 && words[0] == "api":
		p.Version, words = words[1], words[2:]
	case len(words) > 3 && words[0] == "apis":
		p.Group, p.Version, words = words[1], words[2], words[3:]
	default:
		return p, false
	}
	if words[0] == "namespaces" && len(words) > 2 {
		p.namespace, words = words[1], words[2:]
	}
	p.Resource = words[0]
	if len(words) > 1 {
		p.name = words[1]
	}
	if len(words) > 2 {
		p.part = words[2]
	}
	return p, len(words) < 4
}

// ServeHTTP answers as the API server.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := placeOf(r.URL.Path)
	switch {
	case c.Down.Load():
		answer(w, nil, apierrors.NewServiceUnavailable("connection refused"))
	case !ok:
		answer(w, nil, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path))
	case p.part == "log":
		text, ok := c.Logs[p.name]
		if !ok {
			answer(w, nil, apierrors.NewNotFound(p.GroupResource(), p.name))
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text)
	case p.part == "portforward":
		c.forward(w, r)
	default:
		o, err := c.object(r, p)
		answer(w, o, err)
	}
}

// object does to an object, or a list, what a request asks for.
func (c *Cluster) object(r *http.Request, p place) (any, error) {
	var objects dynamic.ResourceInterface = c.API.Resource(p.GroupVersionResource)
	if p.namespace != "" {
		objects = c.API.Resource(p.GroupVersionResource).Namespace(p.namespace)
	}
	query := r.URL.Query()
	switch {
	case r.Method == http.MethodPost:
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(text); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return objects.Create(r.Context(), o, metav1.CreateOptions{})
	case r.Method == http.MethodDelete:
		return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, objects.Delete(r.Context(), p.name, metav1.DeleteOptions{})
	case p.name != "":
		return objects.Get(r.Context(), p.name, metav1.GetOptions{})
	}
	return objects.List(r.Context(), metav1.ListOptions{LabelSelector: query.Get("labelSelector"), FieldSelector: query.Get("fieldSelector")})
}

// answer writes an object, or the status of an error.
func answer(w http.ResponseWriter, o any, err error) {
	code := http.StatusOK
	if err != nil {
		var known apierrors.APIStatus
		if !errors.As(err, &known) {
			known = apierrors.NewInternalError(err)
		}
		s := known.Status()
		s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		o, code = s, int(s.Code)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(o) // the client sees that the answer breaks off
}
