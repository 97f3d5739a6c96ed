package kubeconfig

import (
	"fmt"
	"os"
	"slices"
)

// Plugin is a program that returns credentials.
type Plugin struct {
	Command     string // a path, or a name that is looked for in PATH
	Args        []string
	Env         []string // NAME=value, added to the environment
	APIVersion  string   // of the messages
	InstallHint string   // of the author, for users who do not have the program
	Interactive string   // Never, IfAvailable or Always: whether it uses standard input
	Cluster     *PluginCluster
}

// PluginCluster is what a program hears of the cluster, as it is written in JSON. nil = nothing.
type PluginCluster struct {
	Server        string `json:"server"`
	ServerName    string `json:"tls-server-name,omitempty"`
	Insecure      bool   `json:"insecure-skip-tls-verify,omitempty"`
	CA            []byte `json:"certificate-authority-data,omitempty"`
	Proxy         string `json:"proxy-url,omitempty"`
	NoCompression bool   `json:"disable-compression,omitempty"`
	Config        any    `json:"config"` // of the extension for programs
}

// How a program uses standard input.
const (
	NeverInteractive  = "Never"
	MaybeInteractive  = "IfAvailable"
	AlwaysInteractive = "Always"
)

// PluginV1 and PluginV1Beta1 are the versions of messages to programs.
const (
	PluginV1      = "client.authentication.k8s.io/v1"
	PluginV1Beta1 = "client.authentication.k8s.io/v1beta1"
)

// pluginExtension is the name of the extension of a cluster that is meant for programs.
const pluginExtension = "client.authentication.k8s.io/exec"

// mode returns how the program uses standard input. Version 1 has no default.
func (p *plugin) mode() string {
	if p.Interactive == "" && (p.APIVersion == PluginV1Beta1 || p.APIVersion == "client.authentication.k8s.io/v1alpha1") {
		return MaybeInteractive
	}
	return p.Interactive
}

// resolve returns the program of a user for a cluster.
func (p *plugin) resolve(a *Access, c *cluster) (*Plugin, error) {
	if !slices.Contains([]string{PluginV1, PluginV1Beta1}, p.APIVersion) {
		return nil, fmt.Errorf("apiVersion %q of exec is not supported; allowed are %s and %s", p.APIVersion, PluginV1, PluginV1Beta1)
	}
	made := &Plugin{Command: p.Command, Args: p.Args, APIVersion: p.APIVersion, InstallHint: clean(p.InstallHint), Interactive: p.mode()}
	for _, e := range p.Env {
		made.Env = append(made.Env, e.Name+"="+e.Value)
	}
	if !p.WithCluster {
		return made, nil
	}
	about := &PluginCluster{Server: pluginServer(c.Server, a), ServerName: c.ServerName, Insecure: c.Insecure, CA: c.CA, NoCompression: c.NoCompression}
	if len(about.CA) == 0 && c.CAFile != "" {
		text, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, err
		}
		about.CA = text
	}
	if a.Proxy != nil {
		about.Proxy = a.Proxy.String()
	}
	for _, e := range c.Extensions {
		if e.Name == pluginExtension {
			about.Config = e.Value
		}
	}
	made.Cluster = about
	return made, nil
}

// pluginServer returns the server as a program hears it: as it is written, but without a query if it has a path.
func pluginServer(server string, a *Access) string {
	if len(a.URL.Path) > 1 {
		return a.URL.String()
	}
	return server
}
