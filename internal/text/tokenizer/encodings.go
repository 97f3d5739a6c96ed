package tokenizer

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name of a cached file
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/programpages"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/text/tokenizer/addedtokens"
	"aiperf/internal/text/tokenizer/pretoken"
	"aiperf/internal/text/tokenizer/rankfile"
	"aiperf/internal/text/tokenizer/scanner"
)

// encoding describes a published rank list.
type encoding struct {
	file   string // name of the list
	sha256 string // of the list, in hex
	ranks  ranks
}

const endOfText = "<|endoftext|>"

// The published lists.
const (
	o200kSum  = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
	cl100kSum = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
	p50kSum   = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
	r50kSum   = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
)

var o200k = pretoken.Scanner{Func: scanner.Known[scanner.PatternO200K]}

// encodings maps the name of an encoding to its published rank list.
var encodings = sync.OnceValue(func() map[string]encoding {
	return map[string]encoding{
		"o200k_base": {"o200k_base", o200kSum, ranks{scan: o200k, vocab: 200019, eos: endOfText, special: specials(map[string]int32{
			endOfText: 199999, "<|endofprompt|>": 200018})}},
		"o200k_harmony": {"o200k_base", o200kSum, ranks{scan: o200k, vocab: 201088, eos: endOfText, special: harmony()}},
		"cl100k_base": {"cl100k_base", cl100kSum, ranks{scan: pretoken.Scanner{Func: scanner.CL100KRanks}, vocab: 100277, eos: endOfText, special: specials(map[string]int32{
			endOfText: 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260, "<|endofprompt|>": 100276})}},
		"p50k_base": {"p50k_base", p50kSum, ranks{scan: pretoken.Scanner{Func: scanner.GPT2}, vocab: 50281, eos: endOfText, special: specials(map[string]int32{endOfText: 50256})}},
		"p50k_edit": {"p50k_base", p50kSum, ranks{scan: pretoken.Scanner{Func: scanner.GPT2}, vocab: 50284, eos: endOfText, special: specials(map[string]int32{
			endOfText: 50256, "<|fim_prefix|>": 50281, "<|fim_middle|>": 50282, "<|fim_suffix|>": 50283})}},
		"r50k_base": {"r50k_base", r50kSum, ranks{scan: pretoken.Scanner{Func: scanner.GPT2}, vocab: 50257, eos: endOfText, special: specials(map[string]int32{endOfText: 50256})}},
	}
})

func specials(ids map[string]int32) (list []addedtokens.Token) {
	for _, text := range slices.Sorted(maps.Keys(ids)) {
		list = append(list, addedtokens.Token{ID: ids[text], Content: text, Special: true})
	}
	return list
}

// harmony returns the special tokens of o200k_harmony: a few named ones, and reserved ones.
func harmony() []addedtokens.Token {
	named := map[string]int32{
		"<|startoftext|>": 199998, endOfText: 199999, "<|return|>": 200002, "<|constrain|>": 200003, "<|channel|>": 200005,
		"<|start|>": 200006, "<|end|>": 200007, "<|message|>": 200008, "<|call|>": 200012,
	}
	taken := map[int32]bool{}
	for _, id := range named {
		taken[id] = true
	}
	for id := int32(200000); id < 201088; id++ {
		if !taken[id] {
			named[fmt.Sprintf("<|reserved_%d|>", id)] = id
		}
	}
	list := specials(named)
	return append(list, addedtokens.Token{ID: 200018, Content: "<|endofprompt|>", Special: true}) // in addition to its reserved name
}

// ranksURL is the address of the published lists.
const ranksURL = "https://openaipublic.blob.core.windows.net/encodings/"

// maxRanks is larger than every published list, in bytes.
const maxRanks = 64 << 20

// openEncoding loads a published encoding: o200k lists from the binary, others from the rank cache or the network.
func openEncoding(ctx context.Context, name string, o Options) (*Tokenizer, error) {
	e := encodings()[name]
	text := []byte(nil)
	if e.sha256 == o200kSum {
		v, err := rankfile.Unpack(programpages.Bytes(packed))
		if err != nil {
			return nil, err
		}
		return newRankTokenizer(name, v, e.ranks)
	}
	url := ranksURL + e.file + ".tiktoken"
	key := sha1.Sum([]byte(url)) //nolint:gosec // the name of a cached file
	dir := rankCache(o.getenv())
	path := filepath.Join(dir, hex.EncodeToString(key[:]))
	if dir != "" {
		if b, err := os.ReadFile(path); err == nil && sum(b) == e.sha256 {
			text = b
		}
	}
	if text == nil {
		c := hfhub.FromEnv(o.getenv())
		if c.Offline != "" {
			return nil, &MissingError{Name: name, What: string(hfhub.Offline), Why: "the rank list does not exist at " + path + ", and " + c.Offline + " forbids the network",
				Try: "unset " + c.Offline + " to download it, or copy the list there, or {tokenizer.name} builtin (o200k_base)"}
		}
		b, err := fetchRanks(ctx, o, url)
		if err != nil {
			return nil, &MissingError{Name: name, What: string(hfhub.Offline), Why: fmt.Sprintf("the rank list does not exist at %s, and cannot be fetched: %v", path, err),
				Try: "run once online, or copy the list there, or {tokenizer.name} builtin (o200k_base)"}
		}
		if got := sum(b); got != e.sha256 {
			return nil, fmt.Errorf("tokenizer %q: the rank list from %s has the SHA-256 %s, expected %s", name, url, got, e.sha256)
		}
		if text = b; dir != "" {
			keepRanks(path, b)
		}
	}
	v, err := rankfile.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %q: %w", name, err)
	}
	return newRankTokenizer(name, v, e.ranks)
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// rankCache returns the directory in which tiktoken caches lists; "" = none.
func rankCache(getenv func(string) string) string {
	for _, name := range []string{"TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"} {
		if v := getenv(name); v != "" {
			return v
		}
	}
	return filepath.Join(os.TempDir(), "data-gym-cache")
}

// keepRanks writes a list to the cache. It ignores errors, because the list is in memory.
func keepRanks(path string, text []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "ranks*.tmp")
	if err != nil {
		return
	}
	_, err = tmp.Write(text)
	if cerr := tmp.Close(); err != nil || cerr != nil || os.Rename(tmp.Name(), path) != nil {
		_ = os.Remove(tmp.Name())
	}
}

// fetchRanks downloads a list.
func fetchRanks(ctx context.Context, o Options, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := o.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, strings.TrimSpace(resp.Status))
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxRanks))
}
