package redact

import "strings"

// URL redacts the user information and the secret query values of a URL and leaves the rest unchanged. It works on the text, so that it also handles
// URLs that do not parse.
func URL(s string) string {
	head, rest, ok := strings.Cut(s, "://")
	if !ok {
		head, rest = "", s
	} else {
		head += "://"
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = Placeholder + rest[at:]
	}
	base, query, ok := strings.Cut(rest, "?")
	if !ok {
		return head + rest
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	pairs := strings.Split(query, "&")
	for i, p := range pairs {
		if name, _, ok := strings.Cut(p, "="); ok && secretQuery[strings.ToLower(name)] {
			pairs[i] = name + "=" + Placeholder
		}
	}
	query = strings.Join(pairs, "&")
	if hasFragment {
		query += "#" + fragment
	}
	return head + base + "?" + query
}
