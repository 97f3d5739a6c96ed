package redact

import "strings"

// Args redacts a command line for the record. Flags are given as "--flag value", "--flag=value", "-x value" or "-x=value"; a flag may take
// several values, up to the next item that starts with a dash.
func Args(args []string) []string {
	out := make([]string, len(args))
	kind := keep
	for i, a := range args {
		if !strings.HasPrefix(a, "-") || len(a) == 1 || negative(a) {
			out[i] = kind.redact(a)
			continue
		}
		name, value, inline := strings.Cut(a, "=")
		kind = flagKind(name)
		out[i] = a
		if inline {
			out[i] = name + "=" + kind.redact(value)
		}
	}
	return out
}

// argKind says what the values of a flag are.
type argKind int

const (
	keep argKind = iota
	secret
	headerItem
	urlValue
)

func (k argKind) redact(v string) string {
	switch k {
	case secret:
		return Placeholder
	case headerItem:
		return HeaderItem(v)
	case urlValue:
		return urls(v)
	}
	return v
}

// urls redacts a list of URLs with commas between them.
func urls(v string) string {
	list := strings.Split(v, ",")
	for i, u := range list {
		list[i] = URL(u)
	}
	return strings.Join(list, ",")
}

func flagKind(flag string) argKind {
	flag = strings.ReplaceAll(flag, "_", "-")
	if k, ok := flagKinds[flag]; ok {
		return k
	}
	for _, part := range secretFlags {
		if strings.Contains(flag, part) {
			return secret
		}
	}
	return keep
}

// negative tells whether a dash begins a number rather than a flag.
func negative(a string) bool { return a[1] >= '0' && a[1] <= '9' || a[1] == '.' }
