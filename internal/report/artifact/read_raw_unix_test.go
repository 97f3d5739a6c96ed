//go:build unix

package artifact

import (
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestEndlessExport: of a device a report reads no more than the bound.
func TestEndlessExport(t *testing.T) {
	testhome.Slow(t)
	if err := ReadRaw("/dev/zero", nil); err == nil || !strings.Contains(err.Error(), "/dev/zero: gives more than 256 MiB") {
		t.Error(err)
	}
}
