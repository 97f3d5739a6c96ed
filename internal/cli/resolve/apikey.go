package resolve

import (
	"fmt"
	"net/url"
	"strings"
)

// APIKey returns the key that a value of --api-key means: the value itself, or for env:NAME the value of that environment variable.
func APIKey(value string, environ []string) (string, error) {
	name, named := strings.CutPrefix(value, "env:")
	if !named {
		return value, nil
	}
	if key, _ := getenv(environ)(name); key != "" {
		return key, nil
	}
	return "", fmt.Errorf("the environment has no variable %s; set it with: export %s=KEY", name, name)
}

// openAIHost is the only host that gets the key in OPENAI_API_KEY.
const openAIHost = "api.openai.com"

// EnvironmentAPIKey returns the key from the environment for a URL without a key: OPENAI_API_KEY, but only for OpenAI's own host over TLS.
func EnvironmentAPIKey(base string, environ []string) string {
	if u, err := url.Parse(base); err == nil && u.Scheme == "https" && strings.EqualFold(u.Hostname(), openAIHost) {
		key, _ := getenv(environ)("OPENAI_API_KEY")
		return key
	}
	return ""
}
