//go:build !race

package servermetrics

// The reader of Parquet is a fourteenth of all code that tests under the race detector would compile. This test has no goroutines.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/base/redact"
)

// TestParquetHidesSecrets: a server that quotes a secret in a label or a description shows it in no column and in nothing that the file says of
// the run.
func TestParquetHidesSecrets(t *testing.T) {
	const secret = "sk-0123456789abcdef"
	page := "# HELP g of " + secret + "\n# TYPE g gauge\ng{key=\"" + secret + "\"} 1\n"
	c := &Collector{store: told(page, page)}
	hide := &redact.Secrets{}
	hide.Add(secret)
	h := &Head{Models: []string{secret}, Window: Window{From: 1e9, To: 2e9}}
	var out bytes.Buffer
	if err := c.Parquet(&out, h, hide.Values); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	in := parquet.NewGenericReader[map[string]any](file, file.Schema())
	rows := []map[string]any{{}, {}, {}}
	if n, err := in.Read(rows); n != 2 || !errors.Is(err, io.EOF) {
		t.Fatalf("%d rows, %v", n, err)
	}
	said := fmt.Sprint(rows, file.Metadata().KeyValueMetadata)
	if strings.Contains(said, secret) || strings.Count(said, redact.Placeholder) < 5 {
		t.Error(said)
	}
}
