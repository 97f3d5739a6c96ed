package redact

import (
	"maps"
	"slices"
)

// secretHeaders are headers whose value is a credential, in lower case.
var secretHeaders = set(
	"authorization", "proxy-authorization", "x-api-key", "api-key", "ocp-apim-subscription-key", "x-goog-api-key", "x-functions-key",
	"aeg-sas-key", "x-amz-security-token", "cookie", "set-cookie", "x-auth-token", "x-access-token", "x-session-token", "x-csrf-token",
	"x-xsrf-token",
)

// secretParts mark a header as a credential if its name contains one of them.
var secretParts = []string{
	"auth", "token", "secret", "password", "passwd", "credential", "cookie", "apikey", "api-key", "api_key", "session", "signature",
	"sas-key", "access-key", "private-key",
}

// secretQuery are the query parameters whose value is a credential, in lower case.
var secretQuery = set(
	"api_key", "apikey", "key", "token", "access_token", "auth_token", "bearer_token", "id_token", "refresh_token", "secret",
	"client_secret", "password", "passwd", "credential", "access_key_id", "awsaccesskeyid", "sig", "signature", "x-amz-signature",
	"x-amz-security-token", "x-amz-credential", "x-goog-signature", "x-goog-credential",
)

// memberParts mark a member of a request as a credential if its name contains one of them.
var memberParts = []string{
	"api_key", "api-key", "apikey", "secret", "password", "passwd", "credential", "authorization", "auth_token", "access_token",
	"access-token", "access_key", "private_key", "bearer",
}

// secretFlags mark a command-line flag as a credential if its name contains one of them.
var secretFlags = []string{
	"api-key", "api-token", "auth-token", "access-token", "bearer-token", "id-token", "refresh-token", "authorization",
}

// textKeys are the words of free text after which "=" or ":" introduces a credential.
var textKeys = []string{"api_key", "apikey", "token", "access_token", "auth_token", "secret", "client_secret", "password"}

// headerNames returns the credential headers to search for in free text. Authorization is not among them, because it has a separate pattern.
func headerNames() []string {
	names := slices.Sorted(maps.Keys(secretHeaders))
	return slices.DeleteFunc(names, func(n string) bool { return n == "authorization" || n == "proxy-authorization" })
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
