package pods

import (
	"cmp"
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"
)

// podList is the part of the API's answer that is used.
type podList struct {
	Metadata struct {
		Continue string `json:"continue"` // token of the next page; "" = there is none
	} `json:"metadata"`
	Items []pod `json:"items"`
}

type pod struct {
	Metadata struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Containers []struct {
			Image string `json:"image"`
			Ports []struct {
				Name          string `json:"name"`
				ContainerPort int    `json:"containerPort"`
			} `json:"ports"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		PodIP string `json:"podIP"`
	} `json:"status"`
}

// Labels and annotations with which pods describe their metrics.
const (
	enabledLabel   = "nvidia.com/metrics-enabled"      // of Dynamo
	pathsNote      = "aiperf.nvidia.com/metrics-paths" // several, separated by commas
	portNote       = "prometheus.io/port"
	pathNote       = "prometheus.io/path"
	schemeNote     = "prometheus.io/scheme"
	metricsPort    = "metrics" // name of a port
	metricsPath    = "/metrics"
	standardScheme = "http"
)

// serverImages lists parts of the names of images that serve models.
var serverImages = []string{
	"vllm", "sglang", "tritonserver", "triton-server", "triton-inference-server", "tensorrt-llm", "tensorrtllm", "trt-llm", "trtllm", "dynamo",
}

// serves reports whether a pod serves models, or says that it has metrics for us.
func (p *pod) serves() bool {
	if strings.EqualFold(p.Metadata.Labels[enabledLabel], "true") || p.Metadata.Annotations[pathsNote] != "" {
		return true
	}
	for _, c := range p.Spec.Containers {
		image := strings.ToLower(c.Image)
		if slices.ContainsFunc(serverImages, func(part string) bool { return strings.Contains(image, part) }) {
			return true
		}
	}
	return false
}

// Default is what is assumed about the page of a pod that does not describe it.
type Default struct {
	Scheme string // "" = http
	Port   string // number or name of a port of its containers; "" = the first one
}

// Pages returns the metrics pages of a pod, an object of the API. It returns none if the pod has no address or port.
func Pages(object map[string]any, d Default) ([]string, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var p pod
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	return p.urls(true, d), nil
}

// urls returns the metrics pages of a pod. It returns none if the pod has no address or port, or if it is not a server and was not picked by its
// labels.
func (p *pod) urls(picked bool, d Default) (list []string) {
	port := p.port(d.Port)
	if p.Status.PodIP == "" || port == 0 || !picked && !p.serves() {
		return nil
	}
	notes := p.Metadata.Annotations
	scheme := cmp.Or(notes[schemeNote], d.Scheme, standardScheme)
	paths := strings.Split(notes[pathsNote], ",")
	if notes[pathsNote] == "" {
		if paths = []string{notes[pathNote]}; paths[0] == "" {
			paths[0] = metricsPath
		}
	}
	for _, path := range paths {
		if path = strings.TrimSpace(path); path == "" {
			continue
		}
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		list = append(list, scheme+"://"+net.JoinHostPort(p.Status.PodIP, strconv.Itoa(port))+path)
	}
	return list
}

// port returns the port of the annotation, else the one called metrics, else the usual one, else the first of a container; 0 = none.
func (p *pod) port(usual string) int {
	if n, err := strconv.Atoi(p.Metadata.Annotations[portNote]); err == nil {
		return n
	}
	first, named := 0, 0
	for _, c := range p.Spec.Containers {
		for _, one := range c.Ports {
			switch {
			case one.ContainerPort == 0:
			case one.Name == metricsPort:
				return one.ContainerPort
			case one.Name != "" && one.Name == usual:
				named = one.ContainerPort
			case first == 0:
				first = one.ContainerPort
			}
		}
	}
	number, _ := strconv.Atoi(usual) // 0 = it is a name
	return cmp.Or(number, named, first)
}
