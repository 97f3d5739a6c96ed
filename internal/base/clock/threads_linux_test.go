package clock

import (
	"strconv"
	"strings"
	"testing"
)

func FuzzSecondNumber(f *testing.F) {
	f.Add([]byte("1278680533 863892985 1158\n"))
	f.Add([]byte("0 0 1"))
	f.Add([]byte("7 42"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, line []byte) {
		n := secondNumber(line)
		if fields := strings.Fields(string(line)); len(fields) >= 2 && len(fields[1]) < 18 && strings.Trim(fields[0]+fields[1], "0123456789") == "" &&
			strings.HasPrefix(string(line), fields[0]+" "+fields[1]) {
			if want, _ := strconv.ParseInt(fields[1], 10, 64); n != want {
				t.Errorf("%q: %d, want %d", line, n, want)
			}
		}
	})
}
