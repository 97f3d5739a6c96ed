package hub

import (
	"fmt"
	"strings"
)

// Kind is the cause of a failure; its text is the title to show.
type Kind string

// The causes.
const (
	Gated       Kind = "Gated Repository"
	NotFound    Kind = "Repository Not Found"
	BadRevision Kind = "Invalid Git Revision"
	NoFiles     Kind = "Missing Tokenizer Files"
	Offline     Kind = "Offline - Files Not Cached"
	Timeout     Kind = "Network Timeout"
	Down        Kind = "HuggingFace Hub Error"
	Permission  Kind = "Cache Permission Error"
	Ambiguous   Kind = "Ambiguous Tokenizer Name"
)

// Error is a failure to find a repository's files: what was asked for, what happened, what to do.
type Error struct {
	Kind     Kind
	Repo     string
	Revision string
	Tried    []string // what was tried, in order
	Do       []string // what the user can do
	Err      error    // the cause, may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: tokenizer '%s' (revision '%s')", e.Kind, e.Repo, e.Revision)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if len(e.Tried) > 0 {
		fmt.Fprintf(&b, "; tried: %s", strings.Join(e.Tried, ", "))
	}
	if len(e.Do) > 0 {
		fmt.Fprintf(&b, "; %s", strings.Join(e.Do, "; "))
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// remedies are what to do, by cause.
var remedies = map[Kind][]string{
	NotFound:    {"check the name", "pass --tokenizer with owner/name, a local directory, or builtin"},
	BadRevision: {"pass --tokenizer-revision with a branch, tag or commit of the repository"},
	NoFiles:     {"pass --tokenizer with the base model of this one", "or use --use-server-token-count"},
	Timeout:     {"check HF_ENDPOINT and the proxy", "or pass --tokenizer with a local directory, or builtin"},
	Down:        {"try again later", "or set HF_HUB_OFFLINE=1 if the files are cached", "or pass --tokenizer with a local directory"},
	Permission:  {"make the directory writable, or set HF_HUB_CACHE to one that is"},
	Ambiguous:   {"pass --tokenizer with the full owner/name"},
}

func fail(kind Kind, repo, rev string, err error, tried ...string) *Error {
	return &Error{Kind: kind, Repo: repo, Revision: rev, Err: err, Tried: tried, Do: remedies[kind]}
}
