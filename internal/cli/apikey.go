package cli

import (
	"fmt"
	"net/url"
	"strings"
)

// keyOf is the key that a value of --api-key names: the value itself, or with env:NAME that of a variable of the environment.
func keyOf(value string, environ []string) (string, error) {
	name, named := strings.CutPrefix(value, "env:")
	if !named {
		return value, nil
	}
	if key := lookup(environ, name); key != "" {
		return key, nil
	}
	return "", fmt.Errorf("the environment has no variable %s; set it with: export %s=KEY", name, name)
}

// openAIHost is the host that the key in OPENAI_API_KEY is made for.
const openAIHost = "api.openai.com"

// ambientKey is the key of the environment for a URL that nobody gave a key for: OPENAI_API_KEY, for OpenAI's own host over TLS alone.
func ambientKey(base string, environ []string) string {
	if u, err := url.Parse(base); err == nil && u.Scheme == "https" && strings.EqualFold(u.Hostname(), openAIHost) {
		return lookup(environ, "OPENAI_API_KEY")
	}
	return ""
}
