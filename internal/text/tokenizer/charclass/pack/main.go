// Command pack converts the sets that testdata/dump.py writes to the table that the package embeds:
//
//	go run ./internal/text/tokenizer/charclass/pack sets.json > internal/text/tokenizer/charclass/sets.bin
//
// The inert set results from a comparison with the library for the normal forms: it has the characters that only the library changes.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"golang.org/x/text/unicode/norm"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

var forms = map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: pack sets.json > sets.bin")
	}
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var dump struct {
		Sets  map[string][]rune
		Forms map[string]map[rune]string
	}
	if err := json.Unmarshal(raw, &dump); err != nil {
		return err
	}
	var inert []rune
	for r := range rune(0x110000) {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		ours := norm.NFD.PropertiesString(string(r))
		differs := ours.CCC() != 0 && norm.NFD.String(string(r)) == string(r) && !slices.Contains(dump.Sets["ccc"], r)
		for name, f := range forms {
			want, ok := dump.Forms[name][r]
			if !ok {
				want = string(r)
			}
			got := f.String(string(r))
			differs = differs || got != want
			if got != want && name == "NFD" { // the parts of a composed character must not compose either
				inert = append(inert, []rune(got)[1:]...)
			}
		}
		if differs {
			inert = append(inert, r)
		}
	}
	slices.Sort(inert)
	dump.Sets["inert"] = slices.Compact(inert)
	var out []byte
	for _, name := range []string{"accents", "bertaccents", "bertcontrol", "inert", "numeric", "punct", "word"} {
		out = append(append(out, byte(len(name))), name...)
		out = appendRanges(out, dump.Sets[name])
	}
	_, err = os.Stdout.Write(out)
	return err
}

// appendRanges encodes sorted code points as ranges: their number, then for each range the distance from the previous one's end, and the length.
func appendRanges(out []byte, set []rune) []byte {
	type run struct{ lo, hi rune }
	var runs []run
	for _, c := range set {
		if n := len(runs); n > 0 && runs[n-1].hi == c-1 {
			runs[n-1].hi = c
		} else {
			runs = append(runs, run{c, c})
		}
	}
	out = binary.AppendUvarint(out, uint64(len(runs)))
	last := rune(0)
	for _, x := range runs {
		out = binary.AppendUvarint(out, uint64(x.lo-last))
		out = binary.AppendUvarint(out, uint64(x.hi-x.lo))
		last = x.hi
	}
	return out
}
