package config

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// secretName is the name of the environment variable with secret number i of a file that SecretYAML wrote; dollarName that of a dollar sign.
func secretName(i int) string { return fmt.Sprintf("%s%d", secretPrefix, i+1) }

const (
	secretPrefix = "AIPERF_SECRET_"
	dollarName   = "AIPERF_DOLLAR"
)

// IsSecretName reports whether a file that SecretYAML wrote may name this environment variable.
func IsSecretName(name string) bool {
	return name == dollarName || strings.HasPrefix(name, secretPrefix)
}

// SecretYAML returns the whole run as a file that Load can read. Instead of secrets it contains names of environment variables; values are what they
// stand for, by name.
func (r *Run) SecretYAML() (text []byte, values map[string]string, err error) {
	c := *r
	c.Runtime.APIToken, c.Environment.API.Token = "", "" // a run uses its own token
	shown, err := c.explicit()
	if err != nil {
		return nil, nil, err
	}
	n := &yaml.Node{}
	if err := n.Encode(shown); err != nil {
		return nil, nil, err
	}
	inlineScalars(n)
	values = map[string]string{}
	hideSecrets(n, c.distinctSecrets(), values)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, nil, err
	}
	return out.Bytes(), values, enc.Close()
}

// distinctSecrets returns the secrets of the run, the longest first: one may be a part of another.
func (r *Run) distinctSecrets() []string {
	list := slices.DeleteFunc(r.Secrets(), func(s string) bool { return s == "" })
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	return slices.Compact(list)
}

// hideSecrets replaces secrets in the values below a node by variables, and stores what these stand for.
func hideSecrets(n *yaml.Node, secrets []string, values map[string]string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		n.Value = hideIn(n.Value, secrets, values)
	}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			hideSecrets(c, secrets, values)
		}
	}
}

// hideIn replaces secrets in a text by variables. A "${" of the text itself must not become one.
func hideIn(text string, secrets []string, values map[string]string) string {
	for i, secret := range secrets {
		before, after, found := strings.Cut(text, secret)
		if !found {
			continue
		}
		values[secretName(i)] = secret
		return hideIn(before, secrets, values) + "${" + secretName(i) + "}" + hideIn(after, secrets, values)
	}
	if strings.Contains(text, "${") {
		values[dollarName] = "$"
		text = strings.ReplaceAll(text, "${", "${"+dollarName+"}{")
	}
	return text
}
