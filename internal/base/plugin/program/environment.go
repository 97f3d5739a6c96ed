package program

import (
	"slices"
	"strings"

	"aiperf/internal/base/redact"
)

// environment returns the variables that a program gets: all but those whose name says that they hold a credential. allowed names exceptions.
func environment(all, allowed []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		return !slices.Contains(allowed, name) && (secretVariable(name) || secretValue(value))
	})
}

// secretParts mark a variable as a credential besides the names that redact knows for members of requests.
var secretParts = []string{"token", "passphrase", "apikey"}

// secretVariable reports whether a variable holds a credential.
func secretVariable(name string) bool {
	name = strings.ToLower(name)
	return redact.SecretMember(name) || slices.ContainsFunc(strings.Split(name, "_"), func(word string) bool { return slices.Contains(secretParts, word) })
}

// secretValue reports whether a value is a header with a credential.
func secretValue(value string) bool {
	value = strings.ToLower(value)
	return strings.Contains(value, "authorization:") || strings.HasPrefix(value, "bearer ")
}
