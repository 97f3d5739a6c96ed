package htmlreport

import (
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// A page is shared with others. Names of directories (accounts, customers, projects) should not be published, but file names are needed to repeat the
// run. So only the last part of a path is shown, in the command and in the settings.

// word matches a word of a command line, quoted as in a shell, or a flag with its value if they are one word.
var word = lazyregexp.New(`(?:'(?:[^']|'\\'')*'|[^\s'])+`)

// aPlace matches names of flags and last parts of keys whose value is a path.
var aPlace = lazyregexp.New(`(?:^|[-_.])(?:f|file|path|dir|dirs|directory|config|descriptors|folder)$`)

// noPlace matches names of flags and keys whose value may look like a path but is not one: parts of a URL, names of models.
var noPlace = lazyregexp.New(`^(?:endpoint|custom-endpoint|endpoint\.(?:.*\.)?(?:[a-z]+_)?path|endpoint\.custom_endpoint|(?:server-profiler|reset-kv-cache)-.*|m|model-names|models?\b.*)$`)

// ofArtifacts matches the flag of the artifact directory.
var ofArtifacts = lazyregexp.New(`^(?:output-)?artifact-dir$`)

// absolute matches what is clearly a path with a directory, unlike /think or a prompt.
var absolute = lazyregexp.New(`^(?:file://)?(?:/[^\s/]+/|~[^\s/]*/|\.{1,2}[/\\]|[A-Za-z]:[/\\]|\\\\)\S+$`)

// withoutDirectories removes the directories from a command. The artifact directory becomes artifacts/run.
func withoutDirectories(command string) string {
	flag := ""
	first := true
	return word.ReplaceAllStringFunc(command, func(one string) string {
		if first { // the name of the program
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

// place removes the directories from the value of a flag (named without its dashes) or of a setting. Values that are not paths are unchanged.
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

// lastPart returns the part of a path after the last separator, ignoring a separator at the end.
func lastPart(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
