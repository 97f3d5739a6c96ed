package redact

import (
	"maps"
	"slices"
)

// secretHeaders are headers whose value is a credential, lower case.
var secretHeaders = set(
	"authorization", "proxy-authorization", "x-api-key", "api-key", "ocp-apim-subscription-key", "x-goog-api-key", "x-functions-key",
	"aeg-sas-key", "x-amz-security-token", "cookie", "set-cookie", "x-auth-token", "x-access-token", "x-session-token", "x-csrf-token",
	"x-xsrf-token",
)

// secretParts make any header a credential whose name contains one of them.
var secretParts = []string{
	"auth", "token", "secret", "password", "passwd", "credential", "cookie", "apikey", "api-key", "api_key", "session", "signature",
	"sas-key", "access-key", "private-key",
}

// secretQuery are the query parameters whose value is a credential, lower case.
var secretQuery = set(
	"api_key", "apikey", "key", "token", "access_token", "auth_token", "bearer_token", "id_token", "refresh_token", "secret",
	"client_secret", "password", "passwd", "credential", "access_key_id", "awsaccesskeyid", "sig", "signature", "x-amz-signature",
	"x-amz-security-token", "x-amz-credential", "x-goog-signature", "x-goog-credential",
)

// memberParts make a member of a request a credential whose name contains one of them.
var memberParts = []string{
	"api_key", "api-key", "apikey", "secret", "password", "passwd", "credential", "authorization", "auth_token", "access_token",
	"access-token", "access_key", "private_key", "bearer",
}

// secretFlags make any command-line flag a credential whose name contains one of them.
var secretFlags = []string{
	"api-key", "api-token", "auth-token", "access-token", "bearer-token", "id-token", "refresh-token", "authorization",
}

// textKeys are the words of free text after which "=" or ":" leads to a credential.
var textKeys = []string{"api_key", "apikey", "token", "access_token", "auth_token", "secret", "client_secret", "password"}

// headerNames are the credential headers that free text is searched for; Authorization has a pattern of its own.
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
