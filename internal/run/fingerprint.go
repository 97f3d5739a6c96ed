package run

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
)

// machineFiles name this machine on systems that have them; the first that can be read counts.
var machineFiles = []string{"/etc/machine-id", "/var/lib/dbus/machine-id"}

// fingerprint tells this machine from others: 8 hex digits of a digest of its id, or of its name where it has no id. "" = it has neither. Neither can be read
// from the fingerprint.
func fingerprint() string {
	name := ""
	for _, path := range machineFiles {
		if text, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(text))) > 0 {
			name = strings.TrimSpace(string(text))
			break
		}
	}
	if name == "" {
		name, _ = os.Hostname() // without one nothing is known
	}
	if name == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("aiperf client machine " + name))
	return hex.EncodeToString(sum[:4])
}
