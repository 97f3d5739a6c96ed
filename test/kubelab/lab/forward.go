package lab

import (
	"bytes"
	"fmt"
	"net/http"

	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// Forward forwards a free local port to a port of a pod, through the API server, until stop is called. It uses WebSockets if asked to, else
// SPDY.
func (l *Lab) Forward(namespace, pod string, port int, webSocket bool) (local uint16, stop func(), err error) {
	dialer, err := l.dialer(namespace, pod, webSocket)
	if err != nil {
		return 0, nil, err
	}
	ended, ready, failed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var out, errs bytes.Buffer
	f, err := portforward.NewOnAddressesForStreaming(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, ended, ready, &out, &errs)
	if err != nil {
		return 0, nil, err
	}
	go func() { failed <- f.ForwardPorts() }()
	select {
	case err := <-failed:
		return 0, nil, fmt.Errorf("%w: %s", err, errs.String())
	case <-ready:
	}
	ports, err := f.GetPorts()
	if err != nil {
		close(ended)
		return 0, nil, err
	}
	return ports[0].Local, func() {
		close(ended)
		_ = <-failed // it was asked to end
	}, nil
}

func (l *Lab) dialer(namespace, pod string, webSocket bool) (httpstream.Dialer, error) {
	url := l.Client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	if webSocket {
		return portforward.NewSPDYOverWebsocketDialerForStreaming(url, l.Config)
	}
	transport, upgrader, err := spdy.RoundTripperFor(l.Config)
	if err != nil {
		return nil, err
	}
	return spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url), nil
}
