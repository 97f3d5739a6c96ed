package page

import (
	"regexp"
	"strings"
)

// A page is sent to others: what directories are called on somebody's machine (accounts, customers, projects) is none of their business, the names of
// files are, since they repeat the run. So a path keeps its last part, in the command and in the settings alike.

// word is a word of a command line, quoted as a shell has it, with the flag before its value where they are one word.
var word = regexp.MustCompile(`(?:'(?:[^']|'\\'')*'|[^\s'])+`)

// aPlace are names of flags and last parts of keys whose value is a path.
var aPlace = regexp.MustCompile(`(?:^|[-_.])(?:f|file|path|dir|dirs|directory|config|descriptors|folder)$`)

// noPlace are names of flags and keys whose value may look like a path and is none: parts of a URL, names of models.
var noPlace = regexp.MustCompile(`^(?:endpoint|custom-endpoint|endpoint\.(?:.*\.)?(?:[a-z]+_)?path|endpoint\.custom_endpoint|(?:server-profiler|reset-kv-cache)-.*|m|model-names|models?\b.*)$`)

// ofArtifacts is the name of the flag of their directory.
var ofArtifacts = regexp.MustCompile(`^(?:output-)?artifact-dir$`)

// absolute is a path in a directory that is one wherever it stands, unlike /think or a prompt.
var absolute = regexp.MustCompile(`^(?:file://)?(?:/[^\s/]+/|~[^\s/]*/|\.{1,2}[/\\]|[A-Za-z]:[/\\]|\\\\)\S+$`)

// withoutDirectories is a command without places on somebody's machine. The directory of the artifacts becomes artifacts/run.
func withoutDirectories(command string) string {
	flag := ""
	first := true
	return word.ReplaceAllStringFunc(command, func(one string) string {
		if first { // the program
			first = false
			return lastPart(one)
		}
		name, value, joined := strings.Cut(one, "=")
		if strings.HasPrefix(one, "-") && !joined {
			flag = one
			return one
		}
		if !strings.HasPrefix(one, "-") {
			name, value = flag, one
		}
		flag = ""
		switch shown := place(strings.TrimLeft(name, "-"), value); {
		case strings.HasPrefix(one, "-"):
			return name + "=" + shown
		default:
			return shown
		}
	})
}

// place is the value of a flag (named without its dashes) or of a setting without the directories of a path; other values stay.
func place(name, value string) string {
	quoted := strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'") && len(value) > 1
	bare := value
	if quoted {
		bare = value[1 : len(value)-1]
	}
	switch {
	case ofArtifacts.MatchString(name):
		return "artifacts/run"
	case noPlace.MatchString(name):
		return value
	case !absolute.MatchString(bare) && (!aPlace.MatchString(name) || strings.Contains(bare, "://")):
		return value
	}
	if bare = lastPart(bare); quoted && strings.ContainsAny(bare, " '\"$`&|;<>()*?[]{}#~\\!") {
		return "'" + bare + "'"
	}
	return bare
}

// lastPart is what stands behind the last separator of a path; a path that ends in one keeps the part before it.
func lastPart(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
