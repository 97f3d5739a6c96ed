//go:build unix

package artifact

import (
	"strings"
	"testing"
)

// TestEndlessExport: of a device a report reads no more than the bound.
func TestEndlessExport(t *testing.T) {
	if err := ReadRaw("/dev/zero", nil); err == nil || !strings.Contains(err.Error(), "/dev/zero: gives more than 256 MiB") {
		t.Error(err)
	}
}
