package kubeclient

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// tokenAge is how long a token of a file is used before the file is read again. Tokens of pods are replaced minutes before they expire.
const tokenAge = 50 * time.Second

// tokenFile is a file with a token that is replaced from time to time.
type tokenFile struct {
	path      string
	otherwise string // token as long as the file could not be read; "" = none

	mu   sync.Mutex
	last string
	read time.Time
}

// token returns the token. If the file cannot be read any more, the last one is used.
func (f *tokenFile) token() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != "" && time.Since(f.read) < tokenAge {
		return f.last, nil
	}
	text, err := os.ReadFile(f.path)
	token := strings.TrimSpace(string(text))
	switch {
	case err == nil && token != "":
		f.last, f.read = token, time.Now()
		return token, nil
	case f.last != "":
		return f.last, nil
	case f.otherwise != "":
		return f.otherwise, nil
	case err != nil:
		return "", err
	}
	return "", fmt.Errorf("token file %s is empty", f.path)
}
