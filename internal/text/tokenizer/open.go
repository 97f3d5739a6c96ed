package tokenizer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/text/tokenizer/hf"
)

// Options configure the search for a tokenizer. The zero value is ready to use.
type Options struct {
	Revision string                               // branch, tag or commit of a repository; "" = main
	Progress func(file string, done, total int64) // receives the progress of downloads, possibly concurrently; total -1 = unknown
	Getenv   func(string) string                  // environment; nil = the process's
	HTTP     *http.Client                         // nil = a client with the proxy of the environment
	Info     func(format string, args ...any)     // receives a line about the repository that a short name means; nil = none
}

func (o Options) getenv() func(string) string {
	if o.Getenv != nil {
		return o.Getenv
	}
	return os.Getenv
}

func (o Options) info(format string, args ...any) {
	if o.Info != nil {
		o.Info(format, args...)
	}
}

// Open loads the tokenizer that spec names: "builtin", a tiktoken encoding, a file, a directory, or a repository of the Hugging Face hub. It searches
// the cache on disk before the hub.
func Open(ctx context.Context, spec string, o Options) (*Tokenizer, error) {
	switch spec {
	case "":
		return nil, errors.New(`the tokenizer name is empty; give builtin, an encoding name, a path, or owner/name`)
	case BuiltinName:
		return Builtin()
	}
	if _, ok := encodings()[spec]; ok {
		return openEncoding(ctx, spec, o)
	}
	if local, err := isLocal(spec); err != nil || local {
		if err != nil {
			return nil, err
		}
		return openLocal(spec)
	}
	if name, ok := EncodingOf(spec); ok {
		o.info("tokenizer %s → %s", spec, name)
		return openEncoding(ctx, name, o)
	}
	c := hfhub.FromEnv(o.getenv())
	c.Progress, c.HTTP = o.Progress, o.HTTP
	rev := o.Revision
	if rev == "" {
		rev = "main"
	}
	id, files, err := find(ctx, c, spec, rev, o)
	if err != nil {
		return nil, err
	}
	t, err := load(id, files)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %q (revision %q, of %s or the cache %s): %w", id, rev, c.Endpoint, c.Cache, err)
	}
	return t, nil
}

// isLocal reports whether spec is a path: absolute, with ./ or ../ at its start, or an existing directory or tokenizer file.
func isLocal(spec string) (bool, error) {
	info, err := os.Stat(spec)
	exists := err == nil
	slash := filepath.ToSlash(spec)
	if filepath.IsAbs(spec) || strings.HasPrefix(slash, "./") || strings.HasPrefix(slash, "../") || spec == "." || spec == ".." {
		switch {
		case exists:
			return true, nil
		case errors.Is(err, fs.ErrNotExist):
			return false, &MissingError{Name: spec, What: "file or directory not found", Why: "this path does not exist",
				Try: "{tokenizer.name} DIRECTORY, or {tokenizer.name} OWNER/NAME, or {tokenizer.name} builtin (its counts are not the model's own)"}
		}
		return false, fmt.Errorf("tokenizer %q: %w", spec, err)
	}
	return exists && (info.IsDir() || isTokenizerFile(spec)), nil
}

// UnfitError reports that a tokenizer exists but cannot be used here.
type UnfitError = hf.UnfitError

// MissingError reports that there is no such tokenizer. Its text has three lines: what, why, and what to type.
type MissingError struct {
	Name, What, Why string
	Try             string        // advice, with settings as {key}
	Spell           setting.Spell // replaces the {keys}
}

func (e *MissingError) Error() string {
	return "no tokenizer " + e.Name + ": " + e.What + "\n  why: " + e.Why + "\n  try: " + e.Spell.Text(e.Try)
}

// Worded sets the user's spelling of settings in an error of this package.
func Worded(err error, as setting.Spell) error {
	var here *MissingError
	var there *hfhub.Error
	var unfit *UnfitError
	switch {
	case errors.As(err, &here):
		here.Spell = as
	case errors.As(err, &there):
		there.Spell = as
	case errors.As(err, &unfit):
		return fmt.Errorf("%w\n  try: %s", err, as.Text("{tokenizer.name} with the tokenizer of a compatible model, or {tokenizer.name} builtin with {endpoint.use_server_token_count}"))
	}
	return err
}

// IsMissing reports whether an error says that there is no such tokenizer. Its text needs no further introduction.
func IsMissing(err error) bool {
	var here *MissingError
	var there *hfhub.Error
	return errors.As(err, &here) || errors.As(err, &there)
}

// find returns the files of a repository, by its full or short name.
func find(ctx context.Context, c hfhub.Config, spec, rev string, o Options) (string, map[string]string, error) {
	id := spec
	if !strings.Contains(spec, "/") && !loadable(c.Cached(spec, rev, isDownloaded)) {
		if alias := c.Alias(spec); alias != "" {
			id = alias
		} else if c.Offline == "" {
			found, err := c.Resolve(ctx, spec)
			if err != nil {
				return "", nil, err
			}
			id = found
		}
		if id != spec {
			o.info("tokenizer %s → %s", spec, id)
		}
	}
	files, err := c.Files(ctx, id, rev, isDownloaded, loadable)
	var e *hfhub.Error
	if errors.As(err, &e) && e.Kind == hfhub.NotFound && strings.Contains(spec, "/") {
		if found, rerr := c.Resolve(ctx, spec); rerr == nil && found != spec {
			o.info("tokenizer %s → %s", spec, found)
			id = found
			files, err = c.Files(ctx, id, rev, isDownloaded, loadable)
		}
	}
	return id, files, err
}

// placeholders are names that no real model has: whole names, and parts of names.
var (
	placeholders     = []string{"test", "mock", "fake", "dummy", "example", "sample", "placeholder"}
	placeholderParts = []string{"mock-", "-mock", "fake-", "-fake", "test-model", "-test-model", "your-model", "my-model", "model-name", "model-id"}
)

// IsPlaceholder reports whether a model name does not mean a real model, so that the built-in tokenizer may be used.
func IsPlaceholder(name string) bool {
	if strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") {
		return false
	}
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, p := range placeholders {
		if name == p {
			return true
		}
	}
	for _, p := range placeholderParts {
		if strings.Contains(name, p) {
			return true
		}
	}
	return false
}
