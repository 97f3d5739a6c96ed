package hfhub

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Kind is the cause of a failure. Its text is the title in messages.
type Kind string

// The causes.
const (
	Gated        Kind = "Gated Repository"
	NotFound     Kind = "Repository Not Found"
	BadRevision  Kind = "Invalid Git Revision"
	NoFiles      Kind = "Missing Tokenizer Files"
	Offline      Kind = "Offline - Files Not Cached"
	Timeout      Kind = "Network Timeout"
	Down         Kind = "HuggingFace Hub Error"
	Permission   Kind = "Cache Permission Error"
	Ambiguous    Kind = "Ambiguous Tokenizer Name"
	NoData       Kind = "Missing Data Files"
	Unauthorized Kind = "Token Refused"
	Busy         Kind = "Rate Limited"
	DiskFull     Kind = "Disk Full"
	Damaged      Kind = "Damaged Cache"
)

// Spell replaces {key} in a text by the user's spelling of the setting.
type Spell interface{ Text(text string) string }

// Error is a failure to find a repository's files: what was requested, what happened, and what to do.
type Error struct {
	Kind     Kind
	Content  Content
	Repo     string
	Revision string
	Tried    []string // what was tried, in order
	Advice   []string // what the user can do, with settings as {key}
	Err      error    // the cause, may be nil
	Spell    Spell    // replaces the {keys} in Advice, nil = leaves them
}

// Error returns three lines: what is missing, why, and what to type.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no %s %s", e.Content.noun(), e.Repo)
	if e.Revision != "main" {
		fmt.Fprintf(&b, " (revision %s)", e.Revision)
	}
	fmt.Fprintf(&b, ": %s", e.Kind)
	if e.Err != nil || len(e.Tried) > 0 {
		b.WriteString("\n  why: ")
	}
	b.WriteString(strings.Join(e.reasons(), "; "))
	if len(e.Advice) > 0 {
		do := strings.Join(e.Advice, ", ")
		if e.Spell == nil {
			do = strings.NewReplacer("{", "", "}", "").Replace(do)
		} else {
			do = e.Spell.Text(do)
		}
		fmt.Fprintf(&b, "\n  try: %s", do)
	}
	return b.String()
}

// reasons returns the cause, and the places searched without success. It names each URL once.
func (e *Error) reasons() (list []string) {
	tried := e.Tried
	if e.Err != nil {
		text := e.Err.Error()
		tried = slices.DeleteFunc(slices.Clone(tried), func(one string) bool { return strings.Contains(text, one) })
		if host, cause := unreachable(e.Err); host != "" {
			text = "cannot reach " + host + ": " + cause
		}
		list = append(list, text)
	}
	if len(tried) > 0 {
		list = append(list, "searched "+strings.Join(tried, ", "))
	}
	return list
}

// unreachable returns the host that could not be reached, and why; "" for other failures.
func unreachable(err error) (host, cause string) {
	var request *url.Error
	var dial *net.OpError
	if !errors.As(err, &request) || !errors.As(err, &dial) || dial.Op != "dial" {
		return "", ""
	}
	u, parsed := url.Parse(request.URL)
	if parsed != nil {
		return "", ""
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return u.Host, name.Err
	}
	last := error(dial)
	for next := last; next != nil; next = errors.Unwrap(next) {
		last = next
	}
	return u.Host, last.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// otherTokenizerAdvice is what to type if the model's own tokenizer is not available.
const otherTokenizerAdvice = "or {tokenizer.name} DIRECTORY, or {tokenizer.name} builtin (its counts are not the model's own)"

// remedies lists what to do, by cause.
var remedies = map[Content]map[Kind][]string{
	Models: {
		Gated:        {"ask for access on the model's page and set HF_TOKEN", otherTokenizerAdvice},
		NotFound:     {"{tokenizer.name} OWNER/NAME, spelled as on the hub", otherTokenizerAdvice},
		BadRevision:  {"{tokenizer.revision} with a branch, tag or commit of the repository"},
		NoFiles:      {"{tokenizer.name} with the model from which this one was derived", otherTokenizerAdvice},
		Timeout:      {"check HF_ENDPOINT and the proxy", otherTokenizerAdvice},
		Down:         {"run again later, or set HF_HUB_OFFLINE=1 if the files are cached", otherTokenizerAdvice},
		Permission:   {permissionAdvice},
		Busy:         {rateLimitAdvice},
		Unauthorized: {badTokenAdvice},
		DiskFull:     {diskFullAdvice},
		Damaged:      {discardedAdvice},
		Ambiguous:    {"{tokenizer.name} with the full OWNER/NAME"},
		Offline:      {"run once online", otherTokenizerAdvice},
	},
	Datasets: {
		Gated:        {"ask for access on the dataset's page and set HF_TOKEN"},
		NotFound:     {"check HF_ENDPOINT: this hub does not have the dataset"},
		BadRevision:  {"check HF_ENDPOINT: this hub does not have the pinned revision"},
		Timeout:      {"check HF_ENDPOINT and the proxy"},
		Down:         {"run again later, or set HF_HUB_OFFLINE=1 if the files are cached"},
		Permission:   {permissionAdvice},
		Busy:         {rateLimitAdvice},
		Unauthorized: {badTokenAdvice},
		DiskFull:     {diskFullAdvice},
		Damaged:      {discardedAdvice},
		NoData:       {"check HF_ENDPOINT: this hub lists a file that it does not have"},
		Offline:      {"run once online, or copy the hub cache of a machine that has the dataset (HF_HUB_CACHE)"},
	},
}

// Remedies that models and datasets share.
const (
	badTokenAdvice  = "set HF_TOKEN to a valid read token, or unset it (public repositories need none)"
	rateLimitAdvice = "run again later, or set HF_TOKEN (hubs allow more requests with a token)"
	diskFullAdvice  = "free disk space, or set HF_HUB_CACHE to a directory on another disk; the next run continues the download"
	discardedAdvice = "delete the file and run online, or unset the variable that forbids the network; the file is then downloaded again"
)

const permissionAdvice = "make the directory writable, or set HF_HUB_CACHE to one that is"

// damaged returns the error for a cached file with wrong content.
func (c Config) damaged(repo, rev, path string, err error) *Error {
	return c.fail(Damaged, repo, rev, err, path)
}

func (c Config) fail(kind Kind, repo, rev string, err error, tried ...string) *Error {
	content := c.content()
	return &Error{Kind: kind, Content: content, Repo: repo, Revision: rev, Err: err, Tried: tried, Advice: remedies[content][kind]}
}
