package tokenizer

import (
	_ "embed"
	"sync"

	"aiperf/internal/base/programpages"
	"aiperf/internal/text/tokenizer/rankfile"
)

// BuiltinName is the name of the built-in tokenizer, which needs no file and no network.
const BuiltinName = "builtin"

// packed is the published rank list of o200k_base in its packed form.
//
//go:embed o200k_base.bin
var packed string

// builtin loads the tokenizer at its first use.
var builtin = sync.OnceValues(func() (*Tokenizer, error) {
	ranks, err := rankfile.Unpack(programpages.Bytes(packed))
	if err != nil {
		return nil, err
	}
	return newRankTokenizer(BuiltinName, ranks, encodings()["o200k_base"].ranks)
})

// Builtin returns o200k_base. It is loaded only once.
func Builtin() (*Tokenizer, error) { return builtin() }
