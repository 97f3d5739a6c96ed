package programpages

import (
	"unsafe"

	"github.com/klauspost/compress/zstd"
)

// Bytes returns the bytes of an embedded file without a copy; nobody may write to them. A file that is embedded as a string lies among the pages that
// Release gives back. One that is embedded as bytes does not, because it may be written to.
func Bytes(embedded string) []byte { return unsafe.Slice(unsafe.StringData(embedded), len(embedded)) }

// Decompress returns the content of an embedded file under zstd.
func Decompress(embedded string) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.DecodeAll(Bytes(embedded), nil)
}
