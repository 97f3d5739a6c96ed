package hub

import (
	"fmt"
	"strings"

	"aiperf/internal/setting"
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
	Tried    []string      // what was tried, in order
	Do       []string      // what the user can do, settings as {key}
	Err      error         // the cause, may be nil
	Spell    setting.Spell // words the {keys} in Do
}

// Error says in three lines what there is not, why, and what to type.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no tokenizer %s", e.Repo)
	if e.Revision != "main" {
		fmt.Fprintf(&b, " (revision %s)", e.Revision)
	}
	fmt.Fprintf(&b, ": %s", e.Kind)
	if e.Err != nil || len(e.Tried) > 0 {
		b.WriteString("\n  why: ")
	}
	if e.Err != nil {
		b.WriteString(e.Err.Error())
	}
	if len(e.Tried) > 0 {
		if e.Err != nil {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "looked at %s", strings.Join(e.Tried, ", "))
	}
	if len(e.Do) > 0 {
		fmt.Fprintf(&b, "\n  try: %s", e.Spell.Text(strings.Join(e.Do, ", ")))
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// elsewhere is what to type where the model's own tokenizer cannot be had.
const elsewhere = "or {tokenizer.name} DIRECTORY, or {tokenizer.name} builtin (its counts are not the model's own)"

// remedies are what to do, by cause.
var remedies = map[Kind][]string{
	Gated:       {"ask for access on the model's page and set HF_TOKEN", elsewhere},
	NotFound:    {"{tokenizer.name} OWNER/NAME, spelled as on the hub", elsewhere},
	BadRevision: {"{tokenizer.revision} with a branch, tag or commit of the repository"},
	NoFiles:     {"{tokenizer.name} with the base model of this one", elsewhere},
	Timeout:     {"check HF_ENDPOINT and the proxy", elsewhere},
	Down:        {"again later, or HF_HUB_OFFLINE=1 if the files are cached", elsewhere},
	Permission:  {"make the directory writable, or set HF_HUB_CACHE to one that is"},
	Ambiguous:   {"{tokenizer.name} with the full OWNER/NAME"},
	Offline:     {"run once online", elsewhere},
}

func fail(kind Kind, repo, rev string, err error, tried ...string) *Error {
	return &Error{Kind: kind, Repo: repo, Revision: rev, Err: err, Tried: tried, Do: remedies[kind]}
}
