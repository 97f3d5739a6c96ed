package artifact

import (
	"reflect"
	"testing"

	"aiperf/internal/measure/metric"
)

// somePods are pods of a server to which something happened.
func somePods() *metric.ServerPods {
	return &metric.ServerPods{
		Pods: 2, Start: 5, Events: []metric.PodEvent{{At: 7, Pod: "a", Kind: metric.PodRestarted, Reason: "OOMKilled"}}, Unwatched: []metric.Window{{From: 5, To: 6}},
	}
}

// TestServerPodsReadAgain: the verdict of a summary has the events of the pods, and a report reads them again.
func TestServerPodsReadAgain(t *testing.T) {
	v := &metric.Validity{}
	v.ServerPods = somePods()
	got, err := ReadValidity(appendValidity(nil, v))
	if err != nil || !reflect.DeepEqual(got.ServerPods, somePods()) {
		t.Errorf("%+v %v", got.ServerPods, err)
	}
	if _, err := ReadValidity([]byte(`{"server_pods":[]}`)); err == nil {
		t.Error("a list was accepted")
	}
}
