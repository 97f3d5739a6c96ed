package kubeclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubeconfig"
)

// clientOf returns a client of a server without TLS.
func clientOf(t *testing.T, p *place) *Client {
	t.Helper()
	at, err := url.Parse(p.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(&kubeconfig.Access{URL: at, Namespace: "bench"}, "aiperf/test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// theirReason returns the reason of an error of client-go, as this package found it before it had its own client.
func theirReason(err error) kube.Reason {
	switch {
	case err == nil:
		return ""
	case apierrors.IsNotFound(err):
		return kube.NotFound
	case apierrors.IsAlreadyExists(err):
		return kube.Exists
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		return kube.Quota
	case apierrors.IsForbidden(err):
		return kube.Forbidden
	case apierrors.IsUnauthorized(err):
		return kube.Unauthorized
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return kube.Invalid
	case apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsServiceUnavailable(err), apierrors.IsTooManyRequests(err):
		return kube.Unreachable
	}
	if errors.As(err, new(apierrors.APIStatus)) {
		return kube.Other
	}
	return kube.Unreachable
}

// answer is what a server answers.
type answer struct {
	code       int
	kind, text string // content type and content
	strict     bool   // client-go takes it for an empty list
}

// refuses returns the answer of an API server that refuses something.
func refuses(code int, reason, message string) answer {
	return answer{code: code, kind: "application/json", text: fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)}
}

// TestReasons: errors have the reasons and messages that client-go finds, for each method.
func TestReasons(t *testing.T) {
	var answers []answer
	for _, reason := range []metav1.StatusReason{
		metav1.StatusReasonUnauthorized, metav1.StatusReasonForbidden, metav1.StatusReasonNotFound, metav1.StatusReasonAlreadyExists, metav1.StatusReasonConflict, metav1.StatusReasonGone,
		metav1.StatusReasonInvalid, metav1.StatusReasonServerTimeout, metav1.StatusReasonStoreReadError, metav1.StatusReasonTimeout, metav1.StatusReasonTooManyRequests,
		metav1.StatusReasonBadRequest, metav1.StatusReasonMethodNotAllowed, metav1.StatusReasonNotAcceptable, metav1.StatusReasonRequestEntityTooLarge,
		metav1.StatusReasonUnsupportedMediaType, metav1.StatusReasonInternalError, metav1.StatusReasonExpired, metav1.StatusReasonServiceUnavailable, "", "Unheard",
	} {
		for _, code := range []int{400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 502, 503, 504} {
			answers = append(answers, refuses(code, string(reason), "because"))
		}
	}
	answers = append(answers, refuses(403, "Forbidden", "exceeded quota: small"), answer{200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden"}`, true})
	for _, code := range []int{300, 400, 401, 403, 404, 405, 406, 409, 413, 415, 418, 422, 429, 500, 502, 503, 504} {
		answers = append(answers, answer{code: code, kind: "text/plain", text: "no"}, answer{code: code, kind: "text/html", text: "<html>no</html>"}, answer{code: code},
			answer{code: code, kind: "application/json", text: `{"error":"x"}`}, answer{code: code, kind: "application/json", text: "{"})
	}
	page := `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`
	answers = append(answers, answer{code: 200, kind: "application/json; charset=utf-8", text: page}, answer{code: 200, kind: "text/html", text: "<html>log in</html>"}, answer{code: 200, kind: "application/json"},
		answer{code: 200, kind: "application/json", text: "[]"}, answer{code: 200, kind: "application/json", text: "{}"}, answer{code: 200, kind: "application/json", text: "{"})
	var now atomic.Pointer[answer]
	p := newPlace(t, false, func(w http.ResponseWriter, _ *http.Request) {
		a := now.Load()
		w.Header()["Content-Type"] = nil
		if a.kind != "" {
			w.Header().Set("Content-Type", a.kind)
		}
		w.WriteHeader(a.code)
		fmt.Fprint(w, a.text)
	})
	ours := clientOf(t, p)
	theirs, _, _, err := clientGo(Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{cluster: "{server: SERVER}"}).content()), Agent: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		a := &answers[i]
		now.Store(a)
		ours.link.throttle = throttle{} // the rate is tested elsewhere
		_, ourError := ours.List(t.Context(), "Pod", "", "")
		if i%100 == 99 { // as above
			if theirs, _, _, err = clientGo(Options{Kubeconfig: p.dir + "/config", Agent: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		_, theirError := theirs.Resource(podResource).Namespace("bench").List(t.Context(), metav1.ListOptions{})
		var e *kube.APIError
		reason, message := kube.Reason(""), ""
		if errors.As(ourError, &e) {
			reason, message = e.Reason, e.Message
		}
		if a.strict {
			if reason != kube.Forbidden || theirError != nil {
				t.Errorf("%+v: %v, client-go: %v", a, ourError, theirError)
			}
			continue
		}
		if reason != theirReason(theirError) || (ourError == nil) != (theirError == nil) {
			t.Errorf("%+v: %v, client-go: %v", a, ourError, theirError)
		}
		var status apierrors.APIStatus
		if errors.As(theirError, &status) && strings.Contains(a.text, `"Status"`) && message != status.Status().Message {
			t.Errorf("%+v: message %q, client-go: %q", a, message, status.Status().Message)
		}
	}
	now.Store(&answer{code: 200, kind: "text/html", text: "<html>log\n in</html>"})
	for name, err := range map[string]error{"get": func() error { _, err := ours.Get(t.Context(), "Pod", "x"); return err }(), "delete": ours.Delete(t.Context(), "Pod", "x")} {
		if err == nil || !strings.Contains(err.Error(), "the answer is 200 OK with an HTML page, so something before the API server answered, such as a proxy or a log-in page: <html>log in</html>") {
			t.Errorf("%s: %v", name, err)
		}
	}
	now.Store(&answer{code: 409})
	if _, err := ours.Create(t.Context(), kube.Object{"kind": "Pod"}); !kube.Is(err, kube.Exists) {
		t.Error(err)
	}
}

// TestObjects: paths, queries, bodies and pages are those of the API.
func TestObjects(t *testing.T) {
	p := newPlace(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodDelete:
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`)
		case strings.HasSuffix(r.URL.Path, "/log"):
			fmt.Fprint(w, "lines")
		case r.URL.Query().Get("continue") == "next":
			fmt.Fprint(w, `{"kind":"JobList","apiVersion":"batch/v1","metadata":{"continue":""},"items":[{"kind":"Other","metadata":{"name":"b"}}]}`)
		default:
			fmt.Fprint(w, `{"kind":"JobList","apiVersion":"batch/v1","metadata":{"continue":"next"},"items":[{"metadata":{"name":"a"},"whole":9007199254740993,"part":1.5}]}`)
		}
	})
	c := clientOf(t, p)
	all, err := c.List(t.Context(), "Job", "a=b", "c=d")
	if err != nil || fmt.Sprint(all) != "[map[apiVersion:batch/v1 kind:Job metadata:map[name:a] part:1.5 whole:9007199254740993] map[kind:Other metadata:map[name:b]]]" {
		t.Error(all, err)
	}
	if _, err := c.In("").Get(t.Context(), "Node", "n"); err != nil {
		t.Error(err)
	}
	if err := c.In("else").Delete(t.Context(), "Secret", "s"); err != nil {
		t.Error(err)
	}
	if _, err := c.Create(t.Context(), kube.Object{"kind": "SelfSubjectAccessReview"}); err != nil {
		t.Error(err)
	}
	for _, o := range []kube.LogOptions{{Pod: "p", Tail: -1}, {Pod: "p", Container: "c", Follow: true, Tail: 3}} {
		log, err := c.Log(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		log.Close()
	}
	var lines []string
	for _, r := range p.requests() {
		line, _, _ := strings.Cut(r, "\n")
		lines = append(lines, strings.TrimSpace(line))
	}
	want := []string{
		"GET HTTP/1.1 /apis/batch/v1/namespaces/bench/jobs fieldSelector=c%3Dd&labelSelector=a%3Db&limit=500",
		"GET HTTP/1.1 /apis/batch/v1/namespaces/bench/jobs continue=next&fieldSelector=c%3Dd&labelSelector=a%3Db&limit=500",
		"GET HTTP/1.1 /api/v1/nodes/n", "DELETE HTTP/1.1 /api/v1/namespaces/else/secrets/s", "POST HTTP/1.1 /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"GET HTTP/1.1 /api/v1/namespaces/bench/pods/p/log", "GET HTTP/1.1 /api/v1/namespaces/bench/pods/p/log container=c&follow=true&tailLines=3",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
	for _, name := range []string{"", ".", "..", "a/b", "a%2fb"} {
		if _, err := c.Get(t.Context(), "Pod", name); err == nil || len(p.requests()) != 0 {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := c.Get(t.Context(), "Strange", "x"); err == nil {
		t.Error("a strange kind was asked for")
	}
}
