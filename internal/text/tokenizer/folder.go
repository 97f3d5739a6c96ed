package tokenizer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/base/boundedfile"
)

// format is one kind of tokenizer file.
type format struct {
	match func(name string) bool
	load  func(f *folder, name string) (*Tokenizer, error)
}

func hasName(names ...string) func(string) bool {
	return func(name string) bool {
		for _, n := range names {
			if strings.EqualFold(n, name) {
				return true
			}
		}
		return false
	}
}

func hasSuffix(s string) func(string) bool {
	return func(name string) bool { return strings.HasSuffix(strings.ToLower(name), s) }
}

// isTekken recognises Mistral's files: tekken.json in repositories, tekken_240911.json and similar names elsewhere.
func isTekken(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "tekken") && strings.HasSuffix(name, ".json")
}

// formats returns the files from which a tokenizer can be loaded, in order of preference.
func formats() []format {
	return []format{
		{hasName("tokenizer.json"), loadJSON},
		{hasName("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "sentencepiece.model"), loadModelFile},
		{isTekken, loadTekken},
		{hasName("tiktoken.model"), loadRankFile},
		{hasSuffix(".tiktoken"), loadRankFile},
		{hasName("vocab.json"), loadVocabMerges},
		{hasName("vocab.txt"), loadVocabTxt},
		{hasSuffix(".gguf"), loadGGUF},
		{hasSuffix(".model"), loadModelFile},
	}
}

// companionFile lists the files that are read together with a tokenizer file.
var companionFile = hasName("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja", "chat_template.json",
	"merges.txt")

// searchedNames lists the file names for an error about a folder without tokenizer files.
const searchedNames = "tokenizer.json, tokenizer.model, spiece.model, sentencepiece.bpe.model, tekken.json, tiktoken.model, *.tiktoken, " +
	"vocab.json + merges.txt, vocab.txt, *.gguf"

// formatOf returns the format of a file by its name; place is its preference.
func formatOf(name string) (f format, place int, ok bool) {
	for i, f := range formats() {
		if f.match(name) {
			return f, i, true
		}
	}
	return format{}, 0, false
}

// isDownloaded selects the files of a repository to download. It excludes GGUF files, because they contain whole models.
func isDownloaded(name string) bool {
	if strings.Contains(name, "/") || hasSuffix(".gguf")(name) {
		return false
	}
	_, _, ok := formatOf(name)
	return ok || companionFile(name)
}

// loadable reports whether files contain a tokenizer.
func loadable(files map[string]string) bool {
	name, _ := choose(files)
	return name != ""
}

// choose returns the preferred tokenizer file.
func choose(files map[string]string) (string, format) {
	best, place := "", -1
	var kind format
	for name := range files {
		f, i, ok := formatOf(name)
		if !ok || place >= 0 && (i > place || i == place && name > best) || strings.EqualFold(name, "vocab.json") && files["merges.txt"] == "" {
			continue
		}
		best, place, kind = name, i, f
	}
	return best, kind
}

func isTokenizerFile(path string) bool {
	_, _, ok := formatOf(filepath.Base(path))
	return ok || strings.HasSuffix(strings.ToLower(path), ".json")
}

// folder holds the files of a tokenizer: name -> path.
type folder struct {
	name  string // name of the tokenizer
	files map[string]string
	conf  settings
}

// maxFile is the maximum size of a file to read, in bytes.
const maxFile = 96 << 20

// read returns a file's content; nil if the folder does not have it.
func (f *folder) read(name string) ([]byte, error) {
	path, ok := f.files[name]
	if !ok {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file (%v); copy its content to a file and give that", path, info.Mode().Type())
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: the file has %d bytes; at most %d are allowed", path, info.Size(), maxFile)
	}
	return boundedfile.ReadAll(path, maxFile)
}

// openLocal loads a file or a directory.
func openLocal(path string) (*Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %q: %w", path, err)
	}
	dir := path
	if !info.IsDir() {
		dir = filepath.Dir(path)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %q: %w", path, err)
	}
	files := map[string]string{}
	var subdirs []string
	for _, e := range entries {
		full := filepath.Join(dir, e.Name())
		if st, err := os.Stat(full); err != nil {
			continue
		} else if st.IsDir() {
			if _, err := os.Stat(filepath.Join(full, "tokenizer.json")); err == nil {
				subdirs = append(subdirs, full)
			}
			continue
		}
		_, _, ok := formatOf(e.Name())
		if companionFile(e.Name()) || info.IsDir() && ok {
			files[e.Name()] = full
		}
	}
	if !info.IsDir() { // exactly this file, whatever else is in its folder
		files[filepath.Base(path)] = path
		kind, _, ok := formatOf(filepath.Base(path))
		if !ok {
			kind = format{load: loadJSON}
		}
		return loadWith(path, files, filepath.Base(path), kind)
	}
	t, err := load(path, files)
	if err != nil && len(subdirs) > 0 {
		err = fmt.Errorf("%w; give the subdirectory that has one: %s", err, strings.Join(subdirs, ", "))
	}
	return t, err
}

// load builds a tokenizer from its files.
func load(name string, files map[string]string) (*Tokenizer, error) {
	main, kind := choose(files)
	if main == "" {
		f := &folder{name: name, files: files}
		if err := f.readSettings(); err == nil && len(f.conf.AutoMap) > 0 && string(f.conf.AutoMap) != "null" {
			return nil, &UnfitError{Text: fmt.Sprintf("Custom Tokenizer Code: %q needs its own Python code (tokenizer_class %q) and has no tokenizer file; searched for %s; "+
				"aiperf never runs Python code of a model, trusted or not", name, f.conf.Class, searchedNames)}
		}
		return nil, &UnfitError{Text: fmt.Sprintf("No Standard Tokenizer: %q has no tokenizer file; searched for %s", name, searchedNames)}
	}
	return loadWith(name, files, main, kind)
}

func loadWith(name string, files map[string]string, main string, kind format) (*Tokenizer, error) {
	f := &folder{name: name, files: files}
	if err := f.readSettings(); err != nil {
		return nil, err
	}
	t, err := kind.load(f, main)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files[main], err)
	}
	t.name = name
	if err := t.probe(); err != nil {
		return nil, fmt.Errorf("%s: %w", files[main], err)
	}
	if err := f.readTemplates(t); err != nil {
		return nil, err
	}
	return t, nil
}
