package run

import (
	"encoding/json"
	"os"

	"aiperf/internal/measure/metric"
	"aiperf/internal/run/podserver"
)

// serverPods returns what happened to the pods of the server during a window; nil if this run has no log of them.
func serverPods(getenv func(string) string, window metric.Window, warn func(string)) *metric.ServerPods {
	path := getenv(podserver.PodLogVariable)
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil // nobody watched
	}
	var log metric.PodLog
	if err == nil {
		err = json.Unmarshal(text, &log)
	}
	if err != nil {
		warn("the events of the server's pods cannot be read: " + err.Error())
		return nil
	}
	return log.During(window)
}
