package kubeconfig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// file is a kubeconfig as it is written. Unknown keys are ignored, as kubectl does.
type file struct {
	Kind       string `yaml:"kind"`
	APIVersion string `yaml:"apiVersion"`
	Current    string `yaml:"current-context"`
	Clusters   []struct {
		Name    string  `yaml:"name"`
		Cluster cluster `yaml:"cluster"`
	} `yaml:"clusters"`
	Contexts []struct {
		Name    string    `yaml:"name"`
		Context inContext `yaml:"context"`
	} `yaml:"contexts"`
	Users []struct {
		Name string `yaml:"name"`
		User user   `yaml:"user"`
	} `yaml:"users"`
}

// cluster is an entry of clusters.
type cluster struct {
	Server        string      `yaml:"server"`
	ServerName    string      `yaml:"tls-server-name"`
	Insecure      bool        `yaml:"insecure-skip-tls-verify"`
	CAFile        string      `yaml:"certificate-authority"`
	CA            data        `yaml:"certificate-authority-data"`
	Proxy         string      `yaml:"proxy-url"`
	NoCompression bool        `yaml:"disable-compression"`
	Extensions    []extension `yaml:"extensions"`
}

// extension is a value of other programs.
type extension struct {
	Name  string `yaml:"name"`
	Value any    `yaml:"extension"`
}

// inContext is an entry of contexts.
type inContext struct {
	Cluster   string `yaml:"cluster"`
	User      string `yaml:"user"`
	Namespace string `yaml:"namespace"`
}

// user is an entry of users.
type user struct {
	CertFile     string              `yaml:"client-certificate"`
	Cert         data                `yaml:"client-certificate-data"`
	KeyFile      string              `yaml:"client-key"`
	Key          data                `yaml:"client-key-data"`
	Token        string              `yaml:"token"`
	TokenFile    string              `yaml:"tokenFile"`
	As           string              `yaml:"as"`
	AsUID        string              `yaml:"as-uid"`
	AsGroups     []string            `yaml:"as-groups"`
	AsExtra      map[string][]string `yaml:"as-user-extra"`
	Username     string              `yaml:"username"`
	Password     string              `yaml:"password"`
	AuthProvider *struct {
		Name string `yaml:"name"`
	} `yaml:"auth-provider"`
	Exec *plugin `yaml:"exec"`
}

// plugin is the program of a user that returns credentials.
type plugin struct {
	Command string   `yaml:"command"`
	Args    []string `yaml:"args"`
	Env     []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	} `yaml:"env"`
	APIVersion  string `yaml:"apiVersion"`
	InstallHint string `yaml:"installHint"`
	WithCluster bool   `yaml:"provideClusterInfo"`
	Interactive string `yaml:"interactiveMode"`
}

// data is base64 text.
type data []byte

// UnmarshalYAML implements yaml.Unmarshaler. The error does not show the text: it may be a key.
func (d *data) UnmarshalYAML(n *yaml.Node) error {
	var text string
	if err := n.Decode(&text); err != nil {
		return err
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("yaml: line %d: the value is not base64", n.Line)
	}
	*d = decoded
	return nil
}

// read returns the entries of a file, with paths relative to its folder.
func read(path string) (*entries, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, errors.New(syntaxError(path, err))
	}
	if f.Kind != "" && f.Kind != "Config" || f.APIVersion != "" && f.APIVersion != "v1" {
		return nil, fmt.Errorf("%s is not a kubeconfig: its kind is %q of %q, but must be \"Config\" of \"v1\"", path, f.Kind, f.APIVersion)
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return f.entries(path, folder)
}

// entries returns the entries of a file by name.
func (f *file) entries(path, folder string) (*entries, error) {
	e := newEntries()
	e.current = f.Current
	var errs []error
	add := func(list, name string, twice bool) {
		if twice {
			errs = append(errs, fmt.Errorf("%s: two entries of %s have the name %q", path, list, name))
		}
	}
	for _, one := range f.Clusters {
		one.Cluster.CAFile = from(folder, one.Cluster.CAFile)
		add("clusters", one.Name, put(e.clusters, one.Name, one.Cluster))
	}
	for _, one := range f.Contexts {
		add("contexts", one.Name, put(e.contexts, one.Name, one.Context))
	}
	for _, one := range f.Users {
		u := one.User
		u.CertFile, u.KeyFile, u.TokenFile = from(folder, u.CertFile), from(folder, u.KeyFile), from(folder, u.TokenFile)
		if u.Exec != nil && strings.ContainsRune(u.Exec.Command, filepath.Separator) { // a bare name is looked for in PATH
			u.Exec.Command = from(folder, u.Exec.Command)
		}
		add("users", one.Name, put(e.users, one.Name, u))
	}
	return e, joined(errs)
}

// from returns a path relative to a folder.
func from(folder, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// put adds an entry and reports whether there was one with that name.
func put[T any](all map[string]T, name string, one T) bool {
	_, twice := all[name]
	all[name] = one
	return twice
}

// syntaxError describes an error of the YAML parser as file:line. It leaves out values, which may be secrets.
func syntaxError(path string, err error) string {
	var types *yaml.TypeError
	texts := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if errors.As(err, &types) {
		texts = types.Errors
	}
	for i, text := range texts {
		if rest, ok := strings.CutPrefix(text, "line "); ok {
			line, what, _ := strings.Cut(rest, ": ")
			texts[i] = path + ":" + line + ": " + withoutValue(what)
		} else {
			texts[i] = path + ": " + text
		}
	}
	return strings.Join(texts, "; ")
}

// withoutValue says what the parser found and wanted in words of YAML: "cannot unmarshal !!str `secret` into bool".
func withoutValue(what string) string {
	found, wanted, ok := strings.Cut(what, " into ")
	if !ok || !strings.HasPrefix(found, "cannot unmarshal !!") {
		return what
	}
	kinds := map[string]string{"map": "a mapping", "seq": "a list", "str": "a text", "int": "a number", "float": "a number", "bool": "true or false", "null": "nothing"}
	name, _, _ := strings.Cut(strings.TrimPrefix(found, "cannot unmarshal !!"), " ")
	return fmt.Sprintf("found %s, expected %s", describe(kinds, name), expected(wanted))
}

// describe returns the description of a kind, or its name.
func describe(kinds map[string]string, name string) string {
	if text := kinds[name]; text != "" {
		return text
	}
	return name
}

// expected returns what a Go type is in YAML.
func expected(goType string) string {
	switch {
	case goType == "bool":
		return "true or false"
	case goType == "string":
		return "a text"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	}
	return "a mapping"
}
