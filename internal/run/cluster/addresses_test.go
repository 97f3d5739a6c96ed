package cluster

import (
	"strings"
	"testing"

	"aiperf/internal/config"
)

// TestUnknownHost: the error about a host that cannot be looked up names it and its setting.
func TestUnknownHost(t *testing.T) {
	c := &Controller{list: &config.MachineList{Hosts: []string{"me@no..host"}, Count: 1}} // two dots: no name server is asked
	c.opts.As = func(key string) string { return "<" + key + ">" }
	_, _, err := c.addresses(t.Context())
	want := `<machines.on>: cannot look up the host "no..host" (no such host); check its name. If only the shell that starts the workers knows it, give <machines.listen> `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
